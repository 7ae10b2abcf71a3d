import { getEventListeners, setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { ListingFailure } from '../../../src/model/failure.ts';
import type { QueuedRefresh } from '../../../src/service/admission/refresh-queue.ts';
import { RequestLimiter } from '../../../src/service/admission/request-limiter.ts';
import { RequestFailure } from '../../../src/service/request-failure.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const FOREVER = new AbortController().signal;
setMaxListeners(0, FOREVER);

const TIMEOUT_MS = 10_000;

function setUp(concurrency: number, requestsPerSecond = 0) {
  const clock = new VirtualClock();
  const limits = { concurrency, requestsPerSecond };
  const limiter = new RequestLimiter({ ...limits, ...clock, observer: {} });
  const starts: [name: string, atMs: number][] = [];
  /** A request that is answered after that time, if at all. */
  const send = (name: string, refresh: QueuedRefresh, latencyMs = 100) =>
    request(limiter, refresh, async () => {
      starts.push([name, clock.now()]);
      await clock.sleep(Math.min(latencyMs, TIMEOUT_MS), refresh.signal);
      if (latencyMs > TIMEOUT_MS) throw new RequestFailure('timeout', 'no reply', { retryable: true });
    });
  /** A refresh of one request. */
  const refreshOnce = (station: string, outdatedAtMs = 0, latencyMs = 100) =>
    send(station, refreshOf(station, outdatedAtMs), latencyMs);
  const names = () => starts.map(([name]) => name);
  /** When the request ended. */
  const endOf = async (request: Promise<unknown>) => {
    await request.catch(() => undefined);
    return clock.now();
  };
  /** Lets the requests end, by that time. */
  const finish = async <T>(untilMs: number, requests: readonly Promise<T>[]): Promise<T[]> => {
    await clock.runUntil(untilMs);
    return Promise.all(requests);
  };
  /** Requests for these stations that time out. */
  const hang = (...stations: string[]) =>
    finish(
      TIMEOUT_MS,
      stations.map((name) => endOf(refreshOnce(name, 0, 2 * TIMEOUT_MS))),
    );
  return { clock, limiter, starts, names, send, refreshOnce, endOf, finish, hang };
}

function refreshOf(station: string, outdatedAtMs = 0, changes: Partial<QueuedRefresh> = {}): QueuedRefresh {
  return { station, outdatedAtMs, signal: FOREVER, started: () => undefined, waiting: () => undefined, ...changes };
}

const nothing = async () => undefined;

/** Sends a request; rejects with its failure. */
async function request<T>(limiter: RequestLimiter, refresh: QueuedRefresh, send: () => Promise<T>, pauseMs?: number) {
  const outcome = await limiter.run(refresh, { prepare: nothing, send }, pauseMs);
  if ('value' in outcome) return outcome.value;
  throw outcome.failure;
}

const throttle = (retryAfterMs?: number) => () =>
  Promise.reject(new RequestFailure('rate_limited', '429', { status: 429, retryable: true, retryAfterMs }));

describe('RequestLimiter', () => {
  it('knows the hanging stations of a limiter that it takes over, and no others', async () => {
    const former = setUp(4);
    const fast = former.refreshOnce('fast');
    await former.hang('slow');
    await fast;
    const { limiter } = setUp(4);
    limiter.takeOver(former.limiter);
    expect(['slow', 'fast'].map((name) => limiter.stations.isHanging(name))).toEqual([true, false]);
    expect(['slow', 'fast'].map((name) => limiter.mayAnswer(name, Number.POSITIVE_INFINITY))).toEqual([false, true]);
  });

  it('admits requests of started refreshes first, oldest start first, then refreshes of the oldest data', async () => {
    const { clock, names, send, finish } = setUp(1);
    const [a, b, c] = [refreshOf('a', 20), refreshOf('b', 30), refreshOf('c', 10)];
    const all = [send('a1', a), send('b1', b), send('c1', c)];
    await clock.runUntil(50);
    all.push(send('a2', a), send('a3', a));
    await clock.runUntil(350);
    all.push(send('c2', c), send('a4', a));
    await finish(1000, all);
    expect(names()).toEqual(['a1', 'a2', 'a3', 'c1', 'a4', 'c2', 'b1']);
  });

  it('reports when a refresh starts, when all of its requests wait, and when one is admitted again', async () => {
    const { clock, send, refreshOnce, finish } = setUp(1, 0.5);
    const reports: [what: string, atMs: number][] = [];
    const started = () => reports.push(['started', clock.now()]);
    const waiting = () => reports.push(['waiting', clock.now()]);
    const refresh = refreshOf('b', 0, { started, waiting });
    await finish(9000, [refreshOnce('a', -1, 5000), send('b1', refresh), send('b2', refresh)]);
    expect(reports).toEqual([
      ['waiting', 0],
      ['waiting', 0],
      ['started', 5000],
      ['waiting', 5100],
      ['started', 7000],
    ]);
  });

  it('reports the start and the waiting of a refresh beside requests of an earlier one of the same station', async () => {
    const { clock, send, finish } = setUp(3, 0.5);
    const reports: [what: string, atMs: number][] = [];
    const started = () => reports.push(['started', clock.now()]);
    const waiting = () => reports.push(['waiting', clock.now()]);
    const refresh = refreshOf('a', 0, { started, waiting });
    const earlier = send('before a reload', refreshOf('a'), 9000);
    await finish(9000, [earlier, send('a1', refresh), send('a2', refresh)]);
    expect(reports).toEqual([
      ['waiting', 0],
      ['waiting', 0],
      ['started', 2000],
      ['waiting', 2100],
      ['started', 4000],
    ]);
  });

  it('bounds requests in flight and their rate at once', async () => {
    const { starts, refreshOnce, finish } = setUp(2, 4);
    await finish(
      3000,
      ['a', 'b', 'c', 'd'].map((name, index) => refreshOnce(name, index, 1000)),
    );
    expect(starts.map(([, atMs]) => atMs)).toEqual([0, 250, 1000, 1250]);
  });

  it('rejects with the reason of a signal that aborts while the request waits, and removes its listeners', async () => {
    const { names, send, refreshOnce, finish } = setUp(1);
    const controller = new AbortController();
    const { signal } = controller;
    const all = [refreshOnce('a', 1), refreshOnce('c', 3)];
    const b = send('b', refreshOf('b', 2, { signal }));
    controller.abort('gone');
    await expect(b).rejects.toBe('gone');
    await expect(send('d', refreshOf('d', 0, { signal }))).rejects.toBe('gone');
    await finish(1000, all);
    expect(names()).toEqual(['a', 'c']);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('admits the next refresh when one is aborted, in flight and waiting at once, and loses no slot', async () => {
    const { names, send, refreshOnce, endOf, finish } = setUp(1);
    const controller = new AbortController();
    const aborted = refreshOf('a', 0, { signal: controller.signal });
    const ended = [endOf(send('a1', aborted)), endOf(send('a2', aborted))];
    const others = [refreshOnce('b', 1), refreshOnce('c', 2)];
    controller.abort('gone');
    await finish<unknown>(1000, [...ended, ...others]);
    expect(names()).toEqual(['a1', 'b', 'c']);
  });

  it('knows which station has waited longest for its refresh to start', async () => {
    const { clock, limiter, refreshOnce, finish } = setUp(1);
    const all = [refreshOnce('a', 5), refreshOnce('b', 30), refreshOnce('c', 20)];
    await clock.runUntil(50);
    expect(limiter.load()).toMatchObject({ waitingRefreshes: 2, oldestWaitingMs: 50 });
    await finish(1000, all);
    expect(limiter.load()).toMatchObject({ waitingRefreshes: 0, oldestWaitingMs: 0 });
  });
});

describe('RequestLimiter with 3,000 waiting refreshes', () => {
  it('looks through them for a probe only while a station hangs', async () => {
    const { clock, starts, send } = setUp(1);
    let looks = 0;
    const { signal } = new AbortController();
    setMaxListeners(0, signal);
    const countLook = () => {
      looks += 1;
      return false;
    };
    Object.defineProperty(signal, 'aborted', { get: countLook });
    const refreshes = Array.from({ length: 3000 }, (_, index) => refreshOf(`${index}`, index, { signal }));
    for (const refresh of refreshes) void send(refresh.station, refresh);
    await clock.runUntil(0);
    looks = 0;
    await clock.runUntil(1000);
    expect(starts.length).toBe(11);
    expect(looks).toBeLessThan(100);
  });
});

describe('RequestLimiter, when requests are throttled', () => {
  it('answers no station before the end of a pause', async () => {
    const { clock, limiter, starts, send, finish } = setUp(1);
    const throttled = request(limiter, refreshOf('a'), async () => {
      await clock.sleep(100);
      return throttle(5000)();
    });
    const waiting = send('b', refreshOf('b'));
    expect(limiter.mayAnswer('b', 4999)).toBe(true);
    await expect(Promise.all([throttled, clock.runUntil(200)])).rejects.toThrow('429');
    expect([4999, 5099, 5100].map((byMs) => limiter.mayAnswer('b', byMs))).toEqual([false, false, true]);
    await finish(6000, [waiting]);
    expect(starts).toEqual([['b', 5100]]);
    expect(limiter.load()).toMatchObject({ recentRequests: 2, recentThrottled: 1, pauseMs: 0 });
  });

  const unavailable = (retryAfterMs?: number) =>
    new RequestFailure('status', '503', { status: 503, retryable: true, retryAfterMs });

  /** A request that gets a 503; resolves with whether that is throttling. */
  const refused = async (limiter: RequestLimiter, station: string, retryAfterMs?: number) => {
    const send = () => Promise.reject(unavailable(retryAfterMs));
    const outcome = await limiter.run(refreshOf(station), { prepare: nothing, send });
    return 'throttling' in outcome && outcome.throttling !== undefined;
  };

  it.each([
    { what: 'a page', read: async () => undefined },
    { what: 'a reply that is no listing', read: () => Promise.reject(new ListingFailure('body', 'expected JSON')) },
  ])(
    'knows that the service is unavailable when nothing but 503 came for five seconds, until $what',
    async ({ read }) => {
      const { limiter, refreshOnce, finish } = setUp(1);
      await finish(100, [refreshOnce('b')]);
      const messages: unknown[] = [];
      for (const atMs of [60_000, 64_999, 65_000]) {
        await finish(atMs, []);
        await refused(limiter, 'a');
        messages.push(limiter.unavailable?.message);
      }
      expect(messages).toEqual([undefined, undefined, '503']);
      await finish(67_000, [request<unknown>(limiter, refreshOf('b'), read).catch(() => undefined)]);
      expect(limiter.unavailable).toBeUndefined();
    },
  );

  it.each([
    { what: 'an older request', isHanging: false },
    { what: 'that of a hanging station', isHanging: true },
  ])('knows that the service is unavailable while $what is in flight: $isHanging', async ({ isHanging }) => {
    const { clock, limiter, refreshOnce, hang, endOf, finish } = setUp(4);
    if (isHanging) await hang('slow');
    const startMs = clock.now();
    const slow = endOf(refreshOnce('slow', 0, TIMEOUT_MS));
    await finish(startMs + 1000, []);
    await refused(limiter, 'a');
    await finish(startMs + 7000, []);
    await refused(limiter, 'a');
    expect(limiter.unavailable !== undefined).toBe(isHanging);
    await finish(startMs + TIMEOUT_MS, [slow]);
  });

  it('fails all waiting requests alike while Retry-After pauses an upstream that accepts nothing, also a retry that is delayed as long', async () => {
    const { limiter, starts, refreshOnce, finish } = setUp(8);
    await finish(100, [refreshOnce('a')]);
    await Promise.all(['a', 'b', 'c'].map((station) => refused(limiter, station, 30_000)));
    const requests = ['d', 'e'].map((station) => refreshOnce(station));
    // Some time after the reply that began the pause.
    await finish(105, []);
    requests.push(request(limiter, refreshOf('c'), async () => expect.unreachable(), 30_000));
    const waiting = requests.map((request) => request.catch((error: Error) => error.message));
    await finish(5099, []);
    expect(limiter.load().waitingRefreshes).toBe(3);
    expect(await finish(5100, waiting)).toEqual(['503', '503', '503']);
    expect(limiter.mayAnswer('f', 5200)).toBe(true);
    await expect(refreshOnce('f')).rejects.toThrow('503');
    expect(starts.slice(1)).toEqual([]);
    await finish(30_100, []);
    await finish(32_000, [refreshOnce('f')]);
    expect(limiter.unavailable).toBeUndefined();
  });

  it('leaves no timer behind when Retry-After pauses an upstream and no request waits', async () => {
    const { clock, limiter, refreshOnce, finish } = setUp(8);
    await Promise.all(['a', 'b', 'c'].map((station) => refused(limiter, station, 30_000)));
    await finish(1, []);
    expect(clock.hasTimers).toBe(false);
    const waiting = refreshOnce('d').catch((error: Error) => error.message);
    expect(clock.hasTimers).toBe(true);
    expect(await finish(5000, [waiting])).toEqual(['503']);
    expect(clock.hasTimers).toBe(false);
  });

  it('fails waiting requests when the upstream turns out to accept nothing, before a longer pause ends', async () => {
    const { clock, limiter, refreshOnce, finish } = setUp(8);
    const refusedLater = ['a', 'b', 'c'].map((station) =>
      request(limiter, refreshOf(station), async () => {
        await clock.sleep(1000, FOREVER);
        throw unavailable(60_000);
      }).catch((error: Error) => error.message),
    );
    await expect(request(limiter, refreshOf('d'), throttle(30_000))).rejects.toThrow('429');
    const waiting = refreshOnce('e').catch((error: Error) => error.message);
    expect(await finish(6000, [...refusedLater, waiting])).toEqual(['503', '503', '503', '503']);
    expect(clock.now()).toBe(6000);
  });

  it('takes the service for available to all stations with the first accepted request, whatever replies still come', async () => {
    const { clock, limiter, refreshOnce, finish } = setUp(4);
    await finish(100, [refreshOnce('b')]);
    for (const [atMs, station, replies] of [
      [60_000, 'a', 1],
      [64_000, 'c', 10],
      [65_000, 'a', 1],
    ] as const) {
      await finish(atMs, []);
      for (let reply = 0; reply < replies; reply += 1) await refused(limiter, station);
    }
    const late = request(limiter, refreshOf('d'), async () => {
      await clock.sleep(1000, FOREVER);
      throw unavailable(30_000);
    });
    await finish<unknown>(68_000, [refreshOnce('b'), expect(late).rejects.toThrow('503')]);
    await finish(68_200, [refreshOnce('c')]);
    expect(limiter.load()).toMatchObject({ pauseMs: 0, recentThrottled: 0 });
  });

  it('measures the accepted rate from the time when the service is available again', async () => {
    const { limiter, refreshOnce, finish } = setUp(1);
    await finish(100, [refreshOnce('b')]);
    await expect(request(limiter, refreshOf('b'), throttle())).rejects.toThrow('429');
    for (const atMs of [1000, 5000, 9000]) {
      await finish(atMs, []);
      await refused(limiter, 'a');
    }
    const requests = Array.from({ length: 20 }, () => refreshOnce('b'));
    await finish(12_000, requests);
    for (let reply = 0; reply < 3; reply += 1)
      await expect(request(limiter, refreshOf('b'), throttle())).rejects.toThrow('429');
    expect(limiter.load().requestsPerSecond).toBeGreaterThan(5);
  });

  it('lowers the rate for a 503 when its station is accepted again, not while the station is unavailable', async () => {
    const { limiter, refreshOnce, finish } = setUp(1);
    await finish(100, [refreshOnce('b')]);
    await refused(limiter, 'a');
    await refused(limiter, 'a');
    expect(limiter.load().recentThrottled).toBe(0);
    await finish(200, [refreshOnce('a')]);
    expect(limiter.load()).toMatchObject({ recentThrottled: 2, recentRequests: 4 });
    await finish(300, [refreshOnce('a')]);
    expect(limiter.load().recentThrottled).toBe(2);
  });

  it('obeys the Retry-After of a 503, unless others are accepted since the first one of its station', async () => {
    const { limiter, refreshOnce, finish } = setUp(1);
    await finish(100, [refreshOnce('b')]);
    await refused(limiter, 'a', 5000);
    expect(limiter.load()).toMatchObject({ pauseMs: 5000, recentThrottled: 0 });
    await finish(5200, [refreshOnce('b')]);
    await refused(limiter, 'a', 5000);
    expect(limiter.load().pauseMs).toBe(0);
  });

  it.each([
    { what: 'ten times', everyMs: 600, throttled: 9 },
    { what: 'for five seconds', everyMs: 250, throttled: 20 },
  ])('takes a station for unavailable that got only 503 $what, while others are accepted', async (row) => {
    const { limiter, refreshOnce, finish } = setUp(1);
    const isThrottling: boolean[] = [];
    for (let reply = 1; reply <= row.throttled + 3; reply += 1) {
      await finish(reply * row.everyMs, [refreshOnce('b')]);
      isThrottling.push(await refused(limiter, 'a'));
    }
    expect(isThrottling).toEqual([...Array(row.throttled).fill(true), ...Array(3).fill(false)]);
    expect(await refused(limiter, 'c')).toBe(true);
    await finish(8000, [refreshOnce('a')]);
    expect(limiter.load().recentThrottled).toBe(0);
    expect(await refused(limiter, 'a')).toBe(true);
  });

  it('knows which status the service sent', async () => {
    const { limiter, refreshOnce, finish } = setUp(1);
    expect(limiter.throttledBy).toBeUndefined();
    await finish(200, [refreshOnce('b')]);
    await refused(limiter, 'a', 1);
    const next = setUp(1).limiter;
    next.takeOver(limiter);
    expect([limiter.throttledBy, next.throttledBy]).toEqual([503, 503]);
    await finish(300, []);
    await expect(request(limiter, refreshOf('a'), throttle())).rejects.toThrow('429');
    expect(limiter.throttledBy).toBe(429);
  });

  it('knows which stations were answered, also with a refusal', async () => {
    const { limiter, hang } = setUp(4);
    await hang('silent');
    await expect(request(limiter, refreshOf('refused'), throttle())).rejects.toThrow('429');
    await request(limiter, refreshOf('served'), async () => undefined);
    const names = ['silent', 'refused', 'served', 'unknown'];
    expect(names.filter((name) => limiter.stations.hasReplied(name))).toEqual(['refused', 'served']);
  });

  it('learns nothing of the service from a request that was not sent', async () => {
    const { limiter, hang, finish } = setUp(1);
    await hang('a');
    const before = limiter.load();
    for (const reason of ['auth', 'timeout', 'status'] as const) {
      const failure = new RequestFailure(reason, 'no token', { status: 503 });
      const unsent = limiter.run(refreshOf('a'), { prepare: () => Promise.reject(failure), send: nothing });
      expect(await unsent).toMatchObject({ failure, throttling: undefined });
    }
    expect(limiter.load()).toEqual(before);
    expect(limiter.stations.isHanging('a')).toBe(true);
    expect(limiter.stations.hasReplied('a')).toBe(false);
    const prepare = () => Promise.reject(new RequestFailure('timeout', 'no token'));
    const healthy = limiter.run(refreshOf('b'), { prepare, send: nothing });
    await finish<unknown>(20_000, [healthy]);
    expect(limiter.stations.isHanging('b')).toBe(false);
  });

  it('starts no other refresh in the slot of a delayed retry', async () => {
    const { clock, limiter, starts, send, refreshOnce, finish } = setUp(2);
    const a = refreshOf('a');
    await expect(request(limiter, a, throttle())).rejects.toThrow('429');
    const paused = request(limiter, a, async () => starts.push(['a2', clock.now()]), 1000);
    const all = [refreshOnce('b', 1, 600), refreshOnce('c', 2, 600), send('a1', a, 600)];
    await finish<unknown>(5000, [paused, ...all]);
    expect(starts).toEqual([
      ['b', 0],
      ['a1', 0],
      ['c', 600],
      ['a2', 1000],
    ]);
  });
});

describe('RequestLimiter, when a station hangs', () => {
  it('admits one request of it at a time until its first reply, and forgets those no longer configured', async () => {
    const { limiter, starts, send, hang, finish } = setUp(8);
    await hang('a', 'removed');
    expect(limiter.load().hangingStations).toBe(2);
    limiter.stations.retainStations(new Set(['a']));
    expect(limiter.load().hangingStations).toBe(1);
    const again = refreshOf('a');
    await finish(11_000, [send('a2', again), send('a3', again), send('a4', again)]);
    expect(starts.slice(2)).toEqual([
      ['a2', 10_000],
      ['a3', 10_100],
      ['a4', 10_100],
    ]);
    expect(limiter.load().hangingStations).toBe(0);
  });

  it('lets a request take its time while others wait, and counts no station as hanging that is only slow', async () => {
    const { clock, limiter, refreshOnce } = setUp(1);
    const all = [refreshOnce('fast', 0, 50), refreshOnce('slow', 1, TIMEOUT_MS), refreshOnce('last', 2, 50)];
    await clock.runUntil(TIMEOUT_MS + 100);
    await Promise.all(all);
    expect(limiter.load().hangingStations).toBe(0);
  });

  it('gives all that hang a quarter of the slots, those with the oldest data first', async () => {
    const { clock, names, send, refreshOnce, hang, finish } = setUp(8);
    const hanging = ['a', 'b', 'c', 'd'];
    await hang(...hanging);
    const later = hanging.map((name, index) => send(`${name} again`, refreshOf(name, 10 - index)));
    const others = [1, 2, 3, 4, 5, 6].map((index) => refreshOnce(`other ${index}`, 20 + index));
    await clock.runUntil(10_050);
    const full = ['a again', 'b again', 'other 1', 'other 2', 'other 3', 'other 4', 'other 5', 'other 6'];
    expect(names().slice(4)).toEqual(full);
    await finish(12_000, [...later, ...others]);
    expect(names().slice(4)).toEqual([...full, 'd again', 'c again']);
  });

  it('leaves three quarters of the time to others when only one request may be in flight', async () => {
    const { names, send, endOf, hang, finish } = setUp(1);
    await hang('a');
    const probes = ['a2', 'a3'].map((name) => endOf(send(name, refreshOf('a'), 20_000)));
    const others = Array.from({ length: 100 }, (_, index) => send('other', refreshOf(`other ${index}`, index), 500));
    await finish<unknown>(100_000, [...probes, ...others]);
    expect(names().lastIndexOf('a3') - names().indexOf('a2')).toBe(61);
  });
});

describe('RequestLimiter, where the service rejects requests', () => {
  /** A request that fails with this status. */
  const refuse = (limiter: RequestLimiter, station: string, status: number) => {
    const failure = new RequestFailure(status === 401 ? 'auth' : 'status', `${status}`, { status });
    return request(limiter, refreshOf(station), () => Promise.reject(failure)).catch(() => undefined);
  };

  it('tests rejected credentials with one request at a time, from the third station to the first other reply', async () => {
    const { limiter, names, refreshOnce, finish } = setUp(2);
    const openAtOnce = async (fromMs: number) => {
      // Requests that start together with one that is rejected may be accepted.
      await finish(fromMs + 1, []);
      const before = names().length;
      const requests = [refreshOnce('x'), refreshOnce('y')];
      await new Promise(setImmediate);
      const open = names().length - before;
      await finish(fromMs + 1000, requests);
      return open;
    };
    for (const station of ['a', 'b']) await refuse(limiter, station, 401);
    expect(await openAtOnce(0)).toBe(2);
    for (const station of ['a', 'b', 'c']) await refuse(limiter, station, 401);
    expect(await openAtOnce(1000)).toBe(1);
    for (const station of ['a', 'b', 'c']) await refuse(limiter, station, 401);
    await refuse(limiter, 'a', 500);
    expect(await openAtOnce(2000)).toBe(2);
  });
});
