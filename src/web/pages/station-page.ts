import { linksOf } from '../../inventory/links.ts';
import { parseResourceQuery, type ResourceQuery, resourceSearch } from '../../inventory/parameters.ts';
import { type RecentChanges, recentChanges } from '../../inventory/recent-changes.ts';
import { countResources, type ResourceCounts } from '../../inventory/resource-counts.ts';
import { type StationResource, searchStations } from '../../inventory/selection.ts';
import {
  coverageShare,
  isCritical,
  isOnlyRejecting,
  knownCounts,
  nextRefreshText,
  type StationDetail,
  type StationStatus,
} from '../../inventory/station-status.ts';
import { countText, durationText, numberText } from '../../inventory/words.ts';
import { HOUR_MS } from '../../model/clock.ts';
import type { RejectedRecord } from '../../model/listing.ts';
import type { Snapshot } from '../../refresh/snapshot.ts';
import { stationOf } from '../data.ts';
import type { WebOptions } from '../port.ts';
import { prefersHtml, RequestError } from '../respond.ts';
import { changesPath, probePath, searchParams, stationPath } from '../routes.ts';
import { LOSS_ADVICE, stationHeadline } from './attention.ts';
import { latestChangesSection } from './changes-page.ts';
import { historySection, latestRefreshesSection } from './history.ts';
import { facts, type Html, html, momentText, sinceText, tiles } from './html.ts';
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
  adviceText,
  changesSince,
  completeness,
  coverageText,
  lastSuccess,
  linkedCount,
  linkList,
  loadList,
  stationNotes,
  trail,
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
  const { found } = await searchStations([searched], query.selection, query.order, signal);
  const page = searched.parts && listPage(found, query.page);
  const counts = countResources(served?.aggregates ?? { groups: [], typeLabels: new Map() }, names);
  const view = { ...detail, query, problem, page, counts, nowMs: options.now() };
  const content = stationContent(view, options);
  sendPage(response, { title: spec.name, status: isLive ? 200 : 400, root: '../', content, isLive }, options);
};

/** A button for a refresh; the page that follows has the same query. */
function refreshForm({ spec, query }: StationPageView, { enableLifecycle }: WebOptions): Html {
  if (!enableLifecycle) return html``;
  const path = stationPath(spec.name, '/refresh');
  return html`<form id="refresh" class="controls" method="post" action="../${path}${resourceSearch(query)}"><button type="submit">Refresh now</button></form>`;
}

function stationContent(view: StationPageView, options: WebOptions): Html {
  const { spec, status, served, links, counts, nowMs } = view;
  const { snapshot } = status;
  const recent = recentChanges(status.refreshesSince(nowMs - HOUR_MS), status.comparedSinceMs);
  const { text, tone } = stationHeadline(status, recent, nowMs);
  return html`${trail('../', spec.name)}
<h1>${spec.name}</h1>
${linkList(linksOf(links, spec))}<div class="headline">
<p id="summary" class="summary ${tone}">${text}</p>
<div class="actions">
<a href="#resources">Resources</a> <a href="../${changesPath(spec.name)}">Changes</a> <a href="../${stationPath(spec.name, '/history')}">History</a> <a href="#details">Details</a>
${LIVE_CONTROLS}
${refreshForm(view, options)}
</div>
</div>
${LIVE_NOTICES}
${lossNote(recent, spec.name, nowMs)}
${stationNotes(status, nowMs)}
${unknownStatesNote(snapshot?.unknownStates ?? [], status.unknownSinceMs, nowMs)}
${stationTiles(view, recent)}
${served === undefined ? [] : rejectedSection(served.snapshot)}<div class="pair">
${historySection(view)}
<div>
${latestChangesSection(view)}
${latestRefreshesSection(view)}
</div>
</div>
<details id="details">
<summary>Details: where the station is, how it is refreshed, and its listing</summary>
<div class="columns">
<section aria-labelledby="place">
<h2 id="place">Details</h2>
${stationFacts(view)}
</section>
${served === undefined ? [] : listingSection(served.snapshot)}</div>
</details>
${countSections(spec.products.length > 0, counts)}<section aria-labelledby="resources">
<h2 id="resources">Resources</h2>
${resourcesOf(view)}
</section>
`;
}

