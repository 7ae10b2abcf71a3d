import type { RejectedRecord } from '../../model/listing.ts';
import { currentProblems } from '../../problems/problems.ts';
import { parseResourceQuery, type ResourceQuery, resourceSearch } from '../../query/parameters.ts';
import { searchStations, unknownCoverageIn } from '../../query/selection.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import {
  cacheNote,
  failureTone,
  knownCounts,
  nextRefreshText,
  type StationDetail,
  type StationStatus,
} from '../../status/station-status.ts';
import { countText, numberText } from '../../text/words.ts';
import { stationOf } from '../data.ts';
import { linksOf } from '../links.ts';
import { prefersHtml, RequestError } from '../respond.ts';
import { changesPath, probePath, searchParams, stationPath } from '../routes.ts';
import { attentionSection, stationHeadline } from './attention.ts';
import { type DescribedValue, descriptionList, type Html, html } from './html.ts';
import { LIVE_CONTROLS, LIVE_NOTICES, type PageHandler, sendPage } from './layout.ts';
import { refreshesSection } from './refreshes-section.ts';
import { countResources, type ResourceCounts } from './resource-counts.ts';
import {
  resourceFilterForm,
  resourcePageColumns,
  resourcePageTable,
  resourcesHref,
  type ShownResources,
  shownResources,
  textOrUnknown,
  unknownCoverageNote,
} from './resource-list.ts';
import {
  countTiles,
  lastSuccess,
  linkedCount,
  linkList,
  recentChanges,
  trail,
  withheldNotes,
} from './station-parts.ts';
import { downloads, type PageColumn, table, tableRow } from './table.ts';

const WITHOUT_DATA = html`<p>No data: no refresh has succeeded yet, or the last success is longer ago than <code>max_stale</code>.</p>`;
const NOT_TRIED = html`<p>No data yet: the first refresh has not ended.</p>`;

interface StationPageView extends StationDetail {
  readonly query: ResourceQuery;
  readonly problem: string | undefined;
  /** undefined: the resources are unknown. */
  readonly shown: ShownResources | undefined;
  /** Selected resources that are not shown, because it is unknown whether they are covered. */
  readonly unknownCoverage: number;
  readonly counts: ResourceCounts;
  readonly nowMs: number;
}

export const stationPage: PageHandler = (exporter, options) => async (request, response, signal) => {
  const detail = stationOf(exporter, request);
  const { spec, served } = detail;
  const { query, problem } = parseResourceQuery(searchParams(request), spec.resourceLabels.names);
  const isLive = problem === undefined;
  if (!isLive && !prefersHtml(request)) throw new RequestError(400, `${problem}\n`);
  const searched = { ...(served?.spec ?? spec), parts: isLive ? served?.snapshot.parts : undefined };
  const { found } = await searchStations([searched], query.selection, query.sort, signal);
  const shown = searched.parts && (await shownResources(found, query));
  const ofUnknown = unknownCoverageIn(query.selection);
  const unknownCoverage = ofUnknown ? (await searchStations([searched], ofUnknown, '', signal)).found.total : 0;
  const { names } = (served ?? detail).spec.resourceLabels;
  const counts = countResources(served?.aggregates ?? { groups: [], typeLabels: new Map() }, names);
  const view = { ...detail, query, problem, shown, unknownCoverage, counts, nowMs: options.now() };
  const content = stationContent(view);
  sendPage(response, { title: spec.name, status: isLive ? 200 : 400, root: '../', content, isLive }, options);
};

function stationContent(view: StationPageView): Html {
  const { spec, status, served, links, nowMs } = view;
  const found = currentProblems({ stations: [status], upstreams: [view.upstream], nowMs });
  const ownerLabel = spec.resourceLabels.names[0];
  const attention = { root: '../', nowMs, isOfStation: true, removalsOf: () => view.changes.removals, ownerLabel };
  const { text, tone } = stationHeadline(status, found, nowMs);
  return html`${trail('../', spec.name)}
<h1>${spec.name}</h1>
${linkList(linksOf(links, spec))}<div class="headline">
<p id="summary" class="summary ${tone}">${text}</p>
<div class="actions">
<a href="../${changesPath(spec.name)}">Changes</a>
${LIVE_CONTROLS}
</div>
</div>
${LIVE_NOTICES}
${attentionSection(found, attention)}
${stationTiles(view)}
${noteOf(cacheNote(status))}${withheldNotes(served)}
${refreshesSection(view)}
<details id="details">
<summary>Details: where the station is, and its listing</summary>
<div class="columns">
<section aria-labelledby="place">
<h2 id="place">Details</h2>
${stationDetails(view)}
</section>
${served === undefined ? [] : listingSection(served.snapshot)}</div>
${served === undefined ? [] : rejectedSection(served.snapshot)}</details>
<section aria-labelledby="resources">
<h2 id="resources">Resources</h2>
${resourcesOf(view)}
</section>
`;
}

function noteOf(text: string | undefined): Html {
  return text === undefined ? html`` : html`<p class="quiet">${text}</p>\n`;
}

