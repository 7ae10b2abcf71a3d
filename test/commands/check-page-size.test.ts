import { describe, expect, it } from 'vitest';
import { limitedPages } from '../../src/simulator/faults.ts';
import { configOf, entriesOf, startTestService } from '../e2e/test-bed.ts';
import { fixedSize, reportedTotal, type TestFault } from '../simulator/simulated-service.ts';
import { checkLive } from './check-live.ts';

/** The line about the page size for stations of 3 and 25 resources, and the page sizes that were requested. */
async function checked(pageSize: number, ...faults: readonly TestFault[]) {
  const service = await startTestService({
    source: ({ telemetry_station }) => entriesOf(telemetry_station === 'small' ? 3 : 25),
    faults: { '*': faults },
  });
  const config = configOf(service.url, ['small', 'large'], {
    upstream: { page_size: pageSize },
    cache: { ttl: '60s' },
  });
  const { stdout, code } = await checkLive(config);
  expect(code).toBe(0);
  return {
    line: /^page size: upstream main: (.*)$/m.exec(stdout)?.[1],
    requested: [...new Set(service.requests.map(({ size }) => size))],
  };
}

describe('check --live', () => {
  it('prints how many requests a larger page_size would save, without a request of its own', async () => {
    expect(await checked(10)).toEqual({
      line: '240 requests per hour; with page_size 500: 120 requests per hour, if the service accepts it.',
      requested: [10],
    });
  });

  it('counts what verifying the end of a listing without a total costs', async () => {
    expect((await checked(10, reportedTotal(undefined))).line).toBe(
      '480 requests per hour; with page_size 500: 360 requests per hour, if the service accepts it.',
    );
  });

  it('prints whole numbers of requests per hour, without a further one for rounding errors', async () => {
    const service = await startTestService({ source: () => entriesOf(25) });
    const upstream = { page_size: 10 };
    const config = configOf(service.url, ['a', 'b', 'c'], { upstream, cache: { ttl: '10s' } });
    const { stdout, cell } = await checkLive(config);
    expect(cell('all', 'REQUESTS')).toBe('3240/h');
    expect(stdout).toContain('3,240 requests per hour; with page_size 500: 1,080 requests per hour');
  });

  it('advises no larger page_size where the service returns fewer than requested', async () => {
    const capped = await checked(20, limitedPages(10));
    expect(capped.line).toBe('the service returns at most 10 per page: a larger page_size is of no use.');
    // The last page of a listing is short without a limit.
    expect((await checked(20)).line).toContain('with page_size 500');
  });

  it.each([
    ['all resources fit in a page', 100, []],
    ['page_size is as large', 500, []],
    ['the service ignores the page size', 10, [fixedSize(100)]],
  ])('prints no page size when %s', async (_, pageSize, faults) => {
    expect((await checked(pageSize, ...faults)).line).toBeUndefined();
  });
});
