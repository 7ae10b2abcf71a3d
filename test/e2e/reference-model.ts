import type { StationMetrics } from './station-metrics.ts';

/** What a complete listing publishes beside its records. */
interface ListingOutcome {
  readonly reported?: number;
  readonly pages: number;
}

/** Not RFC 3339 timestamps, or before 1970. */
export const INVALID_TIMES = [
  '',
  'soon',
  '2024-05-01',
  '2024-02-30T00:00:00Z',
  '2024-05-01T12:00:00',
  '1969-12-31T23:59:59Z',
  '1714564800',
];

/**
 * The metrics of a snapshot of these records, without counters, products and alertability: an independent implementation of the documented
 * behaviour. `before`: those of the snapshot before, of which some are held.
 */
export function expectedData(
  records: readonly unknown[],
  { reported, pages }: ListingOutcome,
  before: StationMetrics = {},
): StationMetrics {
  const families = new Families();
  const fields = 'resource_type create_time sku state display_name alert_rules_count name gpu_model page.total'.split(
    ' ',
  );
  for (const field of fields) families.add('listing_invalid_fields', { field }, 0);
  // Fewer values than limits.label_values.
  for (const label of ['resource_type', 'state', 'gpu_model', 'unit']) families.add('resources_folded', { label }, 0);
  const rejected = records.filter((record) => idOf(record) === undefined).length;
  families.add('listing_complete', {}, rejected === 0 ? 1 : 0);
  for (const reason of ['rejected_records', 'total_mismatch', 'paging', 'further_listing']) {
    families.add('listing_incomplete', { reason }, reason === 'rejected_records' && rejected > 0 ? 1 : 0);
  }
  if (reported !== undefined) families.add('listing_reported_resources', {}, reported);
  families.add('listing_pages', {}, pages);
  families.add('listing_duplicate_resources', {}, 0);
  families.add('listing_rejected_resources', {}, rejected);
  for (const alert_state of ['firing', 'pending', 'inactive', 'unknown'])
    families.add('listing_resources', { alert_state }, 0);
  families.add('verified_resources', {}, firstById(records).size + rejected);
  for (const [labels, sum] of Object.entries(before['verified_sku_quantity'] ?? {}))
    families.add('verified_sku_quantity', JSON.parse(labels), rejected === 0 ? 0 : sum);
  const firedBefore = new Map(
    Object.keys(before['resource_firing'] ?? {}).map((labels) => [JSON.parse(labels).resource_id, JSON.parse(labels)]),
  );

  for (const [id, record] of firstById(records)) {
    const invalid = (field: string) => families.add('listing_invalid_fields', { field }, 1);
    const read = { ...readFields(record, invalid), id };
    const { type: resource_type, state, rules } = read;
    const group = { resource_type, product: '' };
    families.add('resources', { ...group, ...stateLabels(state) }, 1);
    families.add('listing_resources', { alert_state: alertStateOf(state) }, 1);
    families.add('coverable_resources', group, 1);
    families.add('resources_with_unknown_alert_coverage', group, rules === undefined ? 1 : 0);
    if (rules !== undefined) {
      families.add('alert_rules', group, rules);
      families.add('resources_with_alert_rules', group, rules > 0 ? 1 : 0);
      families.add('resources_without_alert_rules', group, rules === 0 ? 1 : 0);
      families.add('uncovered_resources_with_unknown_age', group, rules === 0 && read.created === undefined ? 1 : 0);
      if (rules === 0 && read.created !== undefined)
        families.lower('oldest_uncovered_created_timestamp_seconds', group, read.created);
    }
    if (read.quantity) {
      const labels = { gpu_model: read.gpu, unit: read.quantity.unit };
      families.add('sku_quantity', { ...group, ...labels }, read.quantity.value);
      if (rejected === 0) families.add('verified_sku_quantity', labels, read.quantity.value);
    }
    addResource(families, read, firedBefore.delete(id));
  }
  // A record that was rejected may be that of a resource which still fires.
  const held = rejected > 0 ? [...firedBefore.values()] : [];
  for (const labels of held) families.add('resource_firing', labels, 1);
  const unknown = families.all['listing_resources']?.[JSON.stringify({ alert_state: 'unknown' })] ?? 0;
  const firing = Object.keys(families.all['resource_firing'] ?? {}).length;
  const sets = { all: firstById(records).size + rejected + held.length, firing, unknown, missing: rejected };
  for (const [set, size] of Object.entries(sets)) families.add('last_known_resources', { set }, size);
  return families.all;
}

interface ReadResource extends ReturnType<typeof readFields> {
  readonly id: string;
}

