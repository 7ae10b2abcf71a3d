import { linksOf } from '../../inventory/links.ts';
import { parseResourceQuery, type ResourceQuery, resourceSearch } from '../../inventory/parameters.ts';
import { countResources, type ResourceCounts } from '../../inventory/resource-counts.ts';
import { type StationResource, searchStations } from '../../inventory/selection.ts';
import {
  isOnlyRejecting,
  nextRefreshText,
  type StationDetail,
  type StationStatus,
} from '../../inventory/station-status.ts';
import { countText, durationText, numberText } from '../../inventory/words.ts';
import type { RejectedRecord } from '../../model/listing.ts';
import type { Snapshot } from '../../refresh/snapshot.ts';
import { stationOf } from '../data.ts';
import type { WebOptions } from '../port.ts';
import { prefersHtml, RequestError } from '../respond.ts';
import { changesPath, probePath, searchParams, stationPath } from '../routes.ts';
import { historySection } from './history.ts';
import { facts, figures, type Html, html, momentText } from './html.ts';
import { LIVE_CONTROLS, LIVE_NOTICES, type PageHandler, sendPage } from './layout.ts';
import {
  countBars,
  resourceFilterForm,
  resourcePageColumns,
  resourcePageTable,
  resourcesHref,
  textOrUnknown,
} from './resource-list.ts';
import {
  coverageText,
  knownCounts,
  lastSuccess,
  linkedCount,
  linkList,
  loadList,
  stateBadge,
  stationNotes,
  trail,
  unknownFigure,
  unknownStatesNote,
} from './station-parts.ts';
import { downloads, type ListPage, listPage, type PageColumn, table, tableRow } from './table.ts';

const EXPIRED = html`<p>No data: no refresh has succeeded within <code>max_stale</code>.</p>`;
const NOT_TRIED = html`<p>No data yet: the first refresh has not ended.</p>`;

/** What the page shows. */
interface StationPageView extends StationDetail {
  readonly query: ResourceQuery;
  /** What is wrong with the query. */
  readonly problem: string | undefined;
  /** undefined: the resources are unknown. */
  readonly page: ListPage<StationResource> | undefined;
  readonly counts: ResourceCounts;
  readonly nowMs: number;
}

/** A station: its state, its resources, and its details. */
export const stationPage: PageHandler = (exporter, options) => async (request, response, signal) => {
  const detail = stationOf(exporter, request);
  const { spec, served } = detail;
  const { names } = spec.resourceLabels;
  const { query, problem } = parseResourceQuery(searchParams(request), names);
  const isLive = problem === undefined;
  if (!isLive && !prefersHtml(request)) throw new RequestError(400, `${problem}\n`);
  const { name, alertability } = spec;
  const searched = { name, alertability, parts: isLive ? served?.snapshot.parts : undefined };
  const { found } = await searchStations([searched], query.selection, query.order, exporter.tasks, signal);
  const page = searched.parts && listPage(found, query.page);
  const counts = countResources(served?.aggregates ?? { groups: [], typeLabels: new Map() }, names);
  const view = { ...detail, query, problem, page, counts, nowMs: options.now() };
  const content = stationContent(view, options);
  sendPage(response, { title: spec.name, status: isLive ? 200 : 400, root: '../', content, isLive }, options);
};

/** A button for a refresh; the page that follows has the same query. */
function refreshForm({ spec, query }: StationPageView, { enableLifecycle }: WebOptions): Html {
  const path = stationPath(spec.name, '/refresh');
  if (!enableLifecycle || path === undefined) return html``;
  return html`<form id="refresh" class="controls" method="post" action="../${path}${resourceSearch(query)}"><button type="submit">Refresh now</button></form>`;
}

