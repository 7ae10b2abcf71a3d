import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changedBy, type Fault, faultDraw, NAMED_FAULTS, replyWith } from '../../src/simulator/faults.ts';
import { get, list, stationPath } from './client.ts';
import { type SimulatedService, startSimulatedService } from './simulated-service.ts';

let service: SimulatedService;
const rows = Array.from({ length: 10 }, (_, index) => ({ record: { resource_id: `r${index}` } }));

beforeEach(async () => {
  service = await startSimulatedService({ seed: 3 });
  service.setRecords('ts', rows);
});

afterEach(() => service.stop());

async function listedIds(query = ''): Promise<string[]> {
  const { resources } = (await list(service, query)).json();
  return resources.map((record: { resource_id: string }) => record.resource_id);
}

/** What the exporter publishes must not depend on these, so that only tests of their own notice when they are missing. */
describe('a simulated fault', () => {
  it('text_numbers: page numbers and rule counts are strings, other values are unchanged', async () => {
    const records = [{ alert_rules_count: 4, sku: 5 }, {}, null, [1], { alert_rules_count: null }];
    service.setRecords(
      'ts',
      records.map((record) => ({ record })),
    );
    service.setFaults('ts', [NAMED_FAULTS.text_numbers]);
    expect((await list(service)).json()).toEqual({
      resources: [{ alert_rules_count: '4', sku: 5 }, ...records.slice(1)],
      page: { offset: '0', size: '20', total: '5' },
    });
  });

  it('short_pages: page sizes are random up to the requested size, and equal for the same seed', () => {
    const sizes = () => {
      const drawn = faultDraw(3)([NAMED_FAULTS.short_pages], 'ts', 0);
      return times(30).map(() => changedBy(drawn, 'page', { path: stationPath, filters: {}, offset: 0, size: 4 }).size);
    };
    expect(new Set(sizes())).toEqual(new Set([1, 2, 3, 4]));
    expect(sizes()).toEqual(sizes());
  });

  it('unstable_order: every page is cut from another order', async () => {
    service.setFaults('ts', [NAMED_FAULTS.unstable_order]);
    const orders = [await listedIds(), await listedIds()];
    expect(orders[0]).not.toEqual(orders[1]);
    expect(orders.map((ids) => ids.toSorted())).toEqual(Array(2).fill(rows.map(({ record }) => record.resource_id)));
  });

  it('replyWith: sets status, headers and body, of requests that match no station too', async () => {
    const headers = { 'retry-after': '3' };
    service.setFaults('*', [replyWith(429, headers, '')]);
    expect(await list(service)).toMatchObject({ status: 429, headers, text: '' });
    expect(await get(`${service.url}/`)).toMatchObject({ status: 429 });
    service.setFaults('*', []);
    service.setFaults('ts', [replyWith(403)]);
    expect((await list(service)).json()).toMatchObject({ code: 7, message: 'simulated 403' });
  });
});

/** To how many faults with these shares each of the requests is subject. */
function affected(faults: readonly Fault[], times: readonly number[], seed = 1): number[] {
  const draw = faultDraw(seed);
  return times.map((atMs) => draw(faults, 'ts', atMs).faults.length);
}

const times = (count: number) => Array<number>(count).fill(0);
const shareOf = (counts: readonly number[]) => counts.filter((count) => count > 0).length / counts.length;

describe('faultDraw', () => {
  it('draws a share of the requests, by the seed', () => {
    const drawn = affected([{ share: 0.3 }], times(2000));
    expect(shareOf(drawn)).toBeCloseTo(0.3, 1);
    expect(affected([{ share: 0.3 }], times(2000))).toEqual(drawn);
    expect(affected([{ share: 0.3 }], times(2000), 2)).not.toEqual(drawn);
    expect([0, 1].map((share) => shareOf(affected([{ share }], times(50))))).toEqual([0, 1]);
  });

  it('draws a share of the periods, with all requests of each', () => {
    const minutes = Array.from({ length: 1000 }, (_, minute) => minute * 60_000);
    const ends = minutes.map((atMs) => atMs + 59_999);
    const drawn = affected([{ share: 0.2, periodMs: 60_000 }], [...minutes, ...ends]);
    expect(drawn.slice(0, 1000)).toEqual(drawn.slice(1000));
    expect(shareOf(drawn)).toBeCloseTo(0.2, 1);
  });

  it('draws independently for each fault and each station', () => {
    expect(new Set(affected([{ share: 0.5 }, { share: 0.5 }], times(50)))).toEqual(new Set([0, 1, 2]));
    const draw = faultDraw(1);
    const counts = (station: string) => times(50).map(() => draw([{ share: 0.5 }], station, 0).faults.length);
    expect(counts('a')).not.toEqual(counts('b'));
  });
});