function addResource(families: Families, r: ReadResource, hasFired: boolean): void {
  const identity = { resource_id: r.id, name: r.name };
  const described = {
    display_name: r.displayName,
    resource_type: r.type,
    product: '',
    sku: r.sku,
    gpu_model: r.gpu,
  };
  families.add('resource_info', { ...identity, ...described, alertable: '' }, 1);
  const alertState = alertStateOf(r.state);
  if (alertState === 'firing' || (hasFired && alertState === 'unknown')) {
    const { sku: _sku, gpu_model: _model, ...owned } = described;
    families.add('resource_firing', { ...identity, ...owned }, 1);
  }
  if (r.state !== '') families.add('resource_state', { ...identity, ...stateLabels(r.state) }, 1);
  if (r.rules !== undefined) families.add('resource_alert_rules', identity, r.rules);
  if (r.created !== undefined) families.add('resource_created_timestamp_seconds', identity, r.created);
  if (r.quantity) families.add('resource_sku_quantity', { ...identity, unit: r.quantity.unit }, r.quantity.value);
}

/** By the words of the state, without `states` in the configuration. */
function alertStateOf(state: string): string {
  const [, meaning = 'unknown'] =
    /(firing)/i.exec(state) ?? /(pending)/i.exec(state) ?? /(inactive)/i.exec(state) ?? [];
  return meaning.toLowerCase();
}

function stateLabels(state: string): Record<string, string> {
  return { state, alert_state: alertStateOf(state) };
}

class Families {
  readonly all: StationMetrics = {};

  add(family: string, labels: Record<string, string>, value: number): void {
    this.all[family] ??= {};
    const samples = this.all[family];
    const key = JSON.stringify(labels);
    samples[key] = (samples[key] ?? 0) + value;
  }

  lower(family: string, labels: Record<string, string>, value: number): void {
    const key = JSON.stringify(labels);
    this.all[family] = { ...this.all[family], [key]: Math.min(value, this.all[family]?.[key] ?? value) };
  }
}

function idOf(record: unknown): string | undefined {
  const id = isObject(record) ? record['resource_id'] : undefined;
  return typeof id === 'string' && id !== '' ? labelValue(id) : undefined;
}

function firstById(records: readonly unknown[]): Map<string, Record<string, unknown>> {
  const found = new Map<string, Record<string, unknown>>();
  for (const record of records) {
    const id = idOf(record);
    if (id !== undefined && !found.has(id)) found.set(id, record as Record<string, unknown>);
  }
  return found;
}

function readFields(record: Record<string, unknown>, invalid: (field: string) => void) {
  const text = (field: string, value: unknown = record[field]) => {
    if (typeof value === 'string') return labelValue(value);
    if (value !== undefined && value !== null) invalid(field);
    return '';
  };
  const number = (field: string, read: (value: unknown) => number | undefined) => {
    const value = record[field] ?? undefined;
    const found = value === undefined ? undefined : read(value);
    if (value !== undefined && found === undefined) invalid(field);
    return found;
  };
  const sku = text('sku');
  const state = record['state'];
  return {
    ...typeOf(record['resource_type'], invalid),
    name: text('name'),
    displayName: text('display_name'),
    state: text('state', typeof state === 'number' ? `${state}` : state),
    sku,
    quantity: quantityOf(sku),
    gpu: text('gpu_model'),
    rules: number('alert_rules_count', ruleCount),
    created: number('create_time', (time) =>
      typeof time === 'string' && !INVALID_TIMES.includes(time) ? Date.parse(time) / 1000 : undefined,
    ),
  };
}

/** Counted once, even when both parts are invalid. */
function typeOf(value: unknown, invalid: (field: string) => void): { type: string } {
  if (value === undefined || value === null) return { type: '' };
  const parts = isObject(value) ? [value['key'] ?? '', value['label'] ?? ''] : [undefined, undefined];
  if (parts.some((part) => typeof part !== 'string')) invalid('resource_type');
  const [key] = parts;
  return { type: typeof key === 'string' ? labelValue(key) : '' };
}

function quantityOf(sku: string): { value: number; unit: string } | undefined {
  const [quantity = '', unit = '', ...more] = sku.split(' ');
  if (more.length > 0 || unit === '' || /\s/.test(unit) || !/^[0-9]+([.][0-9]+)?$/.test(quantity)) return undefined;
  const value = Number.parseFloat(quantity);
  const bytes = BYTES_PER_UNIT[unit];
  return bytes === undefined ? { value, unit } : { value: value * bytes, unit: 'bytes' };
}

const BYTES_PER_UNIT: Record<string, number> = {
  ...{ KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, PB: 1e15 },
  ...{ KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, PiB: 2 ** 50 },
};

function ruleCount(value: unknown): number | undefined {
  if (typeof value === 'string') return /^[0-9]+$/.test(value) ? Number.parseInt(value, 10) : undefined;
  return typeof value === 'number' && value >= 0 && Math.floor(value) === value ? value : undefined;
}

/** Truncated to 1,024 bytes at a character boundary. */
function labelValue(text: string): string {
  let kept = '';
  let bytes = 0;
  for (const character of text) {
    const valid = /^\p{Surrogate}$/u.test(character) ? '\ufffd' : character;
    bytes += new TextEncoder().encode(valid).length;
    if (bytes > 1024) break;
    kept += valid;
  }
  return kept;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
