import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Fault, NAMED_FAULTS, replyWith } from '../../lab/simulator/faults.ts';
import type { SourceEntry } from '../../lab/simulator/listing.ts';
import { temporaryFile } from '../service/support/files.ts';
import {
  fixedSize,
  gzip,
  ignoredOffset,
  ignoredSize,
  missingPage,
  movingTotal,
  nullResources,
  reportedTotal,
  rowShift,
} from '../simulator/simulated-service.ts';
import { configFlag, resultOf, simulate } from './running-program.ts';
import { dataOf, type StationMetrics, stateOf } from './station-metrics.ts';
import { configOf, startTestExporter, startTestService, variedEntries, wireRecord } from './test-bed.ts';

const SECRET = 'zxqjk';

const newName = (name = 'recording.json') => join(dirname(temporaryFile('x', '')), name);

/** The file that `record` makes of a station. */
async function recorded(config: object): Promise<string> {
  const file = newName();
  const { code, stdout, stderr } = await resultOf(['record', 'ts', configFlag(config), `--output=${file}`]);
  expect({ code, stdout }, stderr).toEqual({ code: 0, stdout: '' });
  return file;
}

/** The configuration that `simulate --from` prints while it serves the file. */
async function replayed(file: string, ...flags: string[]): Promise<ReturnType<typeof configOf>> {
  return (await simulate(`--from=${file}`, ...flags)).config;
}

/** With a total that moves, the order in which pages arrive decides which ones are requested. */
const IN_ORDER = { concurrency: 1 };

/** What one refresh publishes: everything that names no resource as it is, of the rest how often each value is there. */
async function published(config: { readonly upstreams: object }, station: string) {
  const upstreams = Object.entries(config.upstreams).map(([name, upstream]) => [name, { ...upstream, ...IN_ORDER }]);
  const cache = { ttl: '1h', error_ttl: '1h' };
  const { scrape } = await startTestExporter({ ...config, upstreams: Object.fromEntries(upstreams), cache });
  const families = await scrape(`/probe?station=${station}`);
  const data: StationMetrics = dataOf(families, station);
  return {
    state: stateOf(families, station),
    ...Object.fromEntries(Object.entries(data).map(([name, samples]) => [name, anonymous(samples)])),
  };
}

