import { beforeEach, describe, expect, it, vi } from 'vitest';
import { NAMED_FAULTS } from '../../lab/simulator/faults.ts';
import type { SourceEntry } from '../../lab/simulator/listing.ts';
import { dataOf } from './station-metrics.ts';
import { configOf, type RunningExporter, startReadyExporter, startTestService, variedEntries } from './test-bed.ts';

const START_MS = Date.UTC(2026, 0, 2, 3, 0, 0);
const MINUTE_MS = 60_000;

/** Only the dates are virtual: all refreshes of a step end at its time. */
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: START_MS });
  return () => vi.useRealTimers();
});

const STATIONS = Array.from({ length: 2 }, (_, at) => `ts-${at}`);

/** The reload comes before the third listing. */
const [BEFORE, RELOADED, AFTER] = [[0, 1], 2, 3];

/** Beside what the records of a step are, every second station also has a listing that does not add up right after the reload. */
const isIncomparable = (station: number, step: number) => station % 2 === 1 && step === RELOADED;

/** In each step other resources are added, removed, of another state, type and number of rules; some states have no meaning by default. */
function recordsOf(station: number, step: number): SourceEntry[] {
  return variedEntries(14)
    .map(({ record, ...entry }, at) => {
      const kind = (station + step + at) % 7;
      if (kind === 1) record.state = 'ALERTSTATE_FIRING';
      if (kind === 2) record.state = 'RED';
      if (kind === 3) record.state = 'GREEN';
      if (kind === 4) record.alert_rules_count = step;
      if (kind === 5) record.resource_type = { key: `resource_type.of.${step}`, label: 'Of' };
      return { record, ...entry };
    })
    .filter((_, at) => (station + 2 * step + at) % 5 > 0);
}

const LABELS = [
  { match: { name: '.*[02468]' }, labels: { team: 'web' } },
  { match: { product: 'product.odd' }, labels: { team: 'odd', tier: '1' } },
];

/** Every key that has an effect on what is derived, and some that have none. */
function configWith(url: string, changes: object = {}) {
  const config = configOf(url, STATIONS, {
    station: { products: ['product.even', 'product.odd'], alertability: true, labels: { site: 'north' } },
    labels: LABELS,
  });
  return { ...config, states: { firing: ['RED'] }, ...changes };
}

type Config = ReturnType<typeof configWith>;

const upstreamWith = (changes: object) => (config: Config) => ({
  ...config,
  upstreams: { main: { ...config.upstreams.main, ...changes } },
});

const stationsWith = (changes: object) => (config: Config) => ({
  ...config,
  stations: config.stations.map((station) => ({ ...station, ...changes })),
});

const topWith = (changes: object) => (config: Config) => ({ ...config, ...changes });

/** Edits that change neither which resources are listed, nor of which account. */
const EDITS: Readonly<Record<string, (config: Config) => object>> = {
  'a line of resource_labels': topWith({
    resource_labels: [{ match: {}, labels: { team: 'all' } }, ...LABELS.slice(1)],
  }),
  'resource_labels that exempt': topWith({
    resource_labels: [{ match: { name: '.*1' }, alertable: false }, ...LABELS],
  }),
  'no resource_labels': topWith({ resource_labels: [] }),
  'one more meaning in states': topWith({ states: { firing: ['RED'], inactive: ['GREEN'] } }),
  'other meanings in states': topWith({ states: { firing: ['GREEN', 'RED'], pending: ['ALERTSTATE_FIRING'] } }),
  products: stationsWith({ products: ['product.odd'] }),
  alertability: stationsWith({ alertability: false }),
  'labels, cache and metrics of a station': stationsWith({
    labels: { site: 'south', floor: '1' },
    cache: { max_stale: '5h' },
    metrics: { per_resource: false, max_firing_resources: 2 },
  }),
  'cache and metrics': topWith({
    cache: { ttl: '0s', error_ttl: '0s', max_stale: '5h' },
    metrics: { disabled: ['telemetry_station_resource_info'] },
  }),
  limits: topWith({ limits: { changes_per_station: 100, label_values: 90 } }),
  'concurrency, page_size and timeouts': upstreamWith({ concurrency: 3, page_size: 4, timeout: '4m', max_retries: 1 }),
  'the name of the upstream': (config) => ({ ...config, upstreams: { renamed: config.upstreams.main } }),
};

