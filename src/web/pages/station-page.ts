import { stationLinks } from '../../inventory/links.ts';
import { countResources, type ResourceCounts } from '../../inventory/resource-counts.ts';
import { parseResourceQuery, type ResourceQuery, resourceSearch } from '../../inventory/resource-query.ts';
import { shortTypes } from '../../inventory/resource-words.ts';
import {
  coverageOf,
  nextRefreshText,
  type StationDetail,
  type StationStatus,
  type UpstreamStatus,
} from '../../inventory/station-status.ts';
import { countText, durationText, numberText } from '../../inventory/words.ts';
import type { Resource } from '../../model/resource.ts';
import type { StationSpec } from '../../model/station-spec.ts';
import type { Snapshot } from '../../refresh/snapshot.ts';
import { stationOf } from '../data.ts';
import type { ExporterPort } from '../port.ts';
import { sendError, setErrorPage } from '../respond.ts';
import { changesPath, probePath, searchParams, stationPath } from '../routes.ts';
import { historySection } from './history.ts';
import { facts, figures, type Html, html } from './html.ts';
import { LIVE_CONTROLS, LIVE_NOTICES, type PageHandler, type PageOptions, sendPage } from './layout.ts';
import {
  countBars,
  emptyResult,
  filterForm,
  resourceColumns,
  resourcePageTable,
  resourcesHref,
} from './resource-list.ts';
import { coverageText, lastSuccess, linkedCount, linkList, stateBadge, stationNotes, trail } from './station-parts.ts';
import { downloads, type PageRange, pageRange } from './table.ts';
import { loadList } from './upstream-load.ts';

const EXPIRED = html`<p>No data: no refresh has succeeded within <code>max_stale</code>.</p>`;
const NOT_TRIED = html`<p>No data yet: the first refresh has not ended.</p>`;

/** A station: its state, its resources, and its details. */
export const stationPage: PageHandler = (exporter, options) => {
  const find = rememberedSearches(exporter);
  return async (request, response, signal) => {
    const detail = stationOf(exporter, request);
    const { spec, served } = detail;
    const counts = countResources(
      served?.aggregates ?? { groups: [], typeLabels: new Map() },
      spec.resourceLabels.names,
    );
    const sendStation = (status: number, query: ResourceQuery, resources: Html) => {
      const refresh = refreshForm(spec.name, resourceSearch(query), options);
      const history = historySection(exporter.history(spec.name) ?? [], {
        status: detail.status,
        ttlMs: spec.cache.ttlMs,
        nowMs: options.now(),
      });
      const content = stationContent(detail, counts, { refresh, resources, history }, options.now());
      sendPage(response, { title: spec.name, status, root: '../', content, isLive: status === 200 }, options);
    };
    const { query, problem } = parseResourceQuery(searchParams(request), spec.resourceLabels.names);
    if (problem !== undefined) {
      const columns = resourceColumns(spec, { root: '../', typeNames: new Map(), nowMs: options.now() });
      const content = html`<p class="notice" role="alert">${problem}</p>\n${filterForm(spec, counts, query, columns)}`;
      setErrorPage(response, (_response, status) => sendStation(status, query, content));
      sendError(response, 400, `${problem}\n`);
      return;
    }
    if (served === undefined) {
      sendStation(200, query, detail.status.up === undefined ? NOT_TRIED : EXPIRED);
      return;
    }
    const found = await find(served.snapshot, query, signal);
    sendStation(200, query, resourcesOf(detail, counts, query, found, options.now()));
  };
};

/** A button for a refresh; the page that follows has the same query. */
function refreshForm(name: string, query: string, { enableLifecycle }: PageOptions): Html {
  const path = stationPath(name, '/refresh');
  if (!enableLifecycle || path === undefined) return html``;
  return html`<form id="refresh" class="controls" method="post" action="../${path}${query}"><button type="submit">Refresh now</button></form>`;
}

/** A page of resources and the number of all that were found. */
interface FoundPage {
  readonly range: PageRange;
  readonly resources: readonly Resource[];
}

type Find = (snapshot: Snapshot, query: ResourceQuery, signal: AbortSignal) => Promise<FoundPage>;

/** Queries whose result is remembered per snapshot. */
const MAX_REMEMBERED = 50;

/** Searches a snapshot once per query, however many browsers keep the page current. */
function rememberedSearches(exporter: ExporterPort): Find {
  const bySnapshot = new WeakMap<Snapshot, Map<string, FoundPage>>();
  return async (snapshot, query, signal) => {
    const remembered = bySnapshot.get(snapshot) ?? new Map<string, FoundPage>();
    bySnapshot.set(snapshot, remembered);
    const key = resourceSearch(query);
    const known = remembered.get(key);
    if (known) return known;
    const found = await exporter.select(snapshot, query.selection, query.order, signal);
    const range = pageRange(found.length, query.page);
    const page = { range, resources: found.slice(range.from, range.to) };
    if (remembered.size >= MAX_REMEMBERED) remembered.clear();
    remembered.set(key, page);
    return page;
  };
}