/** The numbers of the station, with what they are to be compared with. */
function stationTiles({ spec, status, nowMs }: StationPageView): Html {
  const known = knownCounts(status.snapshot);
  return descriptionList('tiles', 'status', [
    {
      term: 'Resources',
      value: linkedCount(known?.resources, '#resources'),
      note: recentChanges([status], nowMs, '../', spec.name),
    },
    ...countTiles(known, (query) => `${query}#resources`),
    listingTile(status),
    {
      term: 'Last success',
      value: lastSuccess(status, nowMs, 'rough'),
      tone: status.failure ? failureTone([status], nowMs) : '',
      note: `next refresh: ${nextRefreshText(status)}`,
    },
  ]);
}

/** Whether the data is verified complete; none without data. */
function listingTile(status: StationStatus): DescribedValue {
  const { snapshot } = status;
  return {
    term: 'Listing',
    value: snapshot && (snapshot.complete ? 'complete' : 'incomplete'),
    tone: snapshot === undefined || snapshot.complete ? '' : 'warning',
    note: snapshot && `in ${countText(snapshot.pages, 'request')}${status.isBeforeReload ? ', before the reload' : ''}`,
  };
}

function resourcesOf(view: StationPageView): Html {
  const { status, query, problem, shown, unknownCoverage, counts, nowMs } = view;
  const { spec } = view.served ?? view;
  const types = [...counts.types.map(({ key }) => key), ...(shown?.rows.map(({ resource }) => resource.type) ?? [])];
  const columns = resourcePageColumns(spec, { root: '../', types, nowMs });
  const form = resourceFilterForm(spec, counts, query, columns);
  if (problem !== undefined) return html`<p class="notice" role="alert">${problem}</p>\n${form}`;
  if (shown === undefined) return status.up === undefined ? NOT_TRIED : WITHOUT_DATA;
  const size = status.snapshot?.resources ?? 0;
  if (size === 0) return html`${form}\n<p id="nothing">${emptyText(status)}</p>`;
  const note = unknownCoverageNote(unknownCoverage);
  if (shown.range.total === 0)
    return html`${form}${note}\n<p id="nothing">No resource matches. <a href="${resourcesHref({ sort: query.sort })}">Clear the filters: show ${countText(size, 'resource')}</a></p>`;
  // The resources of the query in its order, on all pages.
  const links = downloads(`../${stationPath(spec.name, '/resources')}`, resourceSearch({ ...query, page: 1 }));
  const options = { query, columns, href: resourcesHref };
  return html`${form}${note}\n${resourcePageTable(`Resources of ${spec.name}`, shown, options, links)}`;
}

/** Only a complete listing shows that there are no resources. */
function emptyText({ snapshot }: StationStatus): string {
  return snapshot?.complete
    ? 'The station has no resources.'
    : 'No resource was listed, but the listing is not verified complete.';
}

/** Where the station is. */
function stationDetails({ spec, upstream }: StationPageView): Html {
  const { name, path, labels } = spec;
  const shown = Object.entries(labels).map(([label, value]) => html`<code>${label}="${value}"</code> `);
  return descriptionList('lines', 'question', [
    { term: 'Upstream', value: upstream.name },
    { term: 'Subscription', value: path.subscription },
    { term: 'Resource group', value: path.resource_group },
    { term: 'Zone', value: path.zone },
    { term: 'Telemetry station', value: path.telemetry_station },
    { term: 'Labels', value: shown.length === 0 ? undefined : html`${shown}` },
    { term: 'Metrics', value: html`<a href="../${probePath(name)}">this station only</a>` },
    { term: 'JSON', value: html`<a href="?format=json">this station only</a>` },
  ]);
}

/** What the listing returned. */
function listingSection(snapshot: Snapshot): Html {
  const { size, reportedTotal, pages, reducedPageSize, duplicates, rejected, invalidFields } = snapshot;
  const invalid = Object.entries(invalidFields).filter(([, count]) => count > 0);
  const fields = invalid.map(([field, count]) => html`<li><code>${field}</code>: ${numberText(count)}</li>`);
  return html`<section aria-labelledby="listing">
<h2 id="listing">Listing</h2>
${descriptionList('lines', 'story', [
  { term: 'Unique resources', value: numberText(size) },
  { term: 'Reported total', value: reportedTotal === undefined ? 'not reported' : numberText(reportedTotal) },
  { term: 'Pages', value: `${numberText(pages)} (all listings that were due)` },
  ...(reducedPageSize === undefined
    ? []
    : [{ term: 'Page size', value: `${numberText(reducedPageSize)} (larger pages may be too large for the service)` }]),
  { term: 'Duplicate records', value: numberText(duplicates) },
  { term: 'Rejected records', value: `${numberText(rejected)} (without a usable resource_id)` },
  { term: 'Invalid fields', value: fields.length === 0 ? 'none' : html`<ul>${fields}</ul>` },
])}
</section>
`;
}

const REJECTED_COLUMNS: readonly PageColumn<RejectedRecord>[] = [
  { heading: 'Record', cell: ({ position }) => `Position ${numberText(position)}` },
  { heading: 'Reason', cell: ({ rejection }) => rejection },
  { heading: 'Name', cell: ({ texts }) => textOrUnknown(texts['name'] ?? '') },
  { heading: 'Display name', cell: ({ texts }) => textOrUnknown(texts['display_name'] ?? '') },
  { heading: 'Type', cell: ({ texts }) => textOrUnknown(texts['resource_type'] ?? '') },
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
