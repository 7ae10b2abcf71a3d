import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Filters, type SourceEntry, selectRecords } from '../../lab/simulator/listing.ts';
import { Exposition } from '../../src/exposition/exposition.ts';
import { CompressorPool } from '../../src/exposition/segment.ts';
import type { Listing, StationSource } from '../../src/model/listing.ts';
import { ResourceCollector } from '../../src/resources/collector.ts';
import { StationEncoder } from '../../src/resources/encoder.ts';
import { SNAPSHOT_FAMILIES } from '../../src/resources/families.ts';
import { ResourceLabels } from '../../src/resources/resource-labels.ts';
import { countOwners, coverageRows } from '../../src/status/owners.ts';
import { OWNER_COLUMNS } from '../../src/status/station-columns.ts';
import { AnchoredRegExp } from '../../src/text/anchored-regexp.ts';
import { fieldsOf } from '../../src/text/records.ts';
import { viewOf } from '../app/station-view.ts';
import { parseExposition } from '../exposition/parse-exposition.ts';
import { listingOf, ManualClock, specOf } from '../stations/fixtures.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = 1_700_000_000_000;
const WITHIN_MS = 7 * DAY_MS;
/** When the youngest resource that is overdue at the start was created. */
const LIMIT_MS = START_MS - WITHIN_MS;

interface WorldRecord {
  readonly resource_type?: { readonly key: string };
  readonly resource_id: string;
  readonly create_time?: unknown;
  readonly alert_rules_count?: unknown;
  readonly display_name: string;
}

interface World {
  readonly entries: readonly (SourceEntry & { readonly record: WorldRecord })[];
  readonly alertability: boolean;
  /** What the listing of the alertable resources lacks makes it incomplete. */
  readonly isAlertableComplete: boolean;
  readonly products: readonly string[];
  readonly filters: object;
  readonly zeroIfAbsent: boolean;
  readonly withinMs: number | undefined;
  /** The clock of the exporter at each refresh. */
  readonly times: readonly number[];
}

const iso = (ms: number) => new Date(ms).toISOString();
const ABSENT = Symbol('absent');
const oneOf = <T>(...values: readonly T[]) => fc.constantFrom(...values);
/** Present unless the value stands for an absent field. */
const present = (name: string, value: unknown) => (value === ABSENT ? {} : { [name]: value });

const entry = fc
  .record({
    type: oneOf('type.a', 'type.b', undefined),
    created: fc.oneof(
      fc.integer({ min: LIMIT_MS - 20 * DAY_MS, max: START_MS + 2 * DAY_MS }).map(iso),
      // Where a millisecond decides, and where clocks differ.
      oneOf(LIMIT_MS - 1, LIMIT_MS, LIMIT_MS + 1, LIMIT_MS + HOUR_MS, START_MS + 60_000, START_MS + 3 * DAY_MS).map(
        iso,
      ),
      oneOf<unknown>(ABSENT, null, 'soon', '2024-02-30T00:00:00Z', 12),
    ),
    rules: oneOf<unknown>(0, 0, 0, '0', 1, '3', ABSENT, null, 'many', -1),
    alertable: fc.boolean(),
    product: oneOf('', 'p', 'q'),
    displayName: oneOf('web-1', 'db-1'),
    team: oneOf('a', 'b', ''),
    isExempt: oneOf(false, false, false, true),
  })
  .map(({ type, created, rules, alertable, product, displayName, team, isExempt }) => ({
    alertable,
    product,
    tag: `${team}${isExempt ? '-exempt' : ''}`,
    record: {
      ...(type !== undefined && { resource_type: { key: type } }),
      ...present('create_time', created),
      ...present('alert_rules_count', rules),
      display_name: displayName,
    },
  }));

const world: fc.Arbitrary<World> = fc
  .record({
    entries: fc.array(entry, { maxLength: 8 }),
    alertability: fc.boolean(),
    isAlertableComplete: fc.boolean(),
    products: oneOf([], ['p'], ['p', 'q']),
    filters: oneOf(
      {},
      {},
      { resource_type: 'type.a' },
      { resource_display_name_prefix: 'web-' },
      { enabled_alert: true },
    ),
    zeroIfAbsent: fc.boolean(),
    withinMs: oneOf(WITHIN_MS, WITHIN_MS, WITHIN_MS, 0, undefined),
    times: fc.array(
      fc
        .oneof(oneOf(0, 1, HOUR_MS, HOUR_MS + 1), fc.integer({ min: -3 * DAY_MS, max: 9 * DAY_MS }))
        .map((ms) => START_MS + ms),
      { minLength: 2, maxLength: 4 },
    ),
  })
  .map(({ entries, ...settings }) => ({
    ...settings,
    entries: entries.map(({ tag, record, ...rest }, at) => ({
      ...rest,
      record: { ...record, resource_id: `r${at}-${tag}` } as WorldRecord,
    })),
  }));

