import { describe, expect, it } from 'vitest';
import { gatewayAnswer } from '../service/support/service.ts';
import { SimulatedFleet } from '../service/support/simulated-fleet.ts';
import type { UpstreamModel } from '../service/support/simulated-upstream.ts';

const MINUTE_MS = 60_000;

/** A gateway's 429 because of gRPC's message limit, the same without its words, and the 413 of a proxy. */
const MESSAGE_LIMIT = gatewayAnswer('error-4mib');
const WORDLESS = { ...MESSAGE_LIMIT, body: Buffer.alloc(0) };
const PROXY_LIMIT = { status: 413, headers: {}, body: Buffer.alloc(0) };

const ROWS = [
  { what: 'alone', large: 1, good: 0, tooLarge: MESSAGE_LIMIT, pageSize: 5000, rejected: 1 },
  { what: 'four of them', large: 4, good: 0, tooLarge: MESSAGE_LIMIT, pageSize: 5000, rejected: 4 },
  { what: 'beside four others', large: 1, good: 4, tooLarge: MESSAGE_LIMIT, pageSize: 5000, rejected: 1 },
  { what: 'beside eight others', large: 1, good: 8, tooLarge: MESSAGE_LIMIT, pageSize: 5000, rejected: 1 },
  { what: 'with page_size 10,000', large: 1, good: 4, tooLarge: MESSAGE_LIMIT, pageSize: 10_000, rejected: 2 },
  { what: 'as a 413, with page_size 10,000', large: 1, good: 4, tooLarge: PROXY_LIMIT, pageSize: 10_000, rejected: 2 },
  { what: 'alone, as a 429 without words', large: 1, good: 0, tooLarge: WORDLESS, pageSize: 5000, rejected: 3 },
].flatMap((row) => (['scrape', 'background'] as const).map((refresh) => ({ ...row, refresh })));

const isLarge = (large: number) => (name: string) => Number(name.split('-')[1]) < large;

function fleetOf(
  { large, good, tooLarge, pageSize, refresh }: (typeof ROWS)[number],
  upstream: Partial<UpstreamModel>,
) {
  const records = (name: string) => (isLarge(large)(name) ? 4000 : 40);
  const largestPage = (name: string) => (isLarge(large)(name) ? 2724 : Number.POSITIVE_INFINITY);
  const model = { stations: large + good, pages: { pageSize, records }, refresh };
  return new SimulatedFleet(model, { latencyMs: 200, jitterMs: 4, tooLarge, largestPage, ...upstream });
}

describe('stations with pages that are too large for a message of the service', () => {
  it.each(ROWS)('are up with the first refresh, and slow nobody: $what, $refresh', async (row) => {
    const fleet = fleetOf(row, {});
    await fleet.runUntil(10_000);
    expect(fleet.views().map(({ served }) => served?.data.snapshot.complete)).toEqual(
      Array(row.large + row.good).fill(true),
    );
    await fleet.runUntil(15 * MINUTE_MS);
    expect(fleet.failures()).toEqual({});
    expect(fleet.upstream.tooLarge).toBe(row.rejected);
    expect(fleet.maxAgeMs(MINUTE_MS, 15 * MINUTE_MS)).toBeLessThan(1.3 * MINUTE_MS);
    expect(fleet.limiter.load()).toMatchObject({ requestsPerSecond: Number.POSITIVE_INFINITY, recentThrottled: 0 });
    // Of those that are too large, two pages.
    const pages = 2 * row.large + row.good;
    const { accepted } = fleet.upstream.total(MINUTE_MS, 15 * MINUTE_MS);
    expect(accepted / 14 / pages).toBeCloseTo(1, 1);
  });

  it('loses no refresh when the service is interrupted meanwhile', async () => {
    const [, , row] = ROWS as [unknown, unknown, (typeof ROWS)[number]];
    const interrupted = (nowMs: number) => (nowMs < 1500 || (nowMs >= 65_000 && nowMs < 67_000) ? 502 : undefined);
    const fleet = fleetOf(row, { interrupted });
    await fleet.runUntil(5 * MINUTE_MS);
    expect(fleet.failures()).toEqual({});
    expect(fleet.maxAgeMs(MINUTE_MS, 5 * MINUTE_MS)).toBeLessThan(2 * MINUTE_MS);
    expect(fleet.limiter.load()).toMatchObject({ requestsPerSecond: Number.POSITIVE_INFINITY });
  });

  it.each([1, 4, 8])('are not those that are emptied, whose lists are left out: %i stations', async (stations) => {
    const records = (_: string, nowMs: number) => (nowMs < 3 * MINUTE_MS ? 40 : 0);
    const fleet = new SimulatedFleet({ stations, pages: { pageSize: 100, records } }, { latencyMs: 200 });
    await fleet.runUntil(2 * MINUTE_MS);
    expect(fleet.views().map(({ served }) => served?.data.snapshot.size)).toEqual(Array(stations).fill(40));
    await fleet.runUntil(5 * MINUTE_MS);
    expect(fleet.views().map(({ served }) => served?.data.snapshot.size)).toEqual(Array(stations).fill(0));
    expect(fleet.views().map(({ served }) => served?.data.snapshot.complete)).toEqual(Array(stations).fill(true));
    expect(fleet.failures()).toEqual({});
    expect(fleet.maxAgeMs(MINUTE_MS, 5 * MINUTE_MS)).toBeLessThan(1.1 * MINUTE_MS);
  });
});