function anonymous(samples: Record<string, number>): unknown {
  const counts = new Map<string, number>();
  for (const [key, value] of Object.entries(samples)) {
    const { resource_id, name, display_name, ...labels } = JSON.parse(key) as Record<string, string>;
    const widths = [resource_id, name, display_name].map((text) => text && Buffer.byteLength(text));
    const sample = JSON.stringify([labels, widths, value]);
    counts.set(sample, (counts.get(sample) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

const ODD: readonly unknown[] = [
  null,
  SECRET,
  42,
  [],
  {},
  wireRecord(''),
  wireRecord('x', { resource_id: 7 }),
  wireRecord('odd-1', { name: 3, display_name: [SECRET], state: { is: SECRET }, sku: 4, gpu_model: false }),
  wireRecord('odd-2', { create_time: `${SECRET} o'clock`, alert_rules_count: SECRET, resource_type: SECRET }),
  wireRecord('odd-3', { state: 7, alert_rules_count: '12', resource_type: { key: 'k', label: 5 }, owner: SECRET }),
  wireRecord('odd-4', { create_time: null, alert_rules_count: -1, resource_type: null, sku: null }),
  wireRecord(`/subscriptions/${SECRET}/zones/z1/volumes/${SECRET}-2`, { display_name: `训练平台:${SECRET}\n` }),
];

const entries: readonly SourceEntry[] = [
  ...variedEntries(57),
  ...ODD.map((record) => ({ record, product: 'product.even', alertable: true })),
];

const station = { products: ['product.even', 'product.odd'], alertability: true };

const NO_TOTAL = reportedTotal(undefined);

const NO_IDS: Fault = {
  listing: ({ records }) => ({
    records: records.map((record, at) => (at % 3 === 2 ? { ...Object(record), resource_id: undefined } : record)),
  }),
};

/** Each kind of reply that is recorded or found again in another way. */
const FAULTS: Record<string, readonly Fault[]> = {
  nothing: [],
  'a page that is null': [NAMED_FAULTS.null_page],
  'no page': [missingPage],
  'numbers as text': [NAMED_FAULTS.text_numbers],
  'compressed replies': [gzip],
  'an unreadable total': [reportedTotal('many')],
  'a total that moves': [movingTotal],
  'larger pages than requested': [ignoredSize],
  'no total and records without an id': [NO_TOTAL, NO_IDS],
  'no total and no offset': [NO_TOTAL, ignoredOffset],
  'rows that move': [rowShift([wireRecord('new-1'), wireRecord('new-2')])],
  'an empty listing that is null': [fixedSize(0), nullResources],
  'names in camelCase': [NAMED_FAULTS.camel_case],
  'zeros that are left out': [NAMED_FAULTS.omitted_zeros],
  'an empty listing that is left out': [fixedSize(0), NAMED_FAULTS.omitted_zeros],
};

/** The configuration of `ts` at a service with these faults. */
async function configured(faults: readonly Fault[] = [], changes: Parameters<typeof configOf>[2] = { station }) {
  const { url } = await startTestService({ source: () => entries, faults: { '*': faults } });
  return configOf(url, ['ts'], { upstream: IN_ORDER, ...changes });
}

/** What the replay of a recording publishes, which has to be what the service publishes. */
async function reproduced(config: Awaited<ReturnType<typeof configured>>) {
  const again = await published(await replayed(await recorded(config)), 'recorded');
  expect(again).toEqual(await published(config, 'ts'));
  return again;
}

describe('simulate --from, after record', () => {
  it.each(Object.keys(FAULTS))('reproduces the metrics of a service with %s', async (name) => {
    await reproduced(await configured(FAULTS[name]));
  });

  it.each([true, false])(
    'reproduces the metrics of a station with filters, enabled_alert %s',
    async (enabled_alert) => {
      const filters = {
        resource_ids: ['r10', 'r11', 'r12', 'r13'],
        resource_types: ['resource_type.kind.0', 'resource_type.kind.2'],
        resource_display_name_prefix: 'Display r1',
        enabled_alert,
      };
      expect(await reproduced(await configured([], { station: { ...station, filters } }))).toMatchObject({
        state: { up: 1 },
        listing_reported_resources: { [JSON.stringify([{}, [null, null, null], 2])]: 1 },
      });
    },
  );

  it.each<[string, Fault[], string[]]>([
    ['with', [], []],
    ['without', [NAMED_FAULTS.null_page], ['--simulate.fault=null_page']],
  ])('answers requests that were not recorded from the recorded records, %s a total', async (_, faults, flags) => {
    const original = await configured(faults);
    const changed = ({ upstreams, stations, ...config }: typeof original) => ({
      ...config,
      upstreams: Object.fromEntries(Object.entries(upstreams).map(([name, one]) => [name, { ...one, page_size: 4 }])),
      stations: stations.map((one) => ({ ...one, filters: { resource_type: 'resource_type.kind.1' } })),
    });
    const replay = await replayed(await recorded(original), ...flags);
    expect(await published(changed(replay), 'recorded')).toEqual(await published(changed(original), 'ts'));
  });
});

describe('record', () => {
  it.each([
    ['in the usual spelling', []],
    ['in camelCase', [NAMED_FAULTS.camel_case]],
  ])('writes neither names nor unknown fields of records %s', async (_, faults) => {
    const textOf = async (changes: object) =>
      readFileSync(await recorded(await configured(faults, { station: { ...station, ...changes } })), 'utf8');
    const filters = { resource_ids: [`${SECRET}-3`], resource_display_name_prefix: SECRET };
    expect(await textOf({ subscription: SECRET, filters })).not.toContain(SECRET);
    // Names of two letters would now and then be the pseudonym of something else.
    const path = { name: 'ts', resource_group: 'research-group', telemetry_station: 'training-station' };
    const text = await textOf(path);
    for (const name of [SECRET, 'name-r', 'Display', 'owner', '训练', path.resource_group, path.telemetry_station])
      expect(text).not.toContain(name);
    for (const kept of [
      'resource_type.kind.1',
      'Kind 2',
      '1.5 TiB',
      'N4lS',
      'ALERTSTATE_FIRING',
      '2024-05-01T12:00:',
      'product.odd',
      'subscriptions',
    ])
      expect(text).toContain(kept);
  });

  const record = async (faults: readonly Fault[], flags: readonly string[]) =>
    resultOf(['record', 'ts', configFlag(await configured(faults, {})), ...flags]);

  it('does not overwrite a file', async () => {
    const file = temporaryFile('precious.json', 'precious');
    const stderr = `${file}: already exists and is not overwritten\n`;
    expect(await record([], [`--output=${file}`])).toEqual({ code: 1, stdout: '', stderr });
    expect(readFileSync(file, 'utf8')).toBe('precious');
  });

  it('leaves no file when the listing fails', async () => {
    const file = newName();
    const { code, stderr } = await record([replyWith(403)], [`--output=${file}`]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^cannot list "ts": forbidden: /);
    expect(existsSync(file)).toBe(false);
  });

  it('writes to a file, or to stdout without one, and prints where to, what is anonymized and how to replay it', async () => {
    const file = newName();
    const toFile = await record([], [`--output=${file}`]);
    expect([toFile.code, toFile.stdout]).toEqual([0, '']);
    expect(toFile.stderr.split('\n').slice(1)).toEqual([
      `recorded 62 resources of "ts", 7 pages, to ${file}`,
      'anonymized: IDs and names of resources, also in filters, and the path of the station',
      `to replay it: telemetry-station-exporter simulate --from=${file}`,
      '',
    ]);
    const toStdout = await record([], []);
    expect(toStdout.code).toBe(0);
    expect(JSON.parse(toStdout.stdout)).toMatchObject({ version: 1, listings: [{ filters: {} }] });
    expect(toStdout.stderr).toMatch(/^recorded 62 resources of "ts", 7 pages, to standard output\n/m);
  });
});

describe('simulate --from', () => {
  it('rejects a file that is no JSON', async () => {
    const file = temporaryFile('recording.json', 'upstreams: {}');
    const { code, stdout, stderr } = await resultOf(['simulate', `--from=${file}`, '--simulate.port=0']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.startsWith(`${file}: expected JSON: `)).toBe(true);
  });
});