/** Edits after which other resources are listed, or those of another account. */
const OTHER_RESOURCES: Readonly<Record<string, (config: Config) => object>> = {
  path: stationsWith({ zone: 'z2' }),
  filters: stationsWith({ filters: { resource_display_name_prefix: 'Display r' } }),
  account: upstreamWith({ authorization: { credentials: 'other' } }),
};

/** The service in each step, and exporters that scrape it. */
async function world() {
  const service = await startTestService();
  const goTo = (step: number) => {
    vi.setSystemTime(START_MS + step * MINUTE_MS);
    for (const [at, station] of STATIONS.entries()) {
      service.setFaults(station, isIncomparable(at, step) ? [NAMED_FAULTS.wrong_total] : []);
      service.setRecords(station, recordsOf(at, step));
    }
  };
  goTo(0);
  return { service, goTo };
}

/** After which the counters of new series are published. */
async function settled(...exporters: readonly RunningExporter[]) {
  for (const { scrape } of [...exporters, ...exporters]) await scrape();
}

interface ChangesBody {
  readonly changes: readonly Readonly<Record<string, unknown>>[];
}

/** What an exporter says of the stations: their metrics, and their changes since a step. */
async function saidBy({ scrape, get }: RunningExporter, since: number) {
  const families = await scrape();
  const time = new Date(START_MS + since * MINUTE_MS).toISOString();
  const metrics = STATIONS.map((station) => dataOf(families, station));
  const changes = STATIONS.map(async (station) => {
    const body = await (await get(`/stations/${station}/changes?format=json&since=${time}`)).json();
    return (body as ChangesBody).changes.map((change) => JSON.stringify(change)).toSorted();
  });
  return { metrics, changes: await Promise.all(changes) };
}

async function reload({ exporter, rewrite }: RunningExporter, config: object) {
  rewrite(config);
  expect(await exporter.reload()).toEqual([]);
}

describe('an exporter that was reloaded between two listings', () => {
  it.each(Object.entries(EDITS))(
    'says the same as one that always had the configuration, with an edit of %s',
    async (_, edit) => {
      const { service, goTo } = await world();
      const config = configWith(service.url);
      const [reloaded, other] = [await startReadyExporter(config), await startReadyExporter(edit(config))];
      for (const step of BEFORE) {
        goTo(step);
        await settled(reloaded, other);
      }
      for (const step of [RELOADED, AFTER]) {
        goTo(step);
        if (step === RELOADED) await reload(reloaded, edit(config));
        await settled(reloaded, other);
        const said = await saidBy(reloaded, RELOADED);
        expect(said).toEqual(await saidBy(other, RELOADED));
        expect(said.changes.filter(({ length }) => length > 0)).toHaveLength(
          STATIONS.length / (step === RELOADED ? 2 : 1),
        );
      }
    },
  );

  it.each(Object.entries(OTHER_RESOURCES))(
    'compares nothing, and counts as one that has just started, with an edit of %s',
    async (_, edit) => {
      const { service, goTo } = await world();
      const config = configWith(service.url);
      const reloaded = await startReadyExporter(config);
      await settled(reloaded);
      goTo(AFTER);
      await reload(reloaded, edit(config));
      const started = await startReadyExporter(edit(config));
      await settled(reloaded, started);
      const said = await saidBy(reloaded, AFTER);
      expect(said).toEqual(await saidBy(started, AFTER));
      expect(said.changes.flat()).toEqual([]);
    },
  );
});