/** How the labels and exemptions of the configuration name them. */
const LABELS = new ResourceLabels([
  { match: { resource_id: new AnchoredRegExp('.*-exempt') }, alertable: false, index: 0 },
  { match: { resource_id: new AnchoredRegExp('r\\d+-a.*') }, labels: { team: 'a' } },
  { match: { resource_id: new AnchoredRegExp('r\\d+-b.*') }, labels: { team: 'b' } },
]);

/** Reads the records as a refresh does. Its parts stay the same arrays, as those of pages that did not change and are not parsed again. */
function sourceOf({ entries, isAlertableComplete }: World): StationSource {
  const known = new Map<string, Listing<unknown>>();
  return {
    lister: (kind) => async (filters) => {
      const key = `${kind.name} ${JSON.stringify(filters)}`;
      const lists = 'enabled_alert' in filters && kind.name === 'ids' && !isAlertableComplete;
      const wanted = Object.fromEntries(
        Object.entries(filters).map(([name, value]) => [name, [value].flat().map(String)]),
      );
      if (!known.has(key)) {
        const records = selectRecords(entries, wanted as Filters);
        const rows = records.map((record) => kind.read(structuredClone(record), () => undefined)?.row);
        known.set(key, listingOf(rows, lists ? { complete: false, addsUp: false } : {}));
      }
      return known.get(key) as Listing<never>;
    },
  };
}

interface Group {
  covered: number;
  uncovered: number;
  unknown: number;
  exempt: number;
  overdue: number;
  unknownAge: number;
  oldest: number;
}

/** By type, product and team as JSON: an independent implementation of what the documentation says. */
function modelOf(
  { alertability, products, filters, zeroIfAbsent, withinMs = Infinity, ...rest }: World,
  nowMs: number,
) {
  const groups = new Map<string, Group>();
  for (const { record, product, alertable } of rest.entries) {
    const type = record.resource_type?.key ?? '';
    const isListed =
      (!('resource_type' in filters) || type === 'type.a') &&
      (!('resource_display_name_prefix' in filters) || record.display_name === 'web-1') &&
      (!('enabled_alert' in filters) || alertable);
    if (!isListed) continue;
    const [, team] = /^r\d+-([ab]?)/.exec(record.resource_id) ?? [];
    const key = JSON.stringify([type, products.includes(`${product}`) ? product : '', team]);
    const group = groups.get(key) ?? {
      covered: 0,
      uncovered: 0,
      unknown: 0,
      exempt: 0,
      overdue: 0,
      unknownAge: 0,
      oldest: Infinity,
    };
    groups.set(key, group);
    const isKnownAlertable = !alertability || alertable || rest.isAlertableComplete || 'enabled_alert' in filters;
    const isExempt = record.resource_id.endsWith('-exempt') || (alertability && isKnownAlertable && !alertable);
    const rules = 'alert_rules_count' in record ? record.alert_rules_count : zeroIfAbsent ? 0 : undefined;
    if (isExempt) group.exempt += 1;
    else if (!isKnownAlertable || ![0, '0', 1, '3'].includes(rules as string | number)) group.unknown += 1;
    else if (Number(rules) > 0) group.covered += 1;
    else {
      group.uncovered += 1;
      const created = /^20\d\d-.*\.\d{3}Z$/.test(`${record.create_time}`)
        ? Date.parse(`${record.create_time}`)
        : undefined;
      if (created === undefined) group.unknownAge += 1;
      else {
        group.oldest = Math.min(group.oldest, created);
        if (nowMs - created > withinMs) group.overdue += 1;
      }
    }
  }
  return groups;
}

/** undefined: unknown, or without a limit. */
function overdueOf({ covered, uncovered, unknown, unknownAge, overdue }: Group, withinMs: number | undefined) {
  const known = covered + uncovered - unknownAge;
  return withinMs === undefined || (known === 0 && unknown + unknownAge > 0) ? undefined : overdue;
}