function stationContent(view: StationPageView, options: WebOptions): Html {
  const { spec, status, served, links, counts, nowMs } = view;
  const { snapshot } = status;
  const known = knownCounts(snapshot);
  const changes = changesPath(spec.name);
  return html`${trail('../', spec.name)}
<h1>${spec.name}</h1>
${linkList(linksOf(links, spec))}<div class="headline">
${figures('status', [
  ['State', stateBadge(status)],
  ['Resources', linkedCount(known?.resources, undefined)],
  ['Firing', linkedCount(known?.firing, '?alert_state=firing#resources')],
  ['Pending', linkedCount(known?.pending, '?alert_state=pending#resources')],
  ...unknownFigure(snapshot?.unknown, '?alert_state=unknown#resources'),
  ['Coverage', coverageText(snapshot)],
  ['Last success', lastSuccess(status, nowMs)],
])}
<div class="actions">
${(snapshot?.rejected ?? 0) > 0 ? html`<a href="#rejected">Rejected records</a> ` : []}<a href="#history">History</a> ${changes === undefined ? [] : html`<a href="../${changes}">Changes</a> `}<a href="#place">Details</a>
${LIVE_CONTROLS}
${refreshForm(view, options)}
</div>
</div>
${LIVE_NOTICES}
${stationNotes(status, nowMs)}
${unknownStatesNote(snapshot?.unknownStates ?? [])}
<div class="beside">
<div>
<section aria-labelledby="resources">
<h2 id="resources">Resources</h2>
${resourcesOf(view)}
</section>
${served === undefined ? [] : rejectedSection(served.snapshot)}${historySection(view)}</div>
<div class="side">
${countSections(spec.products.length > 0, counts)}<div class="columns">
<section aria-labelledby="place">
<h2 id="place">Details</h2>
${stationFacts(view)}
</section>
${served === undefined ? [] : listingSection(served.snapshot, nowMs)}</div>
</div>
</div>`;
}

function countSections(hasProducts: boolean, { states, types, products, labels }: ResourceCounts): Html {
  if (types.length === 0) return html``;
  return html`<section aria-labelledby="counts">
<h2 id="counts">Resource counts</h2>
<div class="bars">
${countBars('state', states)}${countBars('type', types)}${hasProducts ? countBars('product', products) : []}${Array.from(labels, ([name, counts]) => countBars(name, counts, `label_${name}`))}</div>
</section>
`;
}

function resourcesOf({ spec, status, query, problem, page, counts, nowMs }: StationPageView): Html {
  const types = [...counts.types.map(({ key }) => key), ...(page?.rows.map(({ resource }) => resource.type) ?? [])];
  const columns = resourcePageColumns(spec, { root: '../', types, nowMs });
  const form = resourceFilterForm(spec, counts, query, columns);
  if (problem !== undefined) return html`<p class="notice" role="alert">${problem}</p>\n${form}`;
  if (page === undefined) return status.up === undefined ? NOT_TRIED : EXPIRED;
  const size = status.snapshot?.resources ?? 0;
  if (size === 0) return html`${form}\n<p id="nothing">${emptyText(status)}</p>`;
  if (page.total === 0)
    return html`${form}\n<p id="nothing">No resource matches. <a href="${resourcesHref({ order: query.order })}">Clear the filters: show ${countText(size, 'resource')}</a></p>`;
  const path = stationPath(spec.name, '/resources');
  // The resources of the query in its order, on all pages.
  const all = resourceSearch({ ...query, page: 1 });
  const links = path === undefined ? [] : downloads(`../${path}${all}${all === '?' ? '' : '&'}format=`);
  const shown = { page, query, columns, href: resourcesHref };
  return html`${form}\n${resourcePageTable(`Resources of ${spec.name}`, shown, links)}`;
}

/** Only a complete listing shows that there are no resources. */
function emptyText({ snapshot }: StationStatus): string {
  if (snapshot === undefined || snapshot.complete) return 'The station has no resources.';
  return isOnlyRejecting(snapshot)
    ? `No resource can be shown: ${countText(snapshot.rejected, 'record')} rejected.`
    : 'No resource was listed, but the listing is not verified complete.';
}

