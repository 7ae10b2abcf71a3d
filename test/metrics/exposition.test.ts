import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Exposition, OPENMETRICS_END } from '../../src/metrics/exposition.ts';
import { FAMILY_NAMES, STATION_FAMILIES } from '../../src/metrics/family-names.ts';
import { OwnMetrics } from '../../src/metrics/own-metrics.ts';
import { type EncodingOptions, encodePublication, type StationText } from '../../src/metrics/station-text.ts';
import { churnAfter, NO_CHURN } from '../../src/station/churn.ts';
import { labelText } from '../../src/station/label-text.ts';
import type { Resource } from '../../src/station/resource.ts';
import type { Snapshot } from '../../src/station/snapshot.ts';
import type { StationSpec } from '../../src/station/spec.ts';
import type { Health, StationView } from '../../src/station/station-cache.ts';
import { resourceOf, snapshotOf, specOf } from '../station/fixtures.ts';
import { parseExposition, valuesOf } from './parse-exposition.ts';

const everything: EncodingOptions = { perResource: true, maxResources: 100_000, disabled: new Set() };
const healthy: Health = { lastAttemptMs: 1_700_000_060_250, lastSuccessMs: 1_700_000_060_250, durationMs: 1250, failure: undefined };
const failing: Health = {
  ...healthy,
  lastAttemptMs: 1_700_000_120_000,
  durationMs: 10_000,
  failure: { reason: 'timeout', message: '', error: undefined },
};

async function viewOf(
  spec: Partial<StationSpec>,
  snapshot: Snapshot | undefined,
  health = healthy,
  options = everything,
): Promise<StationView<StationText>> {
  const whole = specOf(spec);
  if (!snapshot) return { spec: whole, health: { ...health }, served: undefined };
  const publication = { spec: whole, snapshot, churn: churnAfter(NO_CHURN, undefined, snapshot) };
  return { spec: whole, health: { ...health }, served: { publication, form: await encodePublication(publication, options) } };
}

const textOf = (views: StationView<StationText>[], format: 'text' | 'openmetrics' = 'text', options = everything) =>
  Buffer.concat(new Exposition(options).stations(views, format)).toString();

const fleet = [
  resourceOf('i-1', {
    type: 'resource_type.compute.aec2',
    typeLabel: 'Instance',
    product: 'product.acp',
    alertable: true,
    sku: '8 GPU',
    quantity: { value: 8, unit: 'GPU' },
    gpuModel: 'N4lS',
    alertRules: 0,
  }),
  resourceOf('i-2', {
    type: 'resource_type.compute.aec2',
    typeLabel: 'Instance',
    product: 'product.acp',
    alertable: true,
    sku: '4 GPU',
    quantity: { value: 4, unit: 'GPU' },
    gpuModel: 'N4lS',
    alertRules: 5,
    state: 'ALERTSTATE_FIRING',
  }),
  resourceOf('i-3', { type: 'resource_type.compute.aec2', alertable: false, sku: 'custom', alertRules: 0 }),
  resourceOf('v-1', {
    type: 'resource_type.storage.volume',
    typeLabel: 'Volume "fast"',
    displayName: 'C:\\data\nnext',
    alertable: false,
    alertRules: undefined,
    createdSeconds: undefined,
    sku: '1.5 TiB',
    quantity: { value: 1.5, unit: 'TiB' },
  }),
  resourceOf('x-1', {
    name: '',
    displayName: '',
    type: '',
    typeLabel: '',
    state: '',
    alertable: undefined,
    alertRules: undefined,
    createdSeconds: undefined,
  }),
];

