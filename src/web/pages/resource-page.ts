import type { ObservedChange } from '../../resources/changes.ts';
import { RESOURCE_COLUMNS, type Resource, type ResourceColumn, resourceLabel } from '../../resources/fields.ts';
import { skuQuantity } from '../../resources/quantities.ts';
import type { Snapshot } from '../../resources/snapshot.ts';
import type { ResourceSpec } from '../../resources/spec.ts';
import { stateWord } from '../../status/resource-words.ts';
import type { StationDetail } from '../../status/station-status.ts';
import type { CellValue } from '../../text/records.ts';
import { numberText } from '../../text/words.ts';
import { requireNoParameters, stationOf } from '../data.ts';
import { linksOf } from '../links.ts';
import { RequestError } from '../respond.ts';
import { changesPath, stationPath } from '../routes.ts';
import { changeTable } from './changes-page.ts';
import { breakable, descriptionList, type Html, html, momentText, sinceText, unknown } from './html.ts';
import { LIVE_CONTROLS, LIVE_NOTICES, type PageHandler, sendPage } from './layout.ts';
import { alertStateBadge, labelHeading, titleOf } from './resource-list.ts';
import { lastSuccess, linkList, stateBadge, stationLink, trail, withheldNotes } from './station-parts.ts';

const RESOURCE_ROOT = '../../../';

/** A resource: its record in the listing, and the results of the further listings; or what was last known of a removed one. */
export const resourcePage: PageHandler = (exporter, options) => (request, response) => {
  requireNoParameters(request);
  const nowMs = options.now();
  const detail = stationOf(exporter, request);
  const id = String(request.params['id']);
  const changes = detail.changes.newestFirst.filter(({ resource }) => resource.id === id);
  const { resource, invalid, links, lead } =
    listedResource(detail, id, nowMs) ?? removedResource(detail, changes, nowMs);
  const heading = titleOf(resource);
  const content = html`${trail(RESOURCE_ROOT, heading, detail.spec.name)}
<h1>${heading}</h1>
${links}<div class="headline">
<p class="code">${id}</p>
${LIVE_CONTROLS}
</div>
${LIVE_NOTICES}
${lead}
${ownChanges(changes, (detail.served ?? detail).spec, nowMs)}
<h2 id="read">Fields</h2>
${resourceFields(resource, invalid, nowMs)}`;
  const title = `${heading} · ${detail.spec.name}`;
  sendPage(response, { title, root: RESOURCE_ROOT, content, isLive: true }, options);
};

interface ShownResource {
  readonly resource: Resource;
  /** The fields of its record that could not be read. */
  readonly invalid: readonly string[];
  readonly links: Html | readonly Html[];
  /** What the page says first. */
  readonly lead: Html;
}

/** undefined: it is not listed. */
function listedResource(
  { status, served, links }: StationDetail,
  id: string,
  nowMs: number,
): ShownResource | undefined {
  const located = served && locateResource(served.snapshot, id);
  if (served === undefined || located === undefined) return undefined;
  const { spec } = served;
  const { resource } = located;
  const { alertRules } = resource;
  const lead = html`${descriptionList('tiles', 'status', [
    { term: 'State', value: alertStateBadge(resource) },
    { term: 'Alert rules', value: alertRules === undefined ? unknown('not reported') : numberText(alertRules) },
    ...spec.resourceLabels.names.map((name) => ({
      term: labelHeading(name),
      value: labelTile(resourceLabel(resource, name)),
    })),
  ])}
<p id="data">Station ${stationLink(spec.name, RESOURCE_ROOT)}: ${stateBadge(status, nowMs)}, data from ${lastSuccess(status, nowMs)}${status.isBeforeReload ? ', before the reload' : ''}.</p>
${withheldNotes(served)}${descriptionList('lines', 'reasons', [
  { term: 'Product', value: productReason(spec, resource, served.snapshot) },
  { term: 'Coverage', value: coverageReason(spec, resource) },
])}`;
  return { ...located, links: linkList(linksOf(links, spec, resource)), lead };
}

/** As long as its removal is among the changes that are kept; otherwise throws a RequestError. */
function removedResource(
  { spec, served }: StationDetail,
  changes: readonly ObservedChange[],
  nowMs: number,
): ShownResource {
  const [latest] = changes;
  if (latest?.change !== 'removed') {
    const [words, path] =
      latest === undefined
        ? [spec.name, stationPath(spec.name)]
        : ['Its changes', changesPath(spec.name, { search: latest.resource.id })];
    throw new RequestError(404, served ? notListedText(served.snapshot) : NO_DATA_TEXT, { words, path });
  }
  const { atMs, resource } = latest;
  const labels = Object.entries(resource.labels ?? {});
  const lead = html`<p id="summary" class="summary warning">removed; not listed ${sinceText(atMs, nowMs)}</p>
<p>Station ${stationLink(spec.name, RESOURCE_ROOT)} had it in its last listing before. What follows is what was last known.</p>
${descriptionList(
  'lines',
  'last-known',
  labels.map(([name, value]) => ({ term: labelHeading(name), value: value || unknown('none') })),
)}`;
  return { resource, invalid: [], links: [], lead };
}

