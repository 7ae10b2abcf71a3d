import { describe, expect, it } from 'vitest';
import type { CachedReply } from '../../../src/model/listing.ts';
import { cachedReply } from '../../../src/service/http/cached-reply.ts';
import { servedClient } from '../support/client.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const YEAR_SECONDS = 365 * 24 * 3600;

describe('cachedReply', () => {
  it.each<{ headers: Readonly<Record<string, string | string[]>>; header: string; ageSeconds: number | undefined }>([
    { headers: { age: '34' }, header: 'Age: 34 s', ageSeconds: 34 },
    { headers: { age: '34', 'x-cache': 'MISS' }, header: 'Age: 34 s', ageSeconds: 34 },
    { headers: { age: ['10', '34'] }, header: 'Age: 34 s', ageSeconds: 34 },
    { headers: { age: '34, 10' }, header: 'Age: 34 s', ageSeconds: 34 },
    { headers: { age: '1000000000000' }, header: `Age: ${YEAR_SECONDS} s`, ageSeconds: YEAR_SECONDS },
    { headers: { 'x-cache': 'HIT from squid' }, header: 'X-Cache: HIT from squid', ageSeconds: undefined },
    { headers: { 'x-cache': 'MISS, HIT', age: '0' }, header: 'Age: 0 s, X-Cache: MISS, HIT', ageSeconds: 0 },
    { headers: { 'x-cache': 'TCP_HIT' }, header: 'X-Cache: TCP_HIT', ageSeconds: undefined },
    { headers: { 'x-cache-status': 'STALE' }, header: 'X-Cache-Status: STALE', ageSeconds: undefined },
    { headers: { 'cf-cache-status': 'HIT' }, header: 'Cf-Cache-Status: HIT', ageSeconds: undefined },
    { headers: { 'cache-status': 'cdn; hit; ttl=9' }, header: 'Cache-Status: cdn; hit; ttl=9', ageSeconds: undefined },
    { headers: { age: '-5', 'x-cache': 'hit' }, header: 'X-Cache: hit', ageSeconds: undefined },
    {
      headers: { 'x-cache': 't0ken HIT' },
      header: 'X-Cache: not shown, because it repeats a secret',
      ageSeconds: undefined,
    },
  ])('reads $headers', ({ headers, header, ageSeconds }) => {
    const ageMs = ageSeconds === undefined ? undefined : 1000 * ageSeconds;
    expect(cachedReply(headers, ['t0ken'])).toEqual({ header, ageMs });
  });

  it.each([
    {},
    { age: '0' },
    { age: '-34' },
    { age: 'old' },
    { age: '' },
    { 'x-cache': 'MISS' },
    { 'x-cache-lookup': 'HIT from squid' },
    { 'cache-status': 'cdn; fwd=stale; stored' },
    { 'cache-control': 'no-cache, stale-if-error=9' },
    { 'x-page': 'HIT' },
  ])('takes a reply with %j for one of the service', (headers) => {
    expect(cachedReply(headers, [])).toBeUndefined();
  });
});

describe('a page from a cache', () => {
  it('was asked for with no-cache, and has also the age of the time since the request', async () => {
    const clock = new VirtualClock();
    const { get, requests } = await servedClient(
      (_request, response) => {
        clock.nowMs += 1500;
        response.writeHead(200, { Age: '34' }).end();
      },
      {},
      { clock },
    );
    const replies: CachedReply[] = [];
    await get('/list', { repliedFromCache: (reply) => replies.push(reply) });
    expect(requests[0]?.headers['cache-control']).toBe('no-cache');
    expect(replies).toEqual([{ header: 'Age: 34 s', ageMs: 35_500 }]);
  });
});
