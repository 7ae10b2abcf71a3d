import { getEventListeners, setMaxListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { RequestFailure } from '../../src/upstream/request-failure.ts';
import { RequestLimiter } from '../../src/upstream/request-limiter.ts';
import { RecordingObserver } from './support/client.ts';
import { ManualClock, settled } from './support/clock.ts';

const VISITOR: Visitor = { signal: new AbortController().signal, lane: 'a station' };
setMaxListeners(0, VISITOR.signal);

type Visitor = Parameters<RequestLimiter['run']>[0];

/** A gate, and a log of which piece of work started when. */
function setUp(concurrency: number, requestsPerSecond: number, startMs = 0) {
  const clock = new ManualClock(startMs);
  const observer = new RecordingObserver();
  const gate = new RequestLimiter({ concurrency, requestsPerSecond, observer, now: clock.now, sleep: clock.sleep });
  const starts: [name: string, atMs: number][] = [];
  const enter = (name: string, work: Promise<unknown> = Promise.resolve(), by: Partial<Visitor> = {}) =>
    gate.run({ ...VISITOR, ...by }, () => {
      starts.push([name, clock.nowMs]);
      return work;
    });
  return { clock, observer, starts, enter };
}

/** What the service answers when it has too many requests. */
const refuse = (retryAfterMs?: number) => () =>
  Promise.reject(new RequestFailure('rate_limited', 'too many', { throttled: true, retryAfterMs }));

function pending() {
  let finish: () => void = () => undefined;
  const work = new Promise<void>((resolve) => {
    finish = resolve;
  });
  return { work, finish };
}

describe('Gate', () => {
  it('hands on what the work gives', async () => {
    const { enter } = setUp(1, 0);
    await expect(enter('a', Promise.resolve('result'))).resolves.toBe('result');
    await expect(enter('b', Promise.reject(new Error('failed')))).rejects.toThrow('failed');
    await expect(enter('c', Promise.resolve('still open'))).resolves.toBe('still open');
  });

  it('lets no more in than may be inside, and the others in the order of their arrival', async () => {
    const { starts, enter, observer } = setUp(2, 0);
    const [a, b, c, d] = [pending(), pending(), pending(), pending()];
    const all = [enter('a', a.work), enter('b', b.work), enter('c', c.work), enter('d', d.work)];
    await settled();
    expect(starts.map(([name]) => name)).toEqual(['a', 'b']);
    expect(observer.waitingNow).toBe(2);
    b.finish();
    await settled();
    expect(starts.map(([name]) => name)).toEqual(['a', 'b', 'c']);
    a.finish();
    c.finish();
    d.finish();
    await Promise.all(all);
    expect(starts.map(([name]) => name)).toEqual(['a', 'b', 'c', 'd']);
    expect(observer.waitingNow).toBe(0);
  });

  it('spaces starts evenly, without a burst after a pause', async () => {
    const { clock, starts, enter } = setUp(8, 2);
    const first = [enter('a'), enter('b'), enter('c')];
    for (let step = 0; step < 12; step += 1) await clock.advance(100);
    await Promise.all(first);
    await clock.advance(60_000);
    const later = [enter('d'), enter('e')];
    for (let step = 0; step < 5; step += 1) await clock.advance(100);
    await Promise.all(later);
    expect(starts).toEqual([
      ['a', 0],
      ['b', 500],
      ['c', 1000],
      ['d', 61_200],
      ['e', 61_700],
    ]);
  });

  it('takes rates below one a second', async () => {
    const { clock, starts, enter } = setUp(8, 0.1);
    const all = [enter('a'), enter('b')];
    await clock.advance(9999);
    expect(starts).toHaveLength(1);
    await clock.advance(1);
    await Promise.all(all);
    expect(starts).toHaveLength(2);
  });

  it('starts nothing early when it is woken too soon', async () => {
    const clock = new ManualClock();
    const observer = new RecordingObserver();
    const sleep = (ms: number, by: AbortSignal) => clock.sleep(ms - 1, by);
    const gate = new RequestLimiter({ concurrency: 8, requestsPerSecond: 3, observer, now: clock.now, sleep });
    const starts: number[] = [];
    const all = [1, 2].map(() => gate.run(VISITOR, async () => starts.push(clock.nowMs)));
    await clock.advance(333);
    expect(starts).toEqual([0]);
    await clock.advance(1);
    await Promise.all(all);
    expect(starts).toEqual([0, 334]);
  });

  it('waits one interval at most when the clock is set back', async () => {
    const { clock, starts, enter } = setUp(8, 2, 3_600_000);
    await enter('a');
    clock.nowMs = 0;
    const b = enter('b');
    await clock.advance(500);
    await b;
    expect(starts).toEqual([
      ['a', 3_600_000],
      ['b', 500],
    ]);
  });

  it('holds the rate and the number inside at once', async () => {
    const { clock, starts, enter } = setUp(1, 2);
    const a = pending();
    const all = [enter('a', a.work), enter('b'), enter('c')];
    await clock.advance(5000);
    expect(starts).toHaveLength(1);
    expect(clock.sleepers).toBe(0);
    a.finish();
    await settled();
    await clock.advance(500);
    await Promise.all(all);
    expect(starts).toEqual([
      ['a', 0],
      ['b', 5000],
      ['c', 5500],
    ]);
  });

  it('lets a waiter go whose signal aborts, and the next one moves up', async () => {
    const { starts, enter, observer } = setUp(1, 0);
    const a = pending();
    const controller = new AbortController();
    const first = enter('a', a.work);
    const second = enter('b', undefined, { signal: controller.signal });
    const third = enter('c');
    controller.abort('gone');
    await expect(second).rejects.toBe('gone');
    expect(observer.waitingNow).toBe(1);
    a.finish();
    await Promise.all([first, third]);
    expect(starts.map(([name]) => name)).toEqual(['a', 'c']);
  });

  it('turns away who comes with an aborted signal', async () => {
    const { enter, observer, starts } = setUp(1, 0);
    await expect(enter('a', undefined, { signal: AbortSignal.abort('late') })).rejects.toBe('late');
    expect(starts).toEqual([]);
    expect(observer.waitingNow).toBe(0);
  });

  it('leaves no timer and no listener behind', async () => {
    const { clock, enter } = setUp(8, 1);
    const controller = new AbortController();
    await enter('a', undefined, { signal: controller.signal });
    const b = enter('b', undefined, { signal: controller.signal });
    expect(clock.sleepers).toBe(1);
    controller.abort('gone');
    await expect(b).rejects.toBe('gone');
    expect(clock.sleepers).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});

describe('Gate, when lanes compete', () => {
  it('lets them take tasks, so that ten thousand of one do not hold up the other', async () => {
    const { starts, enter } = setUp(1, 0);
    const first = pending();
    const all = [enter('first', first.work, { lane: 'big' })];
    for (let page = 0; page < 10_000; page += 1) all.push(enter(`big ${page}`, undefined, { lane: 'big' }));
    for (let page = 0; page < 3; page += 1) all.push(enter(`small ${page}`, undefined, { lane: 'small' }));
    all.push(enter('tiny', undefined, { lane: 'tiny' }));
    first.finish();
    await Promise.all(all);
    expect(starts.slice(0, 9).map(([name]) => name)).toEqual([
      ...['first', 'big 0', 'small 0', 'tiny', 'big 1', 'small 1', 'big 2', 'small 2', 'big 3'],
    ]);
    expect(starts).toHaveLength(10_005);
  });

  it('gives the turn of one that left to the next of its lane', async () => {
    const { starts, enter } = setUp(1, 0);
    const first = pending();
    const controller = new AbortController();
    const all = [enter('first', first.work)];
    const left = enter('a1', undefined, { lane: 'a', signal: controller.signal });
    all.push(enter('a2', undefined, { lane: 'a' }), enter('b1', undefined, { lane: 'b' }));
    controller.abort('gone');
    await expect(left).rejects.toBe('gone');
    first.finish();
    await Promise.all(all);
    expect(starts.map(([name]) => name)).toEqual(['first', 'a2', 'b1']);
  });
});

describe('Gate, when the service has too many requests', () => {
  it('slows everybody down, once per burst, and says so', async () => {
    const { clock, observer, starts, enter } = setUp(2, 0);
    const answer = pending();
    const burst = ['a', 'b'].map((lane) => enter(lane, answer.work.then(refuse()), { lane }).catch(() => lane));
    await clock.advance(100);
    answer.finish();
    expect(await Promise.all(burst)).toEqual(['a', 'b']);
    expect(observer).toMatchObject({ throttlings: 2, limit: 1, waitedSeconds: 0 });
    const all = [enter('c', undefined, { lane: 'c' }), enter('d', undefined, { lane: 'd' })];
    // The first success makes the limit a little higher than one a second.
    for (const waitMs of [899, 1, 967, 1]) await clock.advance(waitMs);
    await Promise.all(all);
    expect(starts.slice(2)).toEqual([
      ['c', 1000],
      ['d', 1968],
    ]);
    expect(observer.waitedSeconds).toBeCloseTo(0.9 + 1.868);
  });

  it('returns to the ceiling by successes, and never passes it', async () => {
    const { clock, observer, starts, enter } = setUp(4, 4);
    await expect(enter('no', Promise.resolve().then(refuse()))).rejects.toThrow('too many');
    expect(observer.limit).toBe(2);
    while (observer.limit < 4) {
      const work = enter('yes');
      while (clock.sleepers > 0) await clock.advance(10);
      await work;
    }
    const gaps = starts.slice(1).map(([, atMs], index) => atMs - (starts[index]?.[1] ?? 0));
    expect(gaps[0]).toBe(500);
    expect(gaps.at(-1)).toBeLessThan(300);
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(250);
  });

  it('does not slow down for a failure of another kind', async () => {
    const { observer, enter } = setUp(2, 0);
    await expect(enter('a', Promise.reject(new RequestFailure('status', 'broken', { retryable: true })))).rejects.toThrow();
    await expect(enter('b', Promise.reject(new Error('ours')))).rejects.toThrow();
    expect(observer).toMatchObject({ throttlings: 0, limit: Number.POSITIVE_INFINITY });
  });
});
