import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rulesFile } from '../../../prometheus/source/rules-file.ts';
import { NAMED_FAULTS, replyWith } from '../../../src/simulator/faults.ts';
import { configOf, startExporter, wireRecord } from '../../e2e/test-bed.ts';
import { type SimulatedService, startSimulatedService, wrongTotal } from '../../simulator/simulated-service.ts';
import { type RunningPrometheus, startScraping } from './prometheus.ts';
import { withShortIntervals } from './stack.ts';

/** A station per test, each with 40 resources of which the first fires. */
const STATIONS = ['states', 'rejected', 'both', 'revoked', 'hanging', 'removed'];

let service: SimulatedService;
let exporter: Awaited<ReturnType<typeof startExporter>>;
let prometheus: RunningPrometheus;

const configured = (stations: readonly string[]) =>
  configOf(service.url, stations, {
    upstream: { timeout: '2s' },
    cache: { ttl: '1s', max_stale: '3s', error_ttl: '1s' },
  });

const inactive = Array.from({ length: 39 }, (_, at) => wireRecord(`r${at}`));
const firingFirst = [wireRecord('firing', { state: 'ALERTSTATE_FIRING' }), ...inactive];
const escalated = firingFirst.map((record, at) => ({
  ...record,
  state: at < 7 ? 'ALERTSTATE_ESCALATED' : record.state,
}));
const withoutIds = (count: number) =>
  firingFirst.map((record, at) => (at < count ? { ...record, resource_id: undefined } : record));
const setRecords = (station: string, records: readonly object[]) =>
  service.setRecords(
    station,
    records.map((record) => ({ record })),
  );

beforeAll(async () => {
  service = await startSimulatedService();
  for (const station of STATIONS) setRecords(station, firingFirst);
  exporter = await startExporter(configured(STATIONS), { scrapeTimeoutMs: 1000 });
  prometheus = await startScraping(exporter.url, { stations: {} }, withShortIntervals(rulesFile()));
});

afterAll(async () => {
  await prometheus?.stop();
  await exporter?.stop();
  await service?.stop();
});

interface Alert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly state: string;
  readonly activeAt: string;
}

async function firingAlerts(station: string): Promise<Alert[]> {
  const { alerts } = await prometheus.api<{ alerts: Alert[] }>('alerts');
  return alerts.filter(({ labels, state }) => state === 'firing' && labels['station'] === station);
}

const namesOf = (alerts: readonly Alert[]) =>
  [...new Set(alerts.map(({ labels }) => `${labels['alertname']}`.replace('TelemetryStation', '')))].toSorted();

const descriptions = async (station: string) =>
  (await firingAlerts(station)).map(({ annotations }) => annotations['description'] ?? '').toSorted();

const expectFiring = (station: string, ...names: string[]) =>
  expect.poll(async () => namesOf(await firingAlerts(station))).toEqual(names);

/** The alert of the firing resource once its station has no data. */
async function lastKnownAlert(station: string): Promise<Alert> {
  const marked = async () =>
    (await firingAlerts(station)).find(({ annotations }) => annotations['description']?.includes('(last known '));
  await expect.poll(marked).toBeDefined();
  await expect.poll(() => prometheus.query(`telemetry_station_listing_complete{station="${station}"}`)).toEqual({});
  return (await marked()) ?? expect.unreachable(station);
}

describe('states', () => {
  it('of unknown meaning alert with their names until the configuration says what they mean', async () => {
    await expectFiring('states', 'ResourceFiring');
    setRecords('states', escalated);
    await expectFiring('states', 'ResourceFiring', 'UnknownState');
    // On a busy machine the data of a station may expire for a moment.
    await expect
      .poll(() => descriptions('states'))
      .toEqual([
        expect.stringContaining(
          '7 resources of station states (job stations) are in states of unknown meaning: ALERTSTATE_ESCALATED (7).',
        ),
        expect.stringContaining(' ago: its state is ALERTSTATE_ESCALATED now, of unknown meaning). Its id: '),
      ]);
    exporter.rewrite({ ...configured(STATIONS), states: { firing: ['ALERTSTATE_ESCALATED'] } });
    expect(await exporter.exporter.reload()).toEqual([]);
    await expectFiring('states', 'ResourceFiring');
    await expect.poll(async () => (await firingAlerts('states')).length).toBe(7);
  });
});

describe('rejected records', () => {
  it('are one alert and no loss: 40 of 40 records have no ids, and have them again', async () => {
    await expectFiring('rejected', 'ResourceFiring');
    setRecords('rejected', withoutIds(40));
    await expectFiring('rejected', 'RecordsRejected', 'ResourceFiring');
    await expect
      .poll(() => descriptions('rejected'))
      .toEqual([
        expect.stringContaining('40 records of station rejected (job stations) have had no usable resource_id'),
        expect.stringContaining(' ago: it is not in the listing now, which is incomplete). Its id: '),
      ]);
    setRecords('rejected', firingFirst);
    await expectFiring('rejected', 'ResourceFiring');
    // On a busy machine a refresh may time out for a moment.
    const others =
      'count by (alertname) (count_over_time(ALERTS{station="rejected",alertstate="firing",alertname!~".*(ResourceFiring|RecordsRejected|Down|DataStale)"}[1h]))';
    expect(await prometheus.query(others, 'alertname')).toEqual({});
    const removed = 'sum(telemetry_station_resources_removed_total{station="rejected"})';
    await expect.poll(() => prometheus.query(removed)).toEqual({ '': 0 });
  });

  it('are two alerts beside a listing that does not add up, and a firing resource among them stays', async () => {
    await expectFiring('both', 'ResourceFiring');
    setRecords('both', withoutIds(3));
    service.setFaults('both', [wrongTotal(5)]);
    await expectFiring('both', 'ListingIncomplete', 'RecordsRejected', 'ResourceFiring');
  });
});

describe('a firing resource of a station whose data expires', () => {
  it.each([
    ['revoked', replyWith(401)],
    ['hanging', NAMED_FAULTS.hang],
  ])('stays the same alert, as last known, until a listing says otherwise: %s', async (station, fault) => {
    await expectFiring(station, 'ResourceFiring');
    const [before] = await firingAlerts(station);
    service.setFaults(station, [fault]);
    const { labels, activeAt } = await lastKnownAlert(station);
    expect({ labels, activeAt }).toEqual({ labels: before?.labels, activeAt: before?.activeAt });
    setRecords(station, inactive);
    service.setFaults(station, []);
    await expect.poll(async () => namesOf(await firingAlerts(station))).not.toContain('ResourceFiring');
  });

  it('ends with the station in the configuration', async () => {
    await expectFiring('removed', 'ResourceFiring');
    service.setFaults('removed', [replyWith(401)]);
    await lastKnownAlert('removed');
    exporter.rewrite(configured(STATIONS.filter((name) => name !== 'removed')));
    expect(await exporter.exporter.reload()).toEqual([]);
    await expectFiring('removed');
  });
});
