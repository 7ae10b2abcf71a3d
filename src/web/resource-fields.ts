import type { ReadField } from '../station/listing.ts';
import type { Resource } from '../station/resource.ts';
import { type Html, html } from './html.ts';
import { momentText, numberText } from './words.ts';

/** Every field of a record by its name on the wire, with what was read from it. */
export function resourceFields(resource: Resource, invalid: readonly ReadField[], nowMs: number): Html {
  const { id, name, displayName, type, typeLabel, state, sku, quantity, gpuModel, alertRules, createdSeconds } = resource;
  const amount = quantity && html`${sku} <span class="quiet">(quantity ${numberText(quantity.value)}, unit ${quantity.unit})</span>`;
  const created = createdSeconds === undefined ? undefined : creation(createdSeconds * 1000, nowMs);
  const row = (field: string, counted: ReadField | undefined, value: Html | string | number | undefined) =>
    html`<tr><th scope="row"><code>${field}</code></th><td>${shown(value, counted !== undefined && invalid.includes(counted))}</td></tr>\n`;
  return html`<table id="fields">
<caption class="hidden-text">Fields of the record</caption>
<thead><tr><th scope="col">Field</th><th scope="col">As read</th></tr></thead>
<tbody>
${[
  row('resource_id', undefined, id),
  row('name', 'name', name),
  row('display_name', 'display_name', displayName),
  row('resource_type.key', 'resource_type', type),
  row('resource_type.label', 'resource_type', typeLabel),
  row('state', 'state', state),
  row('sku', 'sku', amount ?? sku),
  row('gpu_model', 'gpu_model', gpuModel),
  row('alert_rules_count', 'alert_rules_count', alertRules),
  row('create_time', 'create_time', created),
]}</tbody>
</table>`;
}

function creation(atMs: number, nowMs: number): Html {
  return html`${new Date(atMs).toISOString()} <span class="quiet">(${momentText(atMs, nowMs)})</span>`;
}

/** Of the two parts of the resource type, one may be usable. */
function shown(value: Html | string | number | undefined, isInvalid: boolean): Html {
  if (value !== undefined && value !== '') return html`${value}`;
  return isInvalid ? html`<span class="no">not usable as the service gave it</span>` : html`<span class="quiet">not given, or empty</span>`;
}