describe('Exposition', () => {
  it('publishes a fleet as the golden files say', async () => {
    const views = [
      await viewOf(
        { name: 'prod', alertability: true, products: ['product.acp'], labels: { team: 'storage', zone_name: 'é "1"' } },
        snapshotOf(fleet, { pages: 3, duplicates: 1, rejected: 2, complete: false, reportedTotal: 8 }),
      ),
      await viewOf({ name: 'empty' }, snapshotOf([], { reportedTotal: undefined })),
      await viewOf({ name: 'gone' }, undefined, failing),
      await viewOf({ name: 'new' }, undefined, {
        lastAttemptMs: undefined,
        lastSuccessMs: undefined,
        durationMs: undefined,
        failure: undefined,
      }),
    ];
    await expect(textOf(views)).toMatchFileSnapshot('../golden/stations.prom');
    await expect(textOf(views, 'openmetrics') + OPENMETRICS_END.toString()).toMatchFileSnapshot('../golden/stations.openmetrics.txt');
  });

  it('is read back by an independent parser, each family once', async () => {
    const families = parseExposition(textOf([await viewOf({}, snapshotOf(fleet)), await viewOf({ name: 'b' }, snapshotOf(fleet))]));
    for (const [name, { help, type }] of families) {
      const row = STATION_FAMILIES.find((family) => family.name === name);
      expect({ help, type }).toEqual({ help: row?.help, type: row?.type });
    }
    expect(families.get('telemetry_station_resource_info')?.samples).toHaveLength(10);
  });

  it('differs between the formats in the lines above counters alone', async () => {
    const views = [await viewOf({}, snapshotOf(fleet))];
    const expected = textOf(views).replace(/^(# (?:HELP|TYPE) \S+?)_total /gm, '$1 ');
    expect(textOf(views, 'openmetrics')).toBe(expected);
    expect(expected).toContain('# TYPE telemetry_station_resources_added counter\ntelemetry_station_resources_added_total{');
  });

  it('leaves out disabled families', async () => {
    const options = {
      ...everything,
      disabled: new Set(['telemetry_station_resource_state', 'telemetry_station_resources', 'telemetry_station_info']),
    };
    const families = parseExposition(textOf([await viewOf({}, snapshotOf(fleet), healthy, options)], 'text', options));
    expect([...families.keys()].filter((name) => options.disabled.has(name))).toEqual([]);
    expect(families.has('telemetry_station_up')).toBe(true);
  });

  it('leaves out the series of single resources when they are not wanted', async () => {
    const options = { ...everything, perResource: false };
    const view = await viewOf({}, snapshotOf(fleet), healthy, options);
    expect(textOf([view])).not.toContain('resource_id=');
    expect(view.served?.form.withheld).toBe(0);
  });

  it('withholds them above max_resources, counts them, and keeps the aggregates exact', async () => {
    const all = await viewOf({}, snapshotOf(fleet));
    const some = await viewOf({}, snapshotOf(fleet), healthy, { ...everything, maxResources: 4 });
    expect(textOf([some])).not.toContain('resource_id=');
    expect(some.served?.form.withheld).toBe(18);
    expect((all.served?.form.series ?? 0) - (some.served?.form.series ?? 0)).toBe(18);
    const sum = Object.values(
      valuesOf(parseExposition(textOf([some])), 'telemetry_station_resources', 'resource_type', 'product', 'state'),
    ).reduce((a, b) => a + b, 0);
    expect(sum).toBe(5);
    const exactly = await viewOf({}, snapshotOf(fleet), healthy, { ...everything, maxResources: 5 });
    expect(exactly.served?.form.withheld).toBe(0);
  });

  it('encodes more resources than one slice holds, each once and in order', async () => {
    const many = Array.from({ length: 1234 }, (_, index) => resourceOf(`r${index}`));
    const families = parseExposition(textOf([await viewOf({}, snapshotOf(many))]));
    expect(families.get('telemetry_station_resource_info')?.samples.map(({ labels }) => labels['resource_id'])).toEqual(
      many.map(({ id }) => id),
    );
  });

  it('counts unwatched resources among the alertable ones where that is known', async () => {
    const unwatched = async (alertability: boolean) =>
      valuesOf(
        parseExposition(textOf([await viewOf({ alertability }, snapshotOf(fleet))])),
        'telemetry_station_resources_without_alert_rules',
        'resource_type',
        'product',
      );
    expect(await unwatched(true)).toEqual({ 'resource_type.compute.aec2|product.acp': 1, 'resource_type.compute.aec2|': 0 });
    expect(await unwatched(false)).toEqual({ 'resource_type.compute.aec2|product.acp': 1, 'resource_type.compute.aec2|': 1 });
  });

  it('gives any resources back exactly, whatever their texts, and all families add up', async () => {
    const text = fc
      .oneof(
        fc.string({ unit: 'binary' }),
        fc.constantFrom('__proto__', 'a\nb', '"', '\\', '\\n', '}', ',', ' # {', 'x'.repeat(1100), '名'.repeat(400)),
      )
      .map(labelText);
    const arbitrary: fc.Arbitrary<Resource> = fc.record({
      ...{
        id: text.filter((id) => id !== ''),
        name: text,
        displayName: text,
        type: fc.oneof(text, fc.constant('t')),
        typeLabel: text,
        state: fc.oneof(text, fc.constant('I')),
        sku: text,
        gpuModel: text,
        product: text,
      },
      quantity: fc.option(fc.record({ value: fc.double({ min: 0, max: 1e6, noNaN: true }), unit: text }), { nil: undefined }),
      alertRules: fc.option(fc.nat(), { nil: undefined }),
      createdSeconds: fc.option(fc.double({ min: 0, max: 1e11, noNaN: true }), { nil: undefined }),
      alertable: fc.option(fc.boolean(), { nil: undefined }),
    });
    const resources = fc.uniqueArray(arbitrary, { selector: ({ id }) => id, maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(resources, text, async (list, station) => {
        const families = parseExposition(textOf([await viewOf({ name: station, alertability: true }, snapshotOf(list))]));
        const byId = (family: string) => new Map(families.get(family)?.samples.map((sample) => [sample.labels['resource_id'], sample]));
        const [info, state, rules, created, quantity] = ['info', 'state', 'alert_rules', 'created_timestamp_seconds', 'sku_quantity'].map(
          (name) => byId(`telemetry_station_resource_${name}`),
        );
        expect(info?.size ?? 0).toBe(list.length);
        for (const r of list) {
          const identity = { station, resource_id: r.id, name: r.name };
          const described = {
            display_name: r.displayName,
            resource_type: r.type,
            product: r.product,
            sku: r.sku,
            gpu_model: r.gpuModel,
            alertable: String(r.alertable ?? ''),
          };
          expect({ ...info?.get(r.id)?.labels }).toEqual({ ...identity, ...described });
          expect(state?.get(r.id)?.labels['state'] ?? '').toBe(r.state);
          expect(rules?.get(r.id)?.value).toBe(r.alertRules);
          expect(created?.get(r.id)?.value).toBe(r.createdSeconds);
          expect(quantity?.get(r.id)?.value).toBe(r.quantity?.value);
          expect(quantity?.get(r.id)?.labels['unit']).toBe(r.quantity?.unit);
        }
        const sum = (family: string) => (families.get(family)?.samples ?? []).reduce((total, { value }) => total + value, 0);
        expect(sum('telemetry_station_resources')).toBe(list.length);
        expect(sum('telemetry_station_alert_rules')).toBe(list.reduce((total, r) => total + (r.alertRules ?? 0), 0));
        expect(sum('telemetry_station_alertable_resources')).toBe(list.filter((r) => r.alertable).length);
        expect(sum('telemetry_station_resources_without_alert_rules')).toBe(list.filter((r) => r.alertable && r.alertRules === 0).length);
      }),
    );
  });
});

describe('OwnMetrics', () => {
  const build = { version: '1.2.3', revision: 'abc', nodeVersion: 'v20.0.0' };
  const own = () => new OwnMetrics(build, { ordinal: 1, total: 3 }, false);

  it('has every own family of the catalogue, with each label', async () => {
    const metrics = own();
    metrics.upstream('main');
    metrics.reloaded(true, 1_700_000_000_000);
    metrics.published([{ name: 'prod', series: 12, withheld: 3 }]);
    const families = parseExposition(await metrics.text('text', new Set()));
    expect([...families.keys()].toSorted()).toEqual(
      FAMILY_NAMES.filter((name) => name.startsWith('telemetry_station_exporter_')).toSorted(),
    );
    await expect(await metrics.text('text', new Set())).toMatchFileSnapshot('../golden/own.prom');
    await expect(await metrics.text('openmetrics', new Set())).toMatchFileSnapshot('../golden/own.openmetrics.txt');
  });

  it('counts requests, failures, retries, and what the limits do', async () => {
    const metrics = own();
    const observer = metrics.upstream('main');
    observer.waiting(1);
    observer.waiting(1);
    observer.waiting(-1);
    observer.started();
    observer.started();
    observer.ended(0.3, 'timeout');
    observer.retried();
    observer.waited(0.5);
    observer.waited(1);
    observer.throttled();
    observer.limited(2.5);
    observer.pageSizeReduced();
    const families = parseExposition(await metrics.text('text', new Set()));
    const value = (name: string, ...labels: string[]) =>
      valuesOf(families, `telemetry_station_exporter_api_${name}`, 'upstream', ...labels);
    expect(value('requests_total')).toEqual({ main: 2 });
    expect(value('requests_in_flight')).toEqual({ main: 1 });
    expect(value('requests_waiting')).toEqual({ main: 1 });
    expect(value('request_retries_total')).toEqual({ main: 1 });
    expect(value('request_wait_seconds_total')).toEqual({ main: 1.5 });
    expect(value('requests_throttled_total')).toEqual({ main: 1 });
    expect(value('rate_limit')).toEqual({ main: 2.5 });
    expect(valuesOf(families, 'telemetry_station_exporter_page_size_reductions_total', 'upstream')).toEqual({ main: 1 });
    expect(value('request_failures_total', 'reason')).toMatchObject({ 'main|timeout': 1, 'main|network': 0 });
    const histogram = families.get('telemetry_station_exporter_api_request_duration_seconds')?.samples;
    expect(histogram?.find(({ labels }) => labels['le'] === '0.25')?.value).toBe(0);
    expect(histogram?.find(({ labels }) => labels['le'] === '0.5')?.value).toBe(1);
  });

  it('counts hits and misses, and forgets stations that are no longer published', async () => {
    const metrics = own();
    for (const answer of ['hit', 'hit', 'miss'] as const) metrics.asked(answer);
    metrics.published([{ name: 'old', series: 1, withheld: 0 }]);
    metrics.published([{ name: 'now', series: 2, withheld: 5 }]);
    metrics.reloaded(true, 5000);
    metrics.reloaded(false, 9000);
    const families = parseExposition(await metrics.text('text', new Set(['telemetry_station_exporter_build_info'])));
    const value = (name: string, ...labels: string[]) => valuesOf(families, `telemetry_station_exporter_${name}`, ...labels);
    expect([value('cache_hits_total'), value('cache_misses_total')]).toEqual([{ '': 2 }, { '': 1 }]);
    expect([value('series', 'station'), value('series_withheld', 'station')]).toEqual([{ now: 2 }, { now: 5 }]);
    expect([value('config_last_reload_successful'), value('config_last_reload_success_timestamp_seconds')]).toEqual([{ '': 0 }, { '': 5 }]);
    expect(families.has('telemetry_station_exporter_build_info')).toBe(false);
  });

  it('tells with an exposition how many series each station has', async () => {
    const metrics = own();
    const views = [await viewOf({ name: 'prod' }, snapshotOf(fleet)), await viewOf({ name: 'gone' }, undefined, failing)];
    const exposition = new Exposition(everything);
    const text = Buffer.from(await exposition.own(metrics, views, 'text')).toString();
    const stations = parseExposition(Buffer.concat(exposition.stations(views, 'text')).toString());
    const seriesOf = (station: string) =>
      [...stations.values()].flatMap(({ samples }) => samples).filter(({ labels }) => labels['station'] === station).length;
    expect(valuesOf(parseExposition(text), 'telemetry_station_exporter_series', 'station')).toEqual({
      prod: seriesOf('prod'),
      gone: seriesOf('gone'),
    });
  });

  it('brings the process and Node metrics in both formats', async () => {
    const metrics = new OwnMetrics(build, { ordinal: 0, total: 1 }, true);
    const text = parseExposition(await metrics.text('text', new Set()));
    const openmetrics = parseExposition(await metrics.text('openmetrics', new Set()));
    expect(text.get('process_cpu_seconds_total')?.type).toBe('counter');
    expect(openmetrics.get('process_cpu_seconds')?.type).toBe('counter');
    expect(openmetrics.has('nodejs_eventloop_lag_seconds')).toBe(true);
  });
});
