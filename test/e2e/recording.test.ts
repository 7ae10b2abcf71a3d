import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse, stringify } from 'yaml';
import { type Fault, NAMED_FAULTS } from '../../src/simulator/faults.ts';
import type { SourceEntry } from '../../src/simulator/listing-reply.ts';
import type { SimulatedService } from '../../src/simulator/service.ts';
import { temporaryFile } from '../upstream/support/files.ts';
import { eventually } from '../web/eventually.ts';
import { run } from './running-program.ts';
import { dataOf, type StationMetrics, stateOf } from './station-metrics.ts';
import { configOf, startTestExporter, startTestService, variedEntries, wireRecord } from './test-bed.ts';

const SECRET = 'zxqjk';

function temporaryName(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'recording-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, name);
}

/** The file that `record` makes of a station. */
async function recorded(config: object, station = 'ts'): Promise<string> {
  const file = temporaryName('recording.json');
  const { exit, output } = run([
    'record',
    station,
    `--config.file=${temporaryFile('config.yaml', stringify(config))}`,
    `--output=${file}`,
  ]);
  expect(await exit, output().stderr).toBe(0);
  expect(output().stdout).toBe('');
  return file;
}

/** The configuration that `simulate --from` prints while it serves the file. */
async function replayed(file: string, ...flags: string[]): Promise<ReturnType<typeof configOf>> {
  const { output } = run(['simulate', `--from=${file}`, '--simulate.port=0', ...flags]);
  await eventually(() => expect(output().stdout).toContain('stations:'));
  return parse(output().stdout);
}