/** The numbers of the station, with what they are to be compared with. */
function stationTiles({ spec, status, history, nowMs }: StationPageView, recent: RecentChanges): Html {
  const { snapshot, failure } = status;
  const known = knownCounts(snapshot);
  const last = history.find(({ resources }) => resources !== undefined);
  const lastKnown =
    snapshot === undefined && last
      ? { note: html`last known: ${numberText(Number(last.resources))}, ${momentText(last.atMs, nowMs)}` }
      : {};
  const changed = changesSince(spec.name, recent, nowMs, '../');
  return tiles('status', [
    {
      term: 'Resources',
      value: linkedCount(known?.resources, '#resources'),
      ...(changed === undefined ? {} : { note: changed }),
      ...lastKnown,
    },
    {
      term: 'Firing',
      value: linkedCount(known?.firing, '?alert_state=firing#resources'),
      tone: known?.firing ? 'bad' : '',
    },
    {
      term: 'Pending',
      value: linkedCount(known?.pending, '?alert_state=pending#resources'),
      tone: known?.pending ? 'warning' : '',
    },
    ...(snapshot?.unknown
      ? [
          {
            term: 'Unknown state',
            value: linkedCount(snapshot.unknown, '?alert_state=unknown#resources'),
            tone: 'unclear' as const,
          },
        ]
      : []),
    {
      term: 'Coverage',
      value: coverageText(snapshot, '?without_rules=yes#resources'),
      share: snapshot && coverageShare(snapshot),
    },
    ...listingTile(status),
    {
      term: 'Last success',
      value: lastSuccess(status, nowMs, 'rough'),
      tone: failure ? failureTone(status, nowMs) : '',
      note: `next refresh: ${nextRefreshText(status)}`,
    },
  ]);
}

function failureTone(status: StationStatus, nowMs: number): 'bad' | 'warning' {
  return isCritical(status, nowMs) ? 'bad' : 'warning';
}

/** Whether the data is verified complete; none without data. */
function listingTile(status: StationStatus) {
  const { snapshot } = status;
  if (snapshot === undefined) return [];
  const missing = completeness(status);
  const target = snapshot.rejected > 0 ? '#rejected' : '#details';
  return [
    {
      term: 'Listing',
      value: html`<a href="${target}">${missing || 'complete'}</a>`,
      tone: missing === '' ? ('' as const) : ('warning' as const),
      note: `in ${countText(snapshot.pages, 'request')}`,
    },
  ];
}

/** That many resources are gone; empty if not. */
function lossNote({ loss }: RecentChanges, station: string, nowMs: number): Html {
  if (loss === undefined) return html``;
  const { lost, before, sinceMs } = loss;
  const path = changesPath(station, { change: 'removed', since: new Date(sinceMs).toISOString() });
  const which = html`<a href="../${path}">See which</a>`;
  return html`<div class="failure-note bad" id="loss"><p>${numberText(lost)} of ${countText(before, 'resource')} ${lost === 1 ? 'is' : 'are'} gone ${sinceText(sinceMs, nowMs, 'with length')}; the listings are verified complete.</p>
${adviceText(LOSS_ADVICE, which)}</div>`;
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
  const links = downloads(`../${path}${all}${all === '?' ? '' : '&'}format=`);
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
        ? html`<span class="failing">hanging</span>: one probing request at a time until the service replies`
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
function listingSection(snapshot: Snapshot): Html {
  const { size, incompleteReasons, reportedTotal, pages, duplicates, rejected, invalidFields } = snapshot;
  const invalid = Object.entries(invalidFields).filter(([, count]) => count > 0);
  const fields = invalid.map(([field, count]) => html`<li><code>${field}</code>: ${numberText(count)}</li>`);
  const reasons = incompleteReasons.map(({ text }) => html`<li>${text}</li>`);
  return html`<section aria-labelledby="listing">
<h2 id="listing">Listing</h2>
${facts('story', [
  ['Completeness', completenessText(snapshot)],
  ['Reasons', reasons.length === 0 ? undefined : html`<ul>${reasons}</ul>`],
  ['Unique resources', numberText(size)],
  ['Reported total', reportedTotal === undefined ? 'not reported' : numberText(reportedTotal)],
  ['Pages', `${numberText(pages)} (all listings that were due)`],
  ['Duplicate records', numberText(duplicates)],
  ['Rejected records', `${numberText(rejected)} (without a usable resource_id)`],
  ['Invalid fields', fields.length === 0 ? 'none' : html`<ul>${fields}</ul>`],
])}
</section>
`;
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