/** Where the station is, and how it is refreshed. */
function stationFacts({ spec, status, upstream, nowMs }: StationPageView): Html {
  const { name, path, labels } = spec;
  const shown = Object.entries(labels).map(([label, value]) => html`<code>${label}="${value}"</code> `);
  return facts('question', [
    ['Upstream', upstream.name],
    ['Load', loadList(upstream, nowMs)],
    ['Subscription', path.subscription],
    ['Resource group', path.resource_group],
    ['Zone', path.zone],
    ['Telemetry station', path.telemetry_station],
    ['Labels', shown.length === 0 ? undefined : html`${shown}`],
    ['Latest refresh', status.durationMs === undefined ? 'not tried yet' : `took ${durationText(status.durationMs)}`],
    ['Next refresh', nextRefreshText(status)],
    [
      'Requests',
      status.isHanging
        ? html`<span class="no">hanging</span>: one probing request at a time until the service replies`
        : undefined,
    ],
    ['Metrics', html`<a href="../${probePath(name)}">this station only</a>`],
    ['JSON', html`<a href="?format=json">this station only</a>`],
  ]);
}

function completenessText(snapshot: Snapshot): Html | string {
  if (snapshot.complete) return 'verified complete';
  return isOnlyRejecting(snapshot)
    ? html`<span class="no">complete except for ${countText(snapshot.rejected, 'rejected record')}</span>`
    : html`<span class="no">not verified complete</span>`;
}

/** What the listing returned, and whether it is verified complete. */
function listingSection(snapshot: Snapshot, nowMs: number): Html {
  const { size, incompleteReasons, reportedTotal, pages, duplicates, rejected, invalidFields } = snapshot;
  const invalid = Object.entries(invalidFields).filter(([, count]) => count > 0);
  const fields = invalid.map(([field, count]) => html`<li><code>${field}</code>: ${numberText(count)}</li>`);
  const reasons = incompleteReasons.map(({ text }) => html`<li>${text}</li>`);
  const kept = keptListings(snapshot, nowMs);
  return html`<section aria-labelledby="listing">
<h2 id="listing">Listing</h2>
${facts('story', [
  ['Completeness', completenessText(snapshot)],
  ['Reasons', reasons.length === 0 ? undefined : html`<ul>${reasons}</ul>`],
  ['Unique resources', numberText(size)],
  ['Reported total', reportedTotal === undefined ? 'not reported' : numberText(reportedTotal)],
  ['Pages', `${numberText(pages)} (${kept === undefined ? 'all listings' : 'all listings that were due'})`],
  ['Kept listings', kept],
  ['Duplicate records', numberText(duplicates)],
  ['Rejected records', `${numberText(rejected)} (without a usable resource_id)`],
  ['Invalid fields', fields.length === 0 ? 'none' : html`<ul>${fields}</ul>`],
])}
</section>
`;
}

/** How old the listings are that need not be read with every refresh; undefined without any. */
function keptListings({ listings }: Snapshot, nowMs: number): Html | undefined {
  const items = listings.flatMap(({ name, takenAtMs, failure }) => {
    if (takenAtMs === undefined) return [];
    const problem = failure && html`, <span class="no">then failed</span>: ${failure.message}`;
    return html`<li>${name}: read ${momentText(takenAtMs, nowMs)}${problem ?? []}</li>`;
  });
  return items.length === 0 ? undefined : html`<ul>${items}</ul>`;
}

const REJECTED_COLUMNS: readonly PageColumn<RejectedRecord>[] = [
  { heading: 'Record', cell: ({ position }) => `Position ${numberText(position)}` },
  { heading: 'Reason', cell: ({ rejection }) => rejection },
  { heading: 'Name', cell: ({ name }) => textOrUnknown(name) },
  { heading: 'Display name', cell: ({ displayName }) => textOrUnknown(displayName) },
  { heading: 'Type', cell: ({ type }) => textOrUnknown(type) },
];

/** What could be read of the rejected records, for a report to the operators of the service. */
function rejectedSection({ rejected, rejectedRecords }: Snapshot): Html {
  if (rejected === 0) return html``;
  const more = rejected - rejectedRecords.length;
  const first = more > 0 ? ` The first ${numberText(rejectedRecords.length)} of ${numberText(rejected)}:` : '';
  return html`<section aria-labelledby="rejected">
<h2 id="rejected">Rejected records</h2>
<p>To request a record from the service, use its position as <code>page.offset</code>.${first}</p>
${table(
  { id: 'rejected-records', columns: REJECTED_COLUMNS, caption: 'Rejected records' },
  rejectedRecords.map((record) => tableRow(REJECTED_COLUMNS, record, `rejected-${record.position}`)),
)}
</section>
`;
}
