import { describe, expect, it } from 'vitest';
import { dataOf } from '../e2e/station-metrics.ts';
import { configOf, startReadyExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';

const NO_ID = { name: 'without an ID' };

/** The families that the rules and the changes of resources are about. */
const COMPARED = [
  'resource_firing',
  'verified_resources',
  'verified_sku_quantity',
  'resources_added_total',
  'resources_removed_total',
  'resource_state_changes_total',
];

/** Two stations with the same resources, of which one also has a record that is rejected for good. */
async function startStations() {
  const service = await startTestService();
  const { upstreams, stations, cache } = configOf(service.url, ['good', 'rejecting']);
  const { base_url, timeout, refresh_timeout } = upstreams.main;
  // With a ttl of 0, every scrape is a refresh; limits are as by default.
  const config = { upstreams: { main: { base_url, timeout, refresh_timeout } }, stations, cache: { ttl: cache.ttl } };
  const list = (resources: ReadonlyMap<string, string>) => {
    const records = Array.from(resources, ([id, state]) => ({ record: wireRecord(id, { state }) }));
    service.setRecords('good', records);
    service.setRecords('rejecting', [{ record: NO_ID }, ...records]);
  };
  return { list, start: () => startReadyExporter(config) };
}

type Exporter = Awaited<ReturnType<typeof startReadyExporter>>;

/** What is published of a station, without the rejected record. */
async function publishedOf(exporter: Exporter) {
  const families = await exporter.scrape();
  const [good, rejecting] = ['good', 'rejecting'].map((station) => {
    const data = dataOf(families, station);
    return Object.fromEntries(COMPARED.map((family) => [family, data[family] ?? {}]));
  });
  const verified = rejecting?.['verified_resources'] ?? {};
  for (const labels of Object.keys(verified)) verified[labels] = (verified[labels] ?? 0) - 1;
  return { good, rejecting };
}

/** What people see of the changes of a station. */
async function changesOf(exporter: Exporter, station: string) {
  const response = await exporter.get(`/stations/${station}/changes?format=json`);
  const { changes, waiting } = (await response.json()) as { changes: Record<string, unknown>[]; waiting: boolean };
  return {
    waiting,
    changes: changes.map(({ change, resource_id, from, to }) => [change, resource_id, from, to]),
  };
}

describe('Exporter, beside a record that is rejected for good', () => {
  it('publishes firing resources, capacity, numbers and changes as without it, also after a restart', async () => {
    const { list, start } = await startStations();
    const resources = new Map(Array.from({ length: 1000 }, (_, at) => [`r${at}`, 'ALERTSTATE_INACTIVE']));
    const setStates = (ids: readonly string[], state: string) => {
      for (const id of ids) resources.set(id, state);
    };
    const remove = (ids: readonly string[]) => {
      for (const id of ids) resources.delete(id);
    };
    list(resources);
    let exporter = await start();
    const expectSame = async () => {
      list(resources);
      const { good, rejecting } = await publishedOf(exporter);
      expect(rejecting).toEqual(good);
      return Object.keys(good?.['resource_firing'] ?? {}).length;
    };
    expect(await expectSame()).toBe(0);
    for (let batch = 0; batch < 6; batch += 1) {
      const ids = Array.from({ length: 100 }, (_, at) => `r${100 * batch + at}`);
      setStates([...ids, 'r999'], 'ALERTSTATE_FIRING');
      expect(await expectSame()).toBe(101);
      remove(ids);
      expect(await expectSame()).toBe(1);
      if (batch !== 3) continue;
      await exporter.stop();
      exporter = await start();
      expect(await expectSame()).toBe(1);
    }
    setStates(['new'], 'ALERTSTATE_FIRING');
    setStates(['r999'], 'ALERTSTATE_INACTIVE');
    expect(await expectSame()).toBe(1);
    const shown = await changesOf(exporter, 'rejecting');
    expect(shown).toEqual(await changesOf(exporter, 'good'));
    expect(shown.waiting).toBe(false);
    expect(shown.changes).toHaveLength(4 * 100 + 2);
  });
});
