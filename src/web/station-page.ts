import type { Request, RequestHandler, Response } from 'express';
import type { StationSpec } from '../station/spec.ts';
import { countBars } from './count-bars.ts';
import { facts, figures } from './figures.ts';
import { type Html, html } from './html.ts';
import { listingStory } from './listing-story.ts';
import { EXPORTER, type PageOptions, sendPage } from './page.ts';
import { probePath } from './page-paths.ts';
import type { ExporterPort, StationDetail, StationStatus } from './port.ts';
import { countResources } from './resource-counts.ts';
import { resourceForm } from './resource-form.ts';
import { extentOf, resourcePager } from './resource-pager.ts';
import { type ResourceQuery, readResourceQuery } from './resource-query.ts';
import { resourceTable } from './resource-table.ts';
import { sendText } from './respond.ts';
import { coverageOf, coverageText, failureNote, nextRefreshText, snapshotAge, stateMark } from './station-state.ts';
import { durationText, numberText, unknown } from './words.ts';

const PAGE_SIZE = 100;

const NO_SNAPSHOT = html`<p>No snapshot is served: no refresh has succeeded within <code>max_stale</code>.</p>`;

type Served = NonNullable<StationDetail['served']>;

/** One station: how it is doing, how its listing came about and what it holds. */
export function stationPage(exporter: ExporterPort, options: PageOptions): RequestHandler {
  const { now = Date.now } = options;
  return async (request, response) => {
    const detail = exporter.station(String(request.params['name']));
    if (detail === undefined) {
      sendNoStation(response, '../', options);
      return;
    }
    const query = readResourceQuery(searchParams(request));
    if (typeof query === 'string') {
      sendText(response, 400, `${query}\n`);
      return;
    }
    const { spec, served } = detail;
    const resources = served === undefined ? [] : await resourcesOf(exporter, detail, served, query, now());
    const content = html`${stationHead(detail, now())}${resources}`;
    sendPage(response, 200, { title: `${spec.name} · ${EXPORTER}`, root: '../', content, hasForm: true }, options);
  };
}

export function sendNoStation(response: Response, root: '../' | '../../../', options: PageOptions): void {
  const content = html`<h1>No such station</h1>
<p>No station of that name is configured here, or it is on another shard. <a href="${root}">All stations</a></p>`;
  sendPage(response, 404, { title: `No such station · ${EXPORTER}`, root, content }, options);
}

function searchParams({ url }: Request): URLSearchParams {
  return new URLSearchParams(url.split('?').slice(1).join('?'));
}

function stationHead({ spec, status, served }: StationDetail, nowMs: number): Html {
  const { snapshot } = status;
  const listing = html`<section aria-labelledby="listing">
<h2 id="listing">How it was listed</h2>
${served === undefined ? NO_SNAPSHOT : listingStory(served.snapshot)}
</section>`;
  return html`<nav class="trail" aria-label="Breadcrumb"><a href="../">Stations</a> / ${spec.name}</nav>
<h1>${spec.name}</h1>
${figures('status', [
  ['State', stateMark(status)],
  ['Resources', snapshot === undefined ? unknown('no snapshot is served') : numberText(snapshot.resources)],
  ['Coverage', coverageText(coverageOf(status))],
  ['Snapshot', snapshotAge(status, nowMs)],
])}
${failureNote(status, nowMs)}
<div class="columns">
<section aria-labelledby="place">
<h2 id="place">What is asked</h2>
${question(spec, status)}
</section>
${listing}
</div>
`;
}

function question({ name, upstream, path, labels }: StationSpec, status: StationStatus): Html {
  const shown = Object.entries(labels).map(([label, value]) => html`<code>${label}="${value}"</code> `);
  return facts('question', [
    ['Upstream', upstream],
    ['Subscription', path.subscription],
    ['Resource group', path.resourceGroup],
    ['Zone', path.zone],
    ['Telemetry station', path.telemetryStation],
    ['Labels', shown.length === 0 ? undefined : html`${shown}`],
    ['Latest refresh', status.durationMs === undefined ? 'not tried yet' : `took ${refreshTime(status.durationMs)}`],
    ['Next refresh', nextRefreshText(status)],
    ['Metrics', html`<a href="../${probePath(name)}">of this station alone</a>`],
  ]);
}

function refreshTime(ms: number): string {
  return ms < 10_000 ? `${numberText(Math.round(ms) / 1000)} s` : durationText(ms);
}

async function resourcesOf(
  exporter: ExporterPort,
  { spec }: StationDetail,
  { snapshot, aggregates }: Served,
  query: ResourceQuery,
  nowMs: number,
): Promise<Html> {
  const found = await exporter.select(snapshot, query.selection, query.order);
  const extent = extentOf(found.length, query.page, PAGE_SIZE);
  const counts = countResources(aggregates);
  const bars = html`<h2 id="counts">What it holds</h2>
<div class="bars">
${countBars('type', counts.types)}${countBars('state', counts.states)}${spec.products.length === 0 ? [] : countBars('product', counts.products)}</div>
`;
  const table = html`${resourcePager('Pages of resources', extent, query)}
${resourceTable(found.slice(extent.from, extent.to), spec, query, nowMs)}
${resourcePager('Pages of resources, below the table', extent, query)}`;
  return html`${snapshot.size === 0 ? [] : bars}<h2 id="resources">Resources</h2>
${resourceForm(spec, counts, query)}
${found.length > 0 ? table : html`<p id="nothing">No resource matches.</p>`}`;
}
