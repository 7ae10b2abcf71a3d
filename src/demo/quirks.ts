import type { Effect, Envelope } from './effect.ts';
import type { Quirk } from './faults.ts';
import { between, type Random } from './random.ts';

type QuirkOf<Kind extends Quirk['kind']> = Extract<Quirk, { readonly kind: Kind }>;

export const quirkEffects: { readonly [Kind in Quirk['kind']]: (quirk: QuirkOf<Kind>, random: Random) => Effect } = {
  nullPage: () => ({ onEnvelope: (envelope) => ({ ...envelope, page: null }) }),
  missingPage: () => ({ onEnvelope: ({ resources }) => ({ resources }) }),
  textNumbers: () => ({ onEnvelope: (envelope) => onPage(onRecords(envelope, textRules), textNumbers) }),
  pageCap: ({ size }) => ({ onAsked: (asked) => ({ ...asked, size: Math.min(asked.size, size) }) }),
  randomCap: (_, random) => ({ onAsked: (asked) => ({ ...asked, size: between(random, 1, asked.size) }) }),
  ignoreOffset: () => ({ onAsked: (asked) => ({ ...asked, offset: 0 }) }),
  ignoreSize: ({ size = Number.MAX_SAFE_INTEGER }) => ({ onAsked: (asked) => ({ ...asked, size }) }),
  ignoreFilter: ({ name }) => ({
    onAsked({ filters: { [name]: _, ...filters }, ...asked }) {
      return { ...asked, filters };
    },
  }),
  totalMoves: ({ by = 1 }) => ({
    onRows: ({ records, total }, { offset, size }) => ({ records, total: total + by * Math.ceil(offset / size) }),
  }),
  totalLies: ({ delta }) => ({ onRows: ({ records, total }) => ({ records, total: total + delta }) }),
  totalIs: ({ total }) => ({ onEnvelope: (envelope) => onPage(envelope, (page) => ({ ...page, total })) }),
  omitTotal: () => ({ onEnvelope: (envelope) => onPage(envelope, ({ total: _, ...page }) => page) }),
  rowShift: ({ rows, keepTotal = false }) => ({
    onRows({ records, total }, { offset }) {
      if (offset === 0) return { records, total };
      return { records: [...rows, ...records], total: keepTotal ? total : total + rows.length };
    },
  }),
  duplicate: ({ every = 1, counted = false }) => ({
    onRows({ records, total }) {
      const repeated = records.flatMap((record, index) => ((index + 1) % every === 0 ? [record, record] : [record]));
      return { records: repeated, total: counted ? total + repeated.length - records.length : total };
    },
  }),
  missingIds: ({ every }) => ({
    onRows: ({ records, total }) => ({
      records: records.map((record, index) => ((index + 1) % every === 0 ? withoutId(record) : record)),
      total,
    }),
  }),
  nullResources: () => ({
    onEnvelope: (envelope) => (envelope.resources?.length === 0 ? { ...envelope, resources: null } : envelope),
  }),
  numericState: ({ state }) => ({ onEnvelope: (envelope) => onRecords(envelope, (record) => ({ ...record, state })) }),
};

function onPage(envelope: Envelope, change: (page: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>): Envelope {
  return envelope.page ? { ...envelope, page: change(envelope.page) } : envelope;
}

function onRecords({ resources, ...rest }: Envelope, change: (record: object) => object): Envelope {
  const changed = resources?.map((record) => (isObject(record) ? change(record) : record));
  return { ...rest, resources: changed ?? null };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textNumbers(values: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeof value === 'number' ? String(value) : value]));
}

function withoutId(record: unknown): unknown {
  return isObject(record) ? { ...record, resource_id: undefined } : record;
}

function textRules(record: object): object {
  return 'alert_rules_count' in record ? { ...record, ...textNumbers({ alert_rules_count: record.alert_rules_count }) } : record;
}
