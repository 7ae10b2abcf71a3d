import type { RequestHandler } from 'express';
import type { ListingField } from '../../station/listing.ts';
import { RESOURCE_COLUMNS, type Resource, type ResourceColumn } from '../../station/resource.ts';
import type { Snapshot } from '../../station/snapshot.ts';
import type { StationSpec } from '../../station/station-spec.ts';
import type { ExporterPort, StationDetail } from '../port.ts';
import { stationPath } from '../routes.ts';
import { countText, facts, momentText, numberText } from './format.ts';
import { type Html, html } from './html.ts';
import { EXPORTER, type PageOptions, sendPage } from './layout.ts';
import { sendNoStation } from './station-page.ts';

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

/** In the order of the columns, but numbers and times after the texts. */
const RECORD_COLUMNS = Object.values<ResourceColumn>(RESOURCE_COLUMNS)
  .filter(({ field }) => field !== undefined)
  .toSorted((a, b) => Number(isLast(a)) - Number(isLast(b)));

function isLast({ field }: ResourceColumn): boolean {
  return field === 'alert_rules_count' || field === 'create_time';
}

/** Every field of the record by its name on the wire, with the value that was read. */
function resourceFields(resource: Resource, invalid: readonly ListingField[], nowMs: number): Html {
  const { sku, quantity, createdSeconds } = resource;
  const detailed: Readonly<Record<string, Html | undefined>> = {
    sku: quantity && html`${sku} <span class="quiet">(quantity ${numberText(quantity.value)}, unit ${quantity.unit})</span>`,
    create_time: createdSeconds === undefined ? undefined : creation(createdSeconds * 1000, nowMs),
  };
  const rows = RECORD_COLUMNS.map(({ field = '', value }) => {
    const isInvalid = invalid.some((name) => field === name || field.startsWith(`${name}.`));
    return html`<tr><th scope="row"><code>${field}</code></th><td>${shown(detailed[field] ?? value(resource), isInvalid)}</td></tr>\n`;
  });
  return html`<table id="fields">
<caption class="hidden-text">Fields of the record</caption>
<thead><tr><th scope="col">Field</th><th scope="col">As read</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`;
}

function creation(atMs: number, nowMs: number): Html {
  return html`${new Date(atMs).toISOString()} <span class="quiet">(${momentText(atMs, nowMs)})</span>`;
}

/** Of the two parts of the resource type, one may be usable. */
function shown(value: Html | ReturnType<ResourceColumn['value']>, isInvalid: boolean): Html {
  if (value !== null && value !== '') return html`${typeof value === 'boolean' ? String(value) : value}`;
  return isInvalid ? html`<span class="no">not usable as the service gave it</span>` : html`<span class="quiet">not given, or empty</span>`;
}

/** Which of the configured products' listings claimed the resource. */
function productReason({ products }: Pick<StationSpec, 'products'>, { product }: Pick<Resource, 'product'>): Html {
  if (products.length === 0) return html`unknown: the configuration names no <code>products</code> for this station`;
  const claimed = products.indexOf(product);
  const told = (at: number) => {
    if (claimed === -1 || at < claimed) return html`its listing did not hold the resource`;
    return at === claimed ? html`<strong>the first whose listing held the resource</strong>` : html`comes later, so it was not decisive`;
  };
  return html`${product === '' ? 'none' : html`<code>${product}</code>`}; the configured products in their order:
<ol>${products.map((name, at) => html`<li><code>${name}</code>: ${told(at)}</li>`)}</ol>`;
}

/** Whether the resource can have alerts, and how that is known. */
function alertableReason(
  { alertability, filters }: Pick<StationSpec, 'alertability' | 'filters'>,
  { alertable }: Pick<Resource, 'alertable'>,
): Html {
  if (!alertability) return html`unknown: <code>alertability</code> is not asked for in the configuration`;
  if (filters.enabledAlert) return html`yes: the station’s filter <code>enabled_alert</code> lists alertable resources alone`;
  if (alertable === undefined) return html`unknown: the listing of alertable resources lacks it, but was not proven whole`;
  return alertable
    ? html`yes: the listing of alertable resources (<code>enabled_alert=true</code>) held it`
    : html`no: the listing of alertable resources (<code>enabled_alert=true</code>) is whole and lacks it`;
}

/** A resource and the record that it was read from. */
interface LocatedResource {
  readonly resource: Resource;
  /** Of the page in the listing. */
  readonly pageOffset: number;
  /** Of the record in its page, counted from 0. */
  readonly position: number;
  readonly invalid: readonly ListingField[];
}

/** undefined when the snapshot has no such resource. */
function locateResource({ parts, locations }: Pick<Snapshot, 'parts' | 'locations'>, id: string): LocatedResource | undefined {
  for (const [at, { offset, positions, invalid }] of locations.entries()) {
    const part = parts[at] ?? [];
    const index = part.findIndex((resource) => resource.id === id);
    const resource = part[index];
    if (resource) return { resource, pageOffset: offset, position: positions?.[index] ?? index, invalid: invalid.get(index) ?? [] };
  }
  return undefined;
}
