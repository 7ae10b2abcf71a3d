import type { Request, Response } from 'express';
import { stationLinks } from '../../station/links.ts';
import type { Snapshot } from '../../station/snapshot.ts';
import type { StationSpec } from '../../station/station-spec.ts';
import type { ExporterPort, StationDetail, StationStatus, UpstreamStatus } from '../port.ts';
import type { AbortableHandler } from '../request-limit.ts';
import { sendError } from '../respond.ts';
import { probePath } from '../routes.ts';
import { historySection, refreshForm } from './history.ts';
import { facts, figures, type Html, html, numberText, secondsText, unknown } from './html.ts';
import { EXPORTER, type PageOptions, sendPage } from './layout.ts';
import { linkList } from './link-list.ts';
import { countBars, countResources } from './resource-counts.ts';
import { filterForm, pageRange, resourcePager, resourceTable } from './resource-list.ts';
import { parseResourceQuery, type ResourceQuery, resourceSearch } from './resource-query.ts';
import { coverageOf, coverageText, failureNote, nextRefreshText, snapshotAge, stateBadge } from './station-state.ts';
import { loadList } from './upstream-load.ts';

const PAGE_SIZE = 100;

const NO_SNAPSHOT = html`<p>No snapshot is served: no refresh has succeeded within <code>max_stale</code>.</p>`;

type Served = NonNullable<StationDetail['served']>;

/** A station: its state, its listing and its resources. */
export function stationPage(exporter: ExporterPort, options: PageOptions): AbortableHandler {
  const { now = Date.now } = options;
  return async (request, response, signal) => {
    const detail = exporter.station(String(request.params['name']));
    if (detail === undefined) {
      sendNoStation(response, '../', options);
      return;
    }
    const query = parseResourceQuery(searchParams(request));
    if (typeof query === 'string') {
      sendError(response, 400, `${query}\n`);
      return;
    }
    const { spec, served } = detail;
    const resources = served === undefined ? [] : await resourcesOf(exporter, detail, served, query, now(), signal);
    const history = historySection(exporter.history(spec.name) ?? [], { status: detail.status, ttlMs: spec.cache.ttlMs, nowMs: now() });
    const content = html`${stationHead(detail, refreshForm(spec.name, resourceSearch(query), options), now())}${resources}${history}`;
    sendPage(response, 200, { title: `${spec.name} · ${EXPORTER}`, root: '../', content }, options);
  };
}

export function sendNoStation(response: Response, root: '../' | '../../../', options: PageOptions): void {
  const content = html`<h1>No such station</h1>
<p>No station with this name is configured on this shard. <a href="${root}">All stations</a></p>`;
  sendPage(response, 404, { title: `No such station · ${EXPORTER}`, root, content }, options);
}

/** The query of the request. */
export function searchParams({ url }: Pick<Request, 'url'>): URLSearchParams {
  return new URLSearchParams(url.split('?').slice(1).join('?'));
}

function stationHead({ spec, upstream, status, served, links }: StationDetail, refresh: Html, nowMs: number): Html {
  const { snapshot } = status;
  const listing = html`<section aria-labelledby="listing">
<h2 id="listing">Listing</h2>
${served === undefined ? NO_SNAPSHOT : listingFacts(served.snapshot)}
</section>`;
  return html`<nav class="trail" aria-label="Breadcrumb"><a href="../">Stations</a> / ${spec.name}</nav>
<h1>${spec.name}</h1>
${linkList(stationLinks(links, spec))}${figures('status', [
  ['State', stateBadge(status)],
  ['Resources', snapshot === undefined ? unknown('no snapshot is served') : numberText(snapshot.resources)],
  ['Coverage', coverageText(coverageOf(status))],
  ['Snapshot', snapshotAge(status, nowMs)],
])}
${refresh}
${failureNote(status, nowMs)}
<div class="columns">
<section aria-labelledby="place">
<h2 id="place">Details</h2>
${stationFacts(spec, status, upstream, nowMs)}
</section>
${listing}
</div>
`;
}

function stationFacts({ name, path, labels }: StationSpec, status: StationStatus, upstream: UpstreamStatus, nowMs: number): Html {
  const shown = Object.entries(labels).map(([label, value]) => html`<code>${label}="${value}"</code> `);
  return facts('question', [
    ['Upstream', upstream.name],
    ['Load', loadList(upstream, nowMs)[0]],
    ['Subscription', path.subscription],
    ['Resource group', path.resourceGroup],
    ['Zone', path.zone],
    ['Telemetry station', path.telemetryStation],
    ['Labels', shown.length === 0 ? undefined : html`${shown}`],
    ['Latest refresh', status.durationMs === undefined ? 'not tried yet' : `took ${secondsText(status.durationMs)}`],
    ['Next refresh', nextRefreshText(status)],
    [
      'Requests',
      status.isHanging ? html`<span class="no">hanging</span>: one probing request at a time until the service replies` : undefined,
    ],
    ['Metrics', html`<a href="../${probePath(name)}">this station only</a>`],
  ]);
}

async function resourcesOf(
  exporter: ExporterPort,
  { spec }: StationDetail,
  { snapshot, aggregates }: Served,
  query: ResourceQuery,
  nowMs: number,
  signal: AbortSignal,
): Promise<Html> {
  const found = await exporter.select(snapshot, query.selection, query.order, signal);
  const extent = pageRange(found.length, query.page, PAGE_SIZE);
  const counts = countResources(aggregates);
  const bars = html`<h2 id="counts">Resource counts</h2>
<div class="bars">
${countBars('state', counts.states)}${countBars('type', counts.types)}${spec.products.length === 0 ? [] : countBars('product', counts.products)}</div>
`;
  const table = html`${resourcePager('Pages of resources', extent, query)}
${resourceTable(found.slice(extent.from, extent.to), counts, spec, query, nowMs)}
${resourcePager('Pages of resources, below the table', extent, query)}`;
  return html`${snapshot.size === 0 ? [] : bars}<h2 id="resources">Resources</h2>
${filterForm(spec, counts, query)}
${found.length > 0 ? table : html`<p id="nothing">No resource matches.</p>`}`;
}

/** What the listing returned, and whether it is verified complete. */
function listingFacts(snapshot: Snapshot): Html {
  const { size, complete, incompleteReasons, reportedTotal, pages, duplicates, rejected, invalidFields } = snapshot;
  const invalid = Object.entries(invalidFields).filter(([, count]) => count > 0);
  const fields = invalid.map(([field, count]) => html`<li><code>${field}</code>: ${numberText(count)}</li>`);
  return facts('story', [
    ['Completeness', complete ? 'verified complete' : html`<span class="no">not verified complete</span>`],
    ['Reasons', incompleteReasons.length === 0 ? undefined : html`<ul>${incompleteReasons.map((reason) => html`<li>${reason}</li>`)}</ul>`],
    ['Unique resources', numberText(size)],
    ['Reported total', reportedTotal === undefined ? 'not reported' : numberText(reportedTotal)],
    ['Pages', `${numberText(pages)} (all listings)`],
    ['Duplicate records', numberText(duplicates)],
    ['Rejected records', `${numberText(rejected)} (without a usable resource_id)`],
    ['Invalid fields', invalid.length === 0 ? 'none' : html`<ul>${fields}</ul>`],
  ]);
}
