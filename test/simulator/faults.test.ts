import { describe, expect, it } from 'vitest';
import { type Fault, faultDraw, NAMED_FAULTS } from '../../lab/simulator/faults.ts';
import { startTestService, variedEntries } from '../e2e/test-bed.ts';
import { list, resourcesPath, stationPath } from './client.ts';

describe('NAMED_FAULTS', () => {
  /** The part of a page that arrives before the signal aborts. */
  async function reply(base: string, signal?: AbortSignal): Promise<string> {
    const url = `${base}${resourcesPath(stationPath)}?page.size=110&page.offset=2`;
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
    const service = await startTestService({ source: () => variedEntries(200) });
    const healthy = await reply(service.url);
    expect(healthy).toContain('"total"');
    service.setFaults('ts', [fault]);
    expect(await reply(service.url, AbortSignal.timeout(500))).not.toBe(healthy);
  });
});

/** What the exporter publishes must not depend on it, so that only a test of its own notices when it is missing. */
describe('a simulated fault', () => {
  it('text_numbers: page numbers and rule counts are strings, other values are unchanged', async () => {
    const records = [{ alert_rules_count: 4, sku: 5 }, {}, null, [1], { alert_rules_count: null }];
    const service = await startTestService({
      source: () => records.map((record) => ({ record })),
      faults: { ts: [NAMED_FAULTS.text_numbers] },
    });
    expect(await (await list(service)).json()).toEqual({
      resources: [{ alert_rules_count: '4', sku: 5 }, ...records.slice(1)],
      page: { offset: '0', size: '20', total: '5' },
    });
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
