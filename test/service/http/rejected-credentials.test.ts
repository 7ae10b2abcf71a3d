import type { RequestListener } from 'node:http';
import { describe, expect, it } from 'vitest';
import { bearer, servedClient } from '../support/client.ts';
import { temporaryFile } from '../support/files.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const NAMES = Array.from({ length: 40 }, (_, index) => `ts-${index}`);

/** 40 stations of an upstream that are refreshed together, as by a scrape. */
async function setUp(isRejected: (station: string) => boolean, auth = bearer({ text: 'token' })) {
  const clock = new VirtualClock();
  const world = { isRejected, received: 0 };
  const answer: RequestListener = ({ url = '' }, response) => {
    world.received += 1;
    clock.nowMs += 1;
    response.writeHead(world.isRejected(url.slice(1)) ? 401 : 200).end('{}');
  };
  const { get } = await servedClient(answer, { auth, concurrency: 8 }, { clock });
  /** How many stations got a page, and of how many requests. */
  const refresh = async () => {
    world.received = 0;
    const outcomes = await Promise.allSettled(NAMES.map((station) => get(`/${station}`, { station })));
    const failed = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? outcome.reason : []));
    for (const failure of failed) expect(failure).toMatchObject({ reason: 'auth', status: 401 });
    return { accepted: NAMES.length - failed.length, requests: world.received };
  };
  return { world, refresh };
}

describe('UpstreamClient, while the service rejects its credentials', () => {
  it('sends one request for all stations, until one is accepted', async () => {
    const { world, refresh } = await setUp(() => true);
    const first = await refresh();
    expect(first.accepted).toBe(0);
    expect(first.requests).toBeLessThan(NAMES.length);
    expect(await refresh()).toEqual({ accepted: 0, requests: 1 });
    world.isRejected = () => false;
    expect(await refresh()).toEqual({ accepted: 40, requests: 40 });
  });

  it('sends one more with credentials from a file, which may have been replaced', async () => {
    const { world, refresh } = await setUp(() => true, bearer({ file: temporaryFile('token', 'expired') }));
    await refresh();
    expect(await refresh()).toEqual({ accepted: 0, requests: 2 });
    world.isRejected = () => false;
    expect(await refresh()).toEqual({ accepted: 40, requests: 40 });
  });

  it('fails no other station when some are rejected by themselves', async () => {
    const rejected = new Set(NAMES.slice(0, 5));
    const { refresh } = await setUp((station) => rejected.has(station));
    for (let round = 0; round < 3; round += 1) expect(await refresh()).toEqual({ accepted: 35, requests: 40 });
  });
});
