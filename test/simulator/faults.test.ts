import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Fault, faultPlan, type When } from '../../src/simulator/faults.ts';
import type { Filters } from '../../src/simulator/listing-request.ts';
import { type SimulatedService, startSimulatedService } from '../../src/simulator/service.ts';
import { get, list } from './client.ts';

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
    service.setFaults('ts', [{ kind: 'text_numbers' }]);
    expect((await list(service)).json()).toEqual({
      resources: [{ alert_rules_count: '4', sku: 5 }, ...records.slice(1)],
      page: { offset: '0', size: '20', total: '5' },
    });
  });

  it('short_pages: page sizes are random up to the requested size, and equal for the same seed', async () => {
    const sizes = async () => {
      service.setFaults('ts', [{ kind: 'short_pages' }]);
      const seen: number[] = [];
      for (let request = 0; request < 30; request += 1) seen.push((await listedIds('page.size=4')).length);
      return seen;
    };
    const first = await sizes();
    expect(new Set(first)).toEqual(new Set([1, 2, 3, 4]));
    expect(await sizes()).toEqual(first);
  });

  it('unstable_order: every page is cut from another order', async () => {
    service.setFaults('ts', [{ kind: 'unstable_order' }]);
    const orders = [await listedIds(), await listedIds()];
    expect(orders[0]).not.toEqual(orders[1]);
    expect(orders.map((ids) => ids.toSorted())).toEqual(Array(2).fill(rows.map(({ record }) => record.resource_id)));
  });

  it('status: sets Retry-After, body and headers', async () => {
    service.setFaults('ts', [{ kind: 'status', code: 429, retryAfter: 3, body: '', headers: { 'x-limit': '1' } }]);
    const headers = { 'retry-after': '3', 'x-limit': '1' };
    expect(await list(service)).toMatchObject({ status: 429, headers, text: '' });
    service.setFaults('ts', [{ kind: 'status', code: 403 }]);
    expect((await list(service)).json()).toMatchObject({ code: 7, message: 'simulated 403' });
  });
});

describe('setFaults', () => {
  it("affects every station, and requests that match none, under '*'", async () => {
    service.setFaults('*', [{ kind: 'status', code: 418 }]);
    const statuses = [await list(service), await list(service, '', 'other'), await get(`${service.url}/`)];
    expect(statuses.map(({ status }) => status)).toEqual([418, 418, 418]);
  });

  it("counts per station, applies '*' first, and resets the counts when set again", async () => {
    service.setRecords('other', rows);
    const first: Fault = { kind: 'status', code: 418, when: { first: 1 } };
    const statuses = async () => [
      (await list(service)).status,
      (await list(service)).status,
      (await list(service, '', 'other')).status,
    ];
    service.setFaults('*', [first]);
    expect(await statuses()).toEqual([418, 200, 418]);
    service.setFaults('*', [first]);
    service.setFaults('ts', [{ ...first, code: 503 }]);
    expect(await statuses()).toEqual([503, 200, 418]);
  });
});

interface PlannedRequest {
  readonly filters?: Filters;
  readonly offset?: number;
  readonly atMs?: number;
}

/** To how many of the faults with these conditions each of the requests is subject. */
function affected(conditions: readonly When[], requests: readonly PlannedRequest[], seed = 1): number[] {
  const plan = faultPlan(
    conditions.map((when) => ({ kind: 'hang', when })),
    seed,
  );
  return requests.map(
    ({ filters = {}, offset = 0, atMs = 0 }) => plan({ station: 'ts', filters, offset }, atMs).length,
  );
}

const times = (count: number) => Array<PlannedRequest>(count).fill({});
const shareOf = (counts: readonly number[]) => counts.filter((count) => count > 0).length / counts.length;

describe('faultPlan', () => {
  it('applies to the first listings, counted per set of filters', () => {
    const filters = { product: ['product.a'] };
    const requests = [{}, { offset: 10 }, { filters }, {}, { offset: 10 }, { filters, offset: 10 }, { filters }];
    expect(affected([{ firstListings: 1 }], requests)).toEqual([1, 1, 1, 0, 0, 1, 0]);
  });

  it('applies to a share of the requests, chosen by the seed', () => {
    const chosen = affected([{ share: 0.3 }], times(2000));
    expect(shareOf(chosen)).toBeCloseTo(0.3, 1);
    expect(affected([{ share: 0.3 }], times(2000))).toEqual(chosen);
    expect(affected([{ share: 0.3 }], times(2000), 2)).not.toEqual(chosen);
    expect([0, 1].map((share) => shareOf(affected([{ share }], times(50))))).toEqual([0, 1]);
  });

  it('applies to a share of the periods, to all requests of each', () => {
    const minutes = Array.from({ length: 1000 }, (_, minute) => ({ atMs: minute * 60_000 }));
    const ends = minutes.map(({ atMs }) => ({ atMs: atMs + 59_999 }));
    const chosen = affected([{ share: 0.2, periodMs: 60_000 }], [...minutes, ...ends]);
    expect(chosen.slice(0, 1000)).toEqual(chosen.slice(1000));
    expect(shareOf(chosen)).toBeCloseTo(0.2, 1);
  });

  it('draws independently for each fault', () => {
    expect(new Set(affected([{ share: 0.5 }, { share: 0.5 }], times(50)))).toEqual(new Set([0, 1, 2]));
  });
});