/** Only a complete listing shows that the station does not have a resource. */
function notListedText({ complete }: Snapshot): string {
  const known = complete
    ? 'The station has no resource with this ID.'
    : 'No listed resource has this ID, but the listing is not verified complete.';
  return `${known} It may have been removed, or not been listed yet: check again after the next refresh.\n`;
}

const NO_DATA_TEXT = 'The station has no data, so its resources are unknown.\n';

/** Changes of a resource that its page shows. */
const MAX_CHANGES = 20;

function ownChanges(changes: readonly ObservedChange[], spec: ResourceSpec, nowMs: number): Html {
  const shown = changes.slice(0, MAX_CHANGES);
  const path = changesPath(spec.name);
  const all = html`<p><a href="${RESOURCE_ROOT}${path}">All changes of the station</a></p>\n`;
  return html`<h2 id="changes">Changes</h2>
${shown.length === 0 ? html`<p>None among the latest changes of the station.</p>` : changeTable(`Changes of ${spec.name}`, shown, () => spec.states, nowMs)}
${all}`;
}

const RECORD_COLUMNS = Object.values<ResourceColumn>(RESOURCE_COLUMNS).filter(({ path }) => path !== undefined);

/** Every field of the record by its name in the API, with the value as parsed. */
function resourceFields(resource: Resource, invalid: readonly string[], nowMs: number): Html {
  const { sku, createdSeconds, state } = resource;
  const quantity = skuQuantity(sku);
  const detailed: Readonly<Record<string, Html | undefined>> = {
    sku:
      quantity &&
      html`${sku} <span class="quiet">(quantity ${numberText(quantity.value)}, unit ${quantity.unit})</span>`,
    state:
      state === '' || stateWord(state) === state ? undefined : html`${alertStateBadge(resource)} <code>${state}</code>`,
    create_time:
      createdSeconds === undefined
        ? undefined
        : html`${new Date(createdSeconds * 1000).toISOString()} <span class="quiet">(${momentText(createdSeconds * 1000, nowMs)})</span>`,
  };
  const rows = RECORD_COLUMNS.map(({ path = '', cell }) => {
    const isInvalid = invalid.some((name) => path === name || path.startsWith(`${name}.`));
    return html`<tr><th scope="row"><code>${path}</code></th><td>${valueCell(detailed[path] ?? cell(resource), isInvalid)}</td></tr>\n`;
  });
  return html`<table id="fields">
<caption class="hidden-text">Fields of the record</caption>
<thead><tr><th scope="col">Field</th><th scope="col">Value</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`;
}

/** In the size of text: at that of numbers a word may be wider than the tile. */
function labelTile(value: string): Html {
  return value === '' ? unknown('none') : html`<span class="text">${breakable(value)}</span>`;
}

/** An invalid resource type may still have a usable key or label. */
function valueCell(value: Html | CellValue, isInvalid: boolean): Html {
  if (value !== undefined && value !== null && value !== '')
    return typeof value === 'object' ? value : breakable(String(value));
  return isInvalid ? html`<span class="no">invalid</span>` : html`<span class="quiet">not reported</span>`;
}

/** Reasons for which a resource may be missing from the listing of its product. */
const MISSING_FROM_PRODUCTS: ReadonlySet<string> = new Set(['further_listing', 'rejected_records']);

/** The first configured product whose listing contains the resource; undefined: none is configured. */
function productReason({ products }: ResourceSpec, { product }: Resource, snapshot: Snapshot): Html | undefined {
  const { incompleteReasons, ignoresProduct } = snapshot;
  if (products.length === 0) return undefined;
  const names = products.join(', ');
  if (product !== '') return html`<code>${product}</code>: the first of ${names} whose listing contains it`;
  if (ignoresProduct) return html`unknown: the service ignores the filter <code>product</code>`;
  // A listing of a product with the same rejected records as the main one has their reason.
  const mayBeMissing = incompleteReasons.some(({ reason }) => MISSING_FROM_PRODUCTS.has(reason));
  return mayBeMissing
    ? html`unknown: in the listing of none of ${names}, and not all listings are verified complete`
    : html`none: in the listing of none of ${names}`;
}

/** Whether alert rules cover the resource, as the metrics count it. */
function coverageReason({ alertability }: ResourceSpec, { alertable, exemptBy, alertRules }: Resource): Html {
  if (exemptBy !== undefined) return html`exempt by <code>resource_labels[${exemptBy}]</code>`;
  if (alertable === false) return html`exempt: not in the listing with <code>enabled_alert=true</code>`;
  if (alertability && alertable === undefined)
    return html`unknown: not in the listing with <code>enabled_alert=true</code>, which is not verified complete`;
  if (alertRules === undefined) return html`unknown: its alert rules are not reported`;
  return html`${alertRules > 0 ? 'covered' : 'not covered'} by alert rules`;
}

function locateResource(
  { parts, invalid }: Snapshot,
  id: string,
): Pick<ShownResource, 'resource' | 'invalid'> | undefined {
  for (const [at, part] of parts.entries()) {
    const index = part.findIndex((resource) => resource.id === id);
    const resource = part[index];
    if (resource) return { resource, invalid: invalid[at]?.get(index) ?? [] };
  }
  return undefined;
}
