import type { RequestHandler } from 'express';
import type { StationSpec } from '../station/spec.ts';
import { facts } from './figures.ts';
import { type Html, html } from './html.ts';
import { type LocatedResource, locateResource } from './located-resource.ts';
import { EXPORTER, type PageOptions, sendPage } from './page.ts';
import { stationPath } from './page-paths.ts';
import type { ExporterPort, StationDetail } from './port.ts';
import { resourceFields } from './resource-fields.ts';
import { alertableReason, productReason } from './resource-reasons.ts';
import { sendNoStation } from './station-page.ts';
import { countText, numberText } from './words.ts';

const ROOT = '../../../';

type Served = NonNullable<StationDetail['served']>;

/** Why a resource is published as it is: its record, what the further listings told of it, and its series. */
export function resourcePage(exporter: ExporterPort, options: PageOptions): RequestHandler {
  const { now = Date.now } = options;
  return (request, response) => {
    const detail = exporter.station(String(request.params['name']));
    if (detail === undefined) {
      sendNoStation(response, ROOT, options);
      return;
    }
    const { spec, served } = detail;
    const located = served && locateResource(served.snapshot, String(request.params['id']));
    const heading = located === undefined ? 'No such resource' : titleOf(located);
    const told =
      served === undefined || located === undefined
        ? noResource(served !== undefined)
        : [explanation(spec, located, now()), series(exporter.linesOf(spec, located.resource), served)];
    const content = html`${trail(spec, heading)}
<h1>${heading}</h1>
${told}`;
    const title = `${heading} · ${spec.name} · ${EXPORTER}`;
    sendPage(response, located === undefined ? 404 : 200, { title, root: ROOT, content }, options);
  };
}

function titleOf({ resource: { displayName, name, id } }: LocatedResource): string {
  return displayName || name || id;
}

function trail({ name }: StationSpec, here: string): Html {
  const path = stationPath(name);
  const station = path === undefined ? name : html`<a href="${ROOT}${path}">${name}</a>`;
  return html`<nav class="trail" aria-label="Breadcrumb"><a href="${ROOT}">Stations</a> / ${station} / ${here}</nav>`;
}

function noResource(isServed: boolean): Html {
  return isServed
    ? html`<p>The station’s snapshot has no resource of that id. It may have come or gone since: look again after the next refresh.</p>`
    : html`<p>No snapshot of the station is served at this moment, so nothing is known of its resources.</p>`;
}

function explanation(spec: StationSpec, { resource, pageOffset, position, invalid }: LocatedResource, nowMs: number): Html {
  const offset = pageOffset + position;
  return html`<p class="code">${resource.id}</p>
<h2 id="record">Where it came from</h2>
${facts('origin', [
  ['Record', html`at offset ${numberText(offset)} of the station’s listing (the first is 0)`],
  ['Page', html`the one that begins at offset ${numberText(pageOffset)}, in it record ${numberText(position + 1)}`],
  ['To ask for it', html`<code>${`page.offset=${offset}&page.size=1`}</code> with the station’s filters`],
  ['Invalid fields', invalid.length === 0 ? 'none' : html`${invalid.map((field) => html`<code>${field}</code> `)}`],
])}
<h2 id="read">What was read</h2>
${resourceFields(resource, invalid, nowMs)}
<h2 id="joined">What further listings told</h2>
${facts('reasons', [
  ['Product', productReason(spec, resource)],
  ['Alertable', alertableReason(spec, resource)],
])}
`;
}

function series(lines: string, served: Served): Html {
  return html`<h2 id="series">What it publishes</h2>
${published(lines, served)}`;
}

function published(lines: string, { withheld, snapshot }: Served): Html {
  if (lines === '') {
    return html`<p>Nothing: series of single resources are switched off by <code>metrics.per_resource</code> or <code>metrics.disabled</code>.</p>`;
  }
  if (withheld === 0) return html`<pre id="lines">${lines}</pre>`;
  return html`<p>Nothing: the station has ${countText(snapshot.size, 'resource')}, more than <code>metrics.max_resources</code>, so ${numberText(withheld)} series of single resources are withheld. It would publish:</p>
<pre id="lines">${lines}</pre>`;
}