function samplesOf(groups: Map<string, Group>, withinMs: number | undefined) {
  const samples: Record<string, number> = {};
  for (const [key, group] of groups) {
    const overdue = overdueOf(group, withinMs);
    if (overdue !== undefined) samples[`overdue_resources ${key}`] = overdue;
    if (group.covered + group.uncovered > 0 || group.unknown === 0)
      samples[`uncovered_resources_with_unknown_age ${key}`] = group.unknownAge;
    if (group.oldest < Infinity) samples[`oldest_uncovered_created_timestamp_seconds ${key}`] = group.oldest / 1000;
  }
  return samples;
}

const FAMILIES = [
  'overdue_resources',
  'uncovered_resources_with_unknown_age',
  'oldest_uncovered_created_timestamp_seconds',
];

const EXPOSITION = new Exposition(
  FAMILIES.flatMap((name) => Object.values(SNAPSHOT_FAMILIES).filter((family) => family.name.endsWith(name))),
  new Set(),
);

const COMPRESSORS = new CompressorPool(1);

class SetClock extends ManualClock {
  nowMs = START_MS;
  override readonly wallMs = () => this.nowMs;
}

function collectorOf(station: World) {
  const { alertability, products, filters, zeroIfAbsent, withinMs } = station;
  const spec = specOf({
    alertability,
    products,
    filters,
    resourceLabels: LABELS,
    coverageWithinMs: withinMs,
    ...(zeroIfAbsent && { absentFields: { alert_rules_count: 0 } }),
  });
  const clock = new SetClock();
  const collector = new ResourceCollector(spec, {
    source: sourceOf(station),
    clock,
    encoder: new StationEncoder(spec, COMPRESSORS),
  });
  const refresh = async (nowMs: number) => {
    clock.nowMs = nowMs;
    const { served, commit } = await collector.collect({
      signal: new AbortController().signal,
    } as Parameters<typeof collector.collect>[0]);
    commit();
    const pieces: Uint8Array[] = [];
    const body = EXPOSITION.stationBody([{ ...viewOf([]), spec, served } as never], 'text');
    for await (const piece of body.plain()) pieces.push(piece);
    return { data: served.data, families: parseExposition(Buffer.concat(pieces).toString()) };
  };
  return { spec, refresh };
}

describe('overdue resources', () => {
  it('are those of a reference model in 1,000 random worlds, at any time of an unchanged listing', async () => {
    let overdue = 0;
    await fc.assert(
      fc.asyncProperty(world, async (station) => {
        const { refresh, spec } = collectorOf(station);
        for (const nowMs of station.times) {
          const { data, families } = await refresh(nowMs);
          const model = modelOf(station, nowMs);
          const published: Record<string, number> = {};
          for (const family of FAMILIES)
            for (const { labels, value } of families.get(`telemetry_station_${family}`)?.samples ?? []) {
              const { resource_type, product, team } = labels;
              published[`${family} ${JSON.stringify([resource_type, product, team])}`] = value;
            }
          expect(published).toEqual(samplesOf(model, station.withinMs));
          const owners = await countOwners([{ spec, aggregates: data.aggregates }], ['team'], 'with types');
          const rows = coverageRows(owners, []).map((row) => fieldsOf(OWNER_COLUMNS, row) as Record<string, unknown>);
          for (const row of rows) {
            const position = row['label'] === 'team' ? 2 : 0;
            const ofRow = [...model]
              .filter(([key]) => JSON.parse(key)[position] === row['value'])
              .map(([, group]) => group);
            const sum = (count: keyof Group) => ofRow.reduce((total, group) => total + group[count], 0);
            const oldest = Math.min(...ofRow.map((group) => group.oldest));
            const total = Object.fromEntries(
              Object.keys(ofRow[0] as Group).map((name) => [name, sum(name as keyof Group)]),
            );
            const expected = overdueOf(total as unknown as Group, station.withinMs);
            expect(row).toMatchObject({
              exempt_resources: sum('exempt'),
              resources_with_unknown_alert_coverage: sum('unknown'),
              uncovered_resources_with_unknown_age:
                sum('covered') + sum('uncovered') === 0 && sum('unknown') > 0 ? null : sum('unknownAge'),
              overdue_resources: expected ?? null,
              oldest_uncovered_created: oldest < Infinity ? iso(oldest) : null,
            });
            overdue += expected ?? 0;
          }
        }
      }),
      { numRuns: 1000 },
    );
    expect(overdue).toBeGreaterThan(1000);
  });
});