/** What one refresh publishes: everything that names no resource as it is, of the rest how often each value is there. */
async function published(config: object, station: string) {
  const { scrape } = await startTestExporter({ ...config, cache: { ttl: '1h', error_ttl: '1h' } });
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

const FAULTS: Record<string, readonly Fault[]> = {
  nothing: [],
  ...Object.fromEntries(
    [
      'null_page',
      'missing_page',
      'text_numbers',
      'ignored_offset',
      'ignored_size',
      'moving_total',
      'wrong_total',
      'unreadable_total',
      'duplicates',
      'missing_ids',
    ].map((name) => [name, [NAMED_FAULTS[name as keyof typeof NAMED_FAULTS]]]),
  ),
  'a cap on pages': [{ kind: 'pageCap', size: 7 }],
  'no total and pages of three records': [
    { kind: 'totalIs', total: undefined },
    { kind: 'pageCap', size: 3 },
  ],
  'no total and single records': [
    { kind: 'totalIs', total: undefined },
    { kind: 'pageCap', size: 1 },
  ],
  'no total and offsets from one': [{ kind: 'totalIs', total: undefined }, { kind: 'offsetFromOne' }],
  'no total and offsets in pages': [{ kind: 'totalIs', total: undefined }, { kind: 'offsetInPages' }],
  'no total and records without an id': [
    { kind: 'totalIs', total: undefined },
    { kind: 'missingIds', every: 3 },
  ],
  'no total and no offset': [{ kind: 'totalIs', total: undefined }, { kind: 'ignoreOffset' }],
  'no total, no offset and no size': [
    { kind: 'totalIs', total: undefined },
    { kind: 'ignoreOffset' },
    { kind: 'ignoreSize' },
  ],
  'rows that move': [{ kind: 'rowShift', rows: [wireRecord('new-1'), wireRecord('new-2')] }],
  'an empty listing that is null': [{ kind: 'ignoreSize', size: 0 }, { kind: 'nullResources' }],
};

async function service(faults: readonly Fault[] = []): Promise<SimulatedService> {
  return startTestService({ source: () => entries, faults: { '*': faults } });
}

describe('simulate --from, after record', () => {
  it.each(Object.keys(FAULTS))('reproduces the metrics of a service with %s', async (name) => {
    const { url } = await service(FAULTS[name]);
    const config = configOf(url, ['ts'], { station });
    const file = await recorded(config);
    expect(await published(await replayed(file), 'recorded')).toEqual(await published(config, 'ts'));
  });

  it.each([
    { resource_ids: ['r1', 'r2', 'r3'] },
    { resource_type: 'resource_type.kind.1' },
    { resource_types: ['resource_type.kind.0', 'resource_type.kind.2'] },
    { resource_display_name_prefix: 'Display r1' },
    { enabled_alert: true },
    { product: 'product.even' },
  ])('reproduces the metrics of a station with the filters %j', async (filters) => {
    const { url } = await service();
    const config = configOf(url, ['ts'], { station: { ...station, filters } });
    const again = await published(await replayed(await recorded(config)), 'recorded');
    expect(again).toEqual(await published(config, 'ts'));
    expect(again).toMatchObject({
      state: { up: 1 },
      listing_complete: { [JSON.stringify([{}, [null, null, null], 1])]: 1 },
    });
  });

  it.each([
    ['with', [], []],
    ['without', [NAMED_FAULTS.null_page], ['--simulate.fault=null_page']],
  ])('answers requests that were not recorded from the recorded records, %s a total', async (_, faults, flags) => {
    const { url } = await service(faults);
    const changed = await replayed(await recorded(configOf(url, ['ts'], { station })), ...flags);
    const upstreams = { recorded: { ...Object.values(changed.upstreams)[0], page_size: 4 } };
    const stations = changed.stations.map((one) => ({ ...one, filters: { resource_type: 'resource_type.kind.1' } }));
    const original = configOf(url, ['ts'], {
      upstream: { page_size: 4 },
      station: { ...station, filters: { resource_type: 'resource_type.kind.1' } },
    });
    expect(await published({ ...changed, upstreams, stations }, 'recorded')).toEqual(await published(original, 'ts'));
  });

  it('applies --simulate.fault to a recording', async () => {
    const { url } = await service();
    const file = await recorded(configOf(url, ['ts'], { station }));
    const scraped = async (...flags: string[]) => published(await replayed(file, ...flags), 'recorded');
    const incomplete = { listing_complete: { [JSON.stringify([{}, [null, null, null], 0])]: 1 } };
    expect(await scraped('--simulate.fault=not_found')).toMatchObject({ state: { up: 0 } });
    expect(await scraped('--simulate.fault=wrong_total')).toMatchObject({ state: { up: 1 }, ...incomplete });
  });
});

describe('record', () => {
  it('writes neither names nor unknown fields', async () => {
    const { url } = await service();
    const config = configOf(url, ['ts'], {
      station: { ...station, subscription: SECRET, filters: { resource_ids: [`${SECRET}-3`] } },
    });
    const filtered = readFileSync(await recorded(config), 'utf8');
    expect(filtered).not.toContain(SECRET);
    // Names of two letters would now and then be the pseudonym of something else.
    const path = { name: 'ts', resource_group: 'research-group', telemetry_station: 'training-station' };
    const text = readFileSync(await recorded(configOf(url, ['ts'], { station: { ...station, ...path } })), 'utf8');
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

  it('writes to stdout without a file', async () => {
    const { url } = await service();
    const file = temporaryFile('config.yaml', stringify(configOf(url, ['ts'])));
    const { exit, output } = run(['record', 'ts', `--config.file=${file}`]);
    expect(await exit).toBe(0);
    expect(JSON.parse(output().stdout)).toMatchObject({ version: 1, listings: [{ filters: {} }] });
  });

  it('does not overwrite a file', async () => {
    const { url } = await service();
    const config = temporaryFile('config.yaml', stringify(configOf(url, ['ts'])));
    const file = temporaryFile('precious.json', 'precious');
    const { exit, output } = run(['record', 'ts', `--config.file=${config}`, `--output=${file}`]);
    expect(await exit).toBe(1);
    expect(output()).toEqual({ stdout: '', stderr: `${file}: already exists and is not overwritten\n` });
    expect(readFileSync(file, 'utf8')).toBe('precious');
  });

  it('leaves no file when the listing fails', async () => {
    const { url } = await service([{ kind: 'status', code: 403 }]);
    const config = temporaryFile('config.yaml', stringify(configOf(url, ['ts'])));
    const file = temporaryName('recording.json');
    const { exit, output } = run(['record', 'ts', `--config.file=${config}`, `--output=${file}`]);
    expect(await exit).toBe(1);
    expect(output().stderr).toMatch(/^cannot list "ts": forbidden: /);
    expect(() => readFileSync(file)).toThrow('ENOENT');
  });

  it('shows its progress on a terminal', async () => {
    const { url } = await service();
    const config = temporaryFile('config.yaml', stringify(configOf(url, ['ts'])));
    const { exit, output } = run(['record', 'ts', `--config.file=${config}`], {}, 'host', 80);
    expect(await exit).toBe(0);
    expect(output().stderr).toMatch(/\nrecorded 62 resources of "ts", 7 pages, to standard output\n/);
  });

  it('prints what it wrote, what is anonymized and how to replay it', async () => {
    const { url } = await service();
    const config = temporaryFile('config.yaml', stringify(configOf(url, ['ts'])));
    const file = temporaryName("it's a recording.json");
    const { exit, output } = run(['record', 'ts', `--config.file=${config}`, `--output=${file}`]);
    expect(await exit).toBe(0);
    const [, wrote, ...lines] = output().stderr.split('\n');
    expect(wrote).toBe(`recorded 62 resources of "ts", 7 pages, to ${file}`);
    expect(lines).toEqual([
      'anonymized: resource_id, display_name, name, the path of the station, and IDs and names in its filters',
      'as received: resource_type, create_time, sku, state, alert_rules_count, gpu_model; other fields are not recorded',
      `to replay it: telemetry-station-exporter simulate --from='${file.replace("'", "'\\''")}'`,
      '',
    ]);
  });
});

describe('simulate --from', () => {
  it.each([
    ['no recording', '{"version":1}', /: station: /],
    ['no JSON', 'upstreams: {}', /: expected JSON/],
  ])('rejects a file that is %s', async (_, text, problem) => {
    const file = temporaryFile('recording.json', text);
    const { exit, output } = run(['simulate', `--from=${file}`, '--simulate.port=0']);
    expect(await exit).toBe(1);
    expect(output().stdout).toBe('');
    expect(output().stderr.startsWith(`${file}: `)).toBe(true);
    expect(output().stderr).toMatch(problem);
  });
});
