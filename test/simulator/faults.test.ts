import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { changedBy, type Fault, faultDraw, NAMED_FAULTS } from '../../src/simulator/faults.ts';
import { entriesOf } from '../e2e/test-bed.ts';
import { list, resourcesPath, stationPath } from './client.ts';
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

describe('NAMED_FAULTS', () => {
  /** The part of a page that arrives before the signal aborts. */
  async function reply(signal?: AbortSignal): Promise<string> {
    const url = `${service.url}${resourcesPath(stationPath)}?page.size=110&page.offset=2`;
    let text = '';
    try {
      const response = await fetch(url, signal ? { signal } : {});
      text = `${response.status} `;
      for await (const chunk of response.body ?? []) {
        text += Buffer.from(chunk).toString();
        if (text.length > 1_000_000) break;
      }
    } catch {
      // The text shows how much arrived.
    }
    return text;
  }

  it.each(Object.entries(NAMED_FAULTS))('change the reply: %s', async (_, fault) => {
    service.setRecords('ts', entriesOf(200));
    const healthy = await reply();
    expect(healthy).toContain('"total"');
    service.setFaults('ts', [fault]);
    expect(await reply(AbortSignal.timeout(500))).not.toBe(healthy);
  });
});

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