function changesLink(name: string): Html | readonly Html[] {
  const path = changesPath(name);
  return path === undefined ? [] : html`<a href="../${path}">Changes</a> `;
}

function stationContent(
  { spec, upstream, status, served, links }: StationDetail,
  counts: ResourceCounts,
  { refresh, resources, history }: Readonly<Record<'refresh' | 'resources' | 'history', Html>>,
  nowMs: number,
): Html {
  const { snapshot } = status;
  return html`${trail('../', spec.name)}
<h1>${spec.name}</h1>
${linkList(stationLinks(links, spec))}<div class="headline">
${figures('status', [
  ['State', stateBadge(status)],
  ['Resources', linkedCount(snapshot?.resources, undefined)],
  ['Firing', linkedCount(snapshot?.firing, '?state=firing#resources')],
  ['Pending', linkedCount(snapshot?.pending, '?state=pending#resources')],
  ['Coverage', coverageText(coverageOf(status))],
  ['Last success', lastSuccess(status, nowMs)],
])}
<div class="actions">
<a href="#history">History</a> ${changesLink(spec.name)}<a href="#place">Details</a>
${LIVE_CONTROLS}
${refresh}
</div>
</div>
${LIVE_NOTICES}
${stationNotes(status, nowMs)}
<div class="beside">
<div>
<section aria-labelledby="resources">
<h2 id="resources">Resources</h2>
${resources}
</section>
${history}</div>
<div class="side">
${countSections(spec.products.length > 0, counts)}<div class="columns">
<section aria-labelledby="place">
<h2 id="place">Details</h2>
${stationFacts(spec, status, upstream, nowMs)}
</section>
${served === undefined ? [] : listingSection(served.snapshot)}</div>
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

function resourcesOf(
  { spec, status }: StationDetail,
  counts: ResourceCounts,
  query: ResourceQuery,
  { range, resources }: FoundPage,
  nowMs: number,
): Html {
  const typeNames = shortTypes([...counts.types.map(({ key }) => key), ...resources.map(({ type }) => type)]);
  const columns = resourceColumns(spec, { root: '../', typeNames, nowMs });
  const rows = resources.map((resource) => ({ station: spec.name, resource }));
  const page = { rows, range, query, columns, href: resourcesHref };
  return html`${filterForm(spec, counts, query, columns)}
${
  resources.length === 0
    ? emptyResult(status.snapshot?.resources ?? 0, query)
    : resourcePageTable(`Resources of ${spec.name}`, page, downloadLinks(spec.name, query))
}`;
}

/** Links to the resources of the query in its order, on all pages. */
function downloadLinks(name: string, query: ResourceQuery): readonly Html[] {
  const path = stationPath(name, '/resources');
  const parameters = resourceSearch({ ...query, page: 1 });
  return path === undefined ? [] : [downloads(`../${path}${parameters}${parameters === '?' ? '' : '&'}format=`)];
}

/** Where the station is, and how it is refreshed. */
function stationFacts(
  { name, path, labels }: StationSpec,
  status: StationStatus,
  upstream: UpstreamStatus,
  nowMs: number,
): Html {
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

function completenessText({ complete, rejected }: Snapshot): Html | string {
  if (!complete) return html`<span class="no">not verified complete</span>`;
  return rejected === 0
    ? 'verified complete'
    : html`<span class="no">complete except for ${countText(rejected, 'rejected record')}</span>`;
}

/** What the listing returned, and whether it is verified complete. */
function listingSection(snapshot: Snapshot): Html {
  const { size, incompleteReasons, reportedTotal, pages, duplicates, rejected, invalidFields } = snapshot;
  const invalid = Object.entries(invalidFields).filter(([, count]) => count > 0);
  const fields = invalid.map(([field, count]) => html`<li><code>${field}</code>: ${numberText(count)}</li>`);
  const reasons = incompleteReasons.map((reason) => html`<li>${reason}</li>`);
  return html`<section aria-labelledby="listing">
<h2 id="listing">Listing</h2>
${facts('story', [
  ['Completeness', completenessText(snapshot)],
  ['Reasons', reasons.length === 0 ? undefined : html`<ul>${reasons}</ul>`],
  ['Unique resources', numberText(size)],
  ['Reported total', reportedTotal === undefined ? 'not reported' : numberText(reportedTotal)],
  ['Pages', `${numberText(pages)} (all listings)`],
  ['Duplicate records', numberText(duplicates)],
  ['Rejected records', `${numberText(rejected)} (without a usable resource_id)`],
  ['Invalid fields', fields.length === 0 ? 'none' : html`<ul>${fields}</ul>`],
])}
</section>
`;
}
