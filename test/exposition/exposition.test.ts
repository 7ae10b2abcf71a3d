import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Body } from '../../src/exposition/exposition.ts';
import { Exposition } from '../../src/exposition/exposition.ts';
import { OwnMetrics } from '../../src/exposition/own-metrics.ts';
import { CompressorPool } from '../../src/exposition/segment.ts';
import type { Health } from '../../src/model/health.ts';
import { churnAfter, NO_CHURN } from '../../src/resources/churn.ts';
import type { Resources } from '../../src/resources/collector.ts';
import { comparisonOf } from '../../src/resources/comparison.ts';
import { StationEncoder } from '../../src/resources/encoder.ts';
import { STATION_FAMILIES } from '../../src/resources/families.ts';
import type { Resource } from '../../src/resources/fields.ts';
import { LabelValues } from '../../src/resources/label-values.ts';
import { lastKnownAfter, NOTHING_KNOWN } from '../../src/resources/last-known.ts';
import { ResourceLabels } from '../../src/resources/resource-labels.ts';
import type { Snapshot } from '../../src/resources/snapshot.ts';
import type { ResourceSpec } from '../../src/resources/spec.ts';
import type { StationView } from '../../src/stations/station-cache.ts';
import { AnchoredRegExp } from '../../src/text/anchored-regexp.ts';
import { viewOf as plainView } from '../app/station-view.ts';
import { iterationsDuring } from '../event-loop.ts';
import { aggregatesOf, listingOf, resourceOf, resourcesOf, specOf } from '../stations/fixtures.ts';
import { parseExposition, valuesOf } from './parse-exposition.ts';

const metricsOf = (changes: Partial<ResourceSpec['metrics']>) => ({ metrics: { ...specOf().metrics, ...changes } });
const healthy: Health = {
  addedMs: 1_700_000_000_000,
  lastAttemptMs: 1_700_000_060_250,
  lastSuccessMs: 1_700_000_060_250,
  durationMs: 1250,
  failure: undefined,
  firstMessage: undefined,
};
const failing: Health = {
  ...healthy,
  lastAttemptMs: 1_700_000_120_000,
  durationMs: 10_000,
  failure: { reason: 'timeout', message: '', error: undefined },
  firstMessage: 'no reply\nwithin 10 s',
};

const NOT_TRIED: Health = {
  addedMs: 1_700_000_000_000,
  lastAttemptMs: undefined,
  lastSuccessMs: undefined,
  durationMs: undefined,
  failure: undefined,
  firstMessage: undefined,
};

const encoderOf = (spec: ResourceSpec) => new StationEncoder(spec, new CompressorPool(2));

const publicationOf = (spec: ResourceSpec, snapshot: Snapshot) => ({
  spec,
  snapshot,
  churn: NO_CHURN,
  lastKnown: NOTHING_KNOWN,
  aggregates: aggregatesOf(snapshot.parts.flat()),
  values: new LabelValues(1000),
});

const snapshotOf = (parts: Resource[][]) => listingOf([], { parts, size: parts.flat().length });

const part = (from: number, count: number, state = 'I') => resourcesOf(from + count, () => ({ state })).slice(from);

async function viewOf(
  spec: Partial<ResourceSpec>,
  snapshot: Snapshot | undefined,
  health = healthy,
): Promise<StationView<Resources>> {
  const fullSpec = specOf(spec);
  const state = { ...plainView([]), spec: fullSpec, health: { ...health }, served: undefined };
  if (!snapshot) return state;
  const values = new LabelValues(fullSpec.labelValues);
  const bounds = { values, maxChanges: 0, states: fullSpec.states };
  const churn = await churnAfter(NO_CHURN, snapshot, { result: 'started', base: undefined, nowMs: 0 }, bounds);
  const comparison = comparisonOf(undefined, snapshot, 0, fullSpec.cache.maxStaleMs);
  const aggregates = aggregatesOf(snapshot.parts.flat(), fullSpec.alertability, values);
  const options = { spec: fullSpec, comparison, aggregates, beforeMs: 0 };
  const lastKnown = await lastKnownAfter(NOTHING_KNOWN, snapshot, options);
  const publication = { spec: fullSpec, snapshot, churn, lastKnown, aggregates, values };
  const { families, ...encoded } = await encoderOf(fullSpec).encode(publication);
  const withheld = encoded.withheld + encoded.withheldFiring;
  return { ...state, served: { data: { ...publication, ...encoded, comparison }, families, withheld, repeated: [] } };
}

