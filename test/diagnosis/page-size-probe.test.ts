import { describe, expect, it } from 'vitest';
import { probePageSize } from '../../src/diagnosis/page-size-probe.ts';
import { specOf } from '../refresh/fixtures.ts';
import { UPSTREAM } from './fixtures.ts';

/** test/commands/check-page-size.test.ts has the results of requests. */
describe('probePageSize', () => {
  it('sends no request to a service that throttles', async () => {
    const result = { ok: false, reason: 'rate_limited', status: 429 };
    expect(await probePageSize(UPSTREAM.options, specOf(), [{ status: 200 }, { status: 429 }])).toEqual(result);
  });
});