async function plain(body: Body): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body.plain()) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  expect(gunzipSync(Buffer.concat([...body.gzip()])).toString()).toBe(text);
  return text;
}

const ownMetrics = () => new OwnMetrics({ version: '', revision: '', nodeVersion: '' }, { ordinal: 0, total: 1 });

const newExposition = () => new Exposition(Object.values(STATION_FAMILIES), new Set());

const fullText = async (exposition: Exposition, views: StationView<Resources>[]) =>
  plain(await exposition.fullBody(views, ownMetrics(), 'text'));

const textOf = (views: StationView<Resources>[], format: 'text' | 'openmetrics' = 'text') =>
  plain(newExposition().stationBody(views, format));

const seriesIn = (text: string) => [...parseExposition(text).values()].flatMap(({ samples }) => samples).length;

/** The families that have series of single resources. */
const familiesOfResources = (text: string) =>
  [...parseExposition(text)].flatMap(([name, { samples }]) =>
    samples.some(({ labels }) => labels['resource_id'] !== undefined) ? name : [],
  );

const familiesOf = async (spec: Partial<ResourceSpec>, snapshot: Snapshot) =>
  parseExposition(await textOf([await viewOf(spec, snapshot)]));

const instance = {
  type: 'resource_type.compute.aec2',
  typeLabel: 'Instance',
  product: 'product.acp',
  alertable: true,
  sku: '8 GPU',
  gpuModel: 'N4lS',
  alertRules: 0,
};
const fleet = [
  resourceOf('i-1', instance),
  resourceOf('i-2', {
    ...instance,
    sku: '4 GPU',
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

const TEAMS = [{ team: 'a\n"' }, { team: 'b' }];
const BY_TEAM = new ResourceLabels([], ['team']);

describe('Exposition', () => {
  it('publishes several stations exactly as in the golden files', async () => {
    const views = [
      await viewOf(
        {
          name: 'prod',
          alertability: true,
          products: ['product.acp'],
          labels: { team: 'storage', zone_name: 'é "1"' },
        },
        listingOf(fleet, { pages: 3, duplicates: 1, rejected: 2, addsUp: true, complete: false, reportedTotal: 7 }),
      ),
      await viewOf({ name: 'empty' }, listingOf([], { reportedTotal: undefined })),
      await viewOf({ name: 'gone' }, undefined, failing),
      await viewOf({ name: 'new' }, undefined, NOT_TRIED),
    ];
    await expect(await textOf(views)).toMatchFileSnapshot('../golden/stations.prom');
    await expect(await textOf(views, 'openmetrics')).toMatchFileSnapshot('../golden/stations.openmetrics.txt');
  });

  it('publishes firing resources up to max_firing_resources, and none above, which it counts as withheld', async () => {
    const firing = resourcesOf(3, () => ({ state: 'FIRING' }));
    const firingWithin = async (maxFiringResources: number, disabled = new Set<string>()) => {
      const view = await viewOf(metricsOf({ maxFiringResources, disabled }), listingOf(firing));
      const families = parseExposition(await fullText(newExposition(), [view]));
      const ids = Object.keys(valuesOf(families, 'telemetry_station_resource_firing', 'resource_id'));
      return { ids, withheld: valuesOf(families, 'telemetry_station_exporter_series_withheld') };
    };
    expect(await firingWithin(3)).toEqual({ ids: ['r0', 'r1', 'r2'], withheld: { '': 0 } });
    expect(await firingWithin(2)).toEqual({ ids: [], withheld: { '': 3 } });
    const disabled = new Set(['telemetry_station_resource_firing']);
    expect(await firingWithin(2, disabled)).toEqual({ ids: [], withheld: { '': 0 } });
  });

  it('labels a firing resource with those of its station that resource_labels does not have', async () => {
    const firing = [
      resourceOf('a', { state: 'FIRING', labels: { team: 'web' } }),
      resourceOf('b', { state: 'FIRING' }),
    ];
    const spec = { resourceLabels: BY_TEAM, labels: { team: 'storage', site: 'north' } };
    const families = await familiesOf(spec, listingOf(firing));
    const labels = ['resource_id', 'upstream', 'team', 'site'] as const;
    expect(valuesOf(families, 'telemetry_station_resource_firing', ...labels)).toEqual({
      'a|main|web|north': 1,
      'b|main||north': 1,
    });
    expect(valuesOf(families, 'telemetry_station_up', 'upstream', 'team', 'site')).toEqual({ 'main|storage|north': 1 });
  });

  it('publishes resource labels exactly as in the golden file', async () => {
    const all = new ResourceLabels([
      { match: { resource_id: new AnchoredRegExp('i-1|v-.*') }, labels: { team: 'storage', tier: '"1"' } },
      { match: { station: new AnchoredRegExp('prod'), name: new AnchoredRegExp('.+') }, labels: { team: 'web' } },
    ]);
    const viewsOf = (name: string) => {
      const resourceLabels = all.ofStation(name);
      const labelled = fleet.map((resource) => ({ ...resource, labels: resourceLabels.labelled(resource).labels }));
      return viewOf({ name, resourceLabels, alertability: name === 'prod' }, listingOf(labelled));
    };
    const none = await viewOf({ name: 'none', resourceLabels: new ResourceLabels([], all.names) }, listingOf(fleet));
    await expect(await textOf([await viewsOf('prod'), await viewsOf('test'), none])).toMatchFileSnapshot(
      '../golden/labels.prom',
    );
  });

  it('leaves out the disabled families of a station, and not those of another', async () => {
    const disabled = [
      'telemetry_station_info',
      'telemetry_station_resources',
      'telemetry_station_resource_firing',
      'telemetry_station_resource_state',
    ];
    const some = await viewOf(metricsOf({ disabled: new Set(disabled) }), listingOf(fleet));
    const name = 'all "\\\n';
    const all = await viewOf({ name }, listingOf(fleet));
    const both = parseExposition(await textOf([some, all]));
    const stationsOf = (family: string) => new Set(both.get(family)?.samples.map(({ labels }) => labels['station']));
    for (const family of disabled) expect(stationsOf(family)).toEqual(new Set([name]));
    expect(stationsOf('telemetry_station_resource_info')).toEqual(new Set(['prod', name]));
  });

  it('has the time of the exporter with a single station, and not with its series alone', async () => {
    const view = await viewOf({}, listingOf(fleet));
    const text = await plain(newExposition().probeBody([view], 1_700_000_120_500, 'text'));
    const time = 'telemetry_station_exporter_time_seconds';
    expect(valuesOf(parseExposition(text), time)).toEqual({ '': 1_700_000_120.5 });
    expect(await textOf([view])).not.toContain(time);
  });

  it('dates the data of a station that was not tried by when it was added, and of one without a success by 0', async () => {
    const datedBy = async (health: Health) => {
      const families = parseExposition(await textOf([await viewOf({}, undefined, health)]));
      return valuesOf(families, 'telemetry_station_data_timestamp_seconds');
    };
    expect(await datedBy(NOT_TRIED)).toEqual({ '': 1_700_000_000 });
    expect(await datedBy({ ...failing, lastSuccessMs: undefined })).toEqual({ '': 0 });
    expect(await datedBy(failing)).toEqual({ '': 1_700_000_060.25 });
  });

  it('leaves out per-resource series without per_resource, except those of firing resources', async () => {
    const view = await viewOf(metricsOf({ perResource: false }), listingOf(fleet));
    expect(familiesOfResources(await textOf([view]))).toEqual(['telemetry_station_resource_firing']);
    expect(view.served?.withheld).toBe(0);
  });

  it('withholds and counts per-resource series above max_resources, and keeps the aggregates exact', async () => {
    const all = await viewOf({}, listingOf(fleet));
    const some = await viewOf(metricsOf({ maxResources: 4 }), listingOf(fleet));
    expect(familiesOfResources(await textOf([some]))).toEqual(['telemetry_station_resource_firing']);
    expect(some.served?.withheld).toBe(18);
    expect(seriesIn(await textOf([all])) - seriesIn(await textOf([some]))).toBe(18);
    const counted = parseExposition(await textOf([some])).get('telemetry_station_resources')?.samples;
    expect(counted?.reduce((total, { value }) => total + value, 0)).toBe(5);
    const exactly = await viewOf(metricsOf({ maxResources: 5 }), listingOf(fleet));
    expect(exactly.served?.withheld).toBe(0);
  });

  it('encodes more resources than fit in one block, each once and in order', async () => {
    const many = resourcesOf(1234);
    const families = await familiesOf({}, listingOf(many));
    expect(families.get('telemetry_station_resource_info')?.samples.map(({ labels }) => labels['resource_id'])).toEqual(
      many.map(({ id }) => id),
    );
  });

  it('folds label values beyond the limit, except in per-resource series, and families still add up', async () => {
    const resources = resourcesOf(60, (index) => ({
      type: `type ${index % 6}`,
      state: `state ${index % 5}`,
      gpuModel: `model ${index % 4}`,
      sku: `2 unit-${index % 3}`,
    }));
    const families = await familiesOf({ labelValues: 2 }, listingOf(resources));
    const values = (name: string, ...labels: string[]) => valuesOf(families, `telemetry_station_${name}`, ...labels);
    const valuesOfLabel = (name: string, label: string) => [
      ...new Set(families.get(`telemetry_station_${name}`)?.samples.map(({ labels }) => labels[label])),
    ];
    const sum = (name: string) =>
      families.get(`telemetry_station_${name}`)?.samples.reduce((total, { value }) => total + value, 0);
    expect(values('resources_folded', 'label')).toEqual({ resource_type: 40, state: 36, gpu_model: 30, unit: 20 });
    expect(valuesOfLabel('resources', 'resource_type')).toEqual(['type 0', 'type 1', '(other)']);
    expect(valuesOfLabel('resources', 'state').toSorted()).toEqual(['(other)', 'state 0', 'state 1']);
    expect(valuesOfLabel('sku_quantity', 'gpu_model').toSorted()).toEqual(['(other)', 'model 0', 'model 1']);
    expect([sum('resources'), sum('alert_rules'), sum('sku_quantity'), sum('resource_info')]).toEqual([
      60, 60, 120, 60,
    ]);
    expect(valuesOfLabel('resource_info', 'resource_type')).toHaveLength(6);
    expect(valuesOfLabel('resource_state', 'state')).toHaveLength(5);
  });

  it('joins segments once for concurrent scrapes', async () => {
    const exposition = newExposition();
    const views = [await viewOf({ name: 'a' }, listingOf(fleet)), await viewOf({ name: 'b' }, listingOf(fleet))];
    const [one, other] = await Promise.all([1, 2].map(() => exposition.fullBody(views, ownMetrics(), 'text')));
    expect(other?.gzip()[1]).toBe(one?.gzip()[1]);
  });

  it('joins only the stations near a changed one again', async () => {
    const exposition = newExposition();
    const views = await Promise.all(
      Array.from({ length: 120 }, (_, at) => viewOf({ name: `${at}` }, listingOf(fleet))),
    );
    const before = await exposition.fullBody(views, ownMetrics(), 'text');
    views[60] = await viewOf({ name: '60' }, listingOf([]));
    const after = await exposition.fullBody(views, ownMetrics(), 'text');
    expect(await plain(after)).toBe(await fullText(newExposition(), views));
    const chunks = new Set(before.gzip());
    const reused = after.gzip().filter((chunk) => chunks.has(chunk));
    // Those of two groups of three, and what all formats begin and end with.
    expect(reused.length / after.gzip().length).toBeGreaterThan(0.6);
  });

  it('lets other events be handled while it assembles the segments of many stations', async () => {
    const exposition = newExposition();
    const view = await viewOf({ name: 'a' }, listingOf(fleet));
    const views = Array(600).fill(view);
    expect(await iterationsDuring(() => exposition.fullBody(views, ownMetrics(), 'text'))).toBeGreaterThan(6);
    const body = await exposition.fullBody(views, ownMetrics(), 'text');
    expect(gunzipSync(Buffer.concat([...body.gzip()]))).toHaveLength(body.plainLength);
  });

  it('lets other events be handled between the families of a station with many types', async () => {
    const spec = specOf();
    const resources = resourcesOf(900, (at) => ({ type: `type-${at}` }));
    const publication = publicationOf(spec, listingOf(resources));
    expect(await iterationsDuring(() => encoderOf(spec).encode(publication))).toBeGreaterThan(10);
  });

  it('encodes only changed blocks, and of these only the families whose samples changed', async () => {
    const spec = specOf();
    const encoder = encoderOf(spec);
    const encode = async (parts: Resource[][]) =>
      (await encoder.encode(publicationOf(spec, snapshotOf(parts)))).families;
    const parts = [part(0, 400), part(400, 400), part(800, 400), part(1200, 1500), part(2700, 100)];
    const first = await encode(parts);
    const second = await encode(parts.with(3, part(1200, 1500, 'F')));
    const isReused = (name: string) => second.get(name)?.map((segment, index) => segment === first.get(name)?.[index]);
    expect(isReused('telemetry_station_resource_state')).toEqual([true, true, false, true]);
    expect(isReused('telemetry_station_resource_info')).toEqual([true, true, true, true]);
  });

  it('encodes any sequence of snapshots to the same as each of them alone', async () => {
    const field = <T>(...values: T[]) => fc.constantFrom(...values);
    const resource = fc.record({
      id: field('a', 'b', 'c', 'd'),
      name: field('', 'n'),
      displayName: field('', '名'),
      state: field('', 'I', 'F'),
      alertRules: field(undefined, 0, 1),
      createdSeconds: field(undefined, 1),
      alertable: field(undefined, true, false),
      product: field('', 'p'),
      type: field('', '"\\\n'),
      sku: field('', 'large', '1 GPU', '2 GPU'),
      gpuModel: field('', '\u0000😀'),
      labels: field(undefined, ...TEAMS),
    });
    const listing = fc
      .uniqueArray(resource, { selector: ({ id }) => id })
      .map((list) => list.map(({ id, ...rest }) => resourceOf(id, rest)));
    await fc.assert(
      fc.asyncProperty(fc.array(listing, { minLength: 2, maxLength: 5 }), async (lists) => {
        const spec = specOf({ ...metricsOf({ maxResources: 3 }), resourceLabels: BY_TEAM });
        const encoder = encoderOf(spec);
        for (const list of lists) {
          const publication = publicationOf(spec, listingOf(list));
          expect(await encoder.encode(publication)).toEqual(await encoderOf(spec).encode(publication));
        }
      }),
      { numRuns: 40 },
    );
  });
});
