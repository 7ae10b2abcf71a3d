import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { Gate } from '../../src/upstream/gate.ts';
import { RecordingObserver } from './support/client.ts';
import { ManualClock, settled } from './support/clock.ts';

const signal = new AbortController().signal;

/** A gate, and a log of which piece of work started when. */
function setUp(concurrency: number, requestsPerSecond: number, startMs = 0) {
  const clock = new ManualClock(startMs);
  const observer = new RecordingObserver();
  const gate = new Gate({ concurrency, requestsPerSecond, observer, now: clock.now, sleep: clock.sleep });
  const starts: [name: string, atMs: number][] = [];
  const enter = (name: string, work: Promise<unknown> = Promise.resolve(), by: AbortSignal = signal) =>
    gate.run(by, () => {
      starts.push([name, clock.nowMs]);
      return work;
    });
  return { clock, observer, starts, enter };
}

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
    const gate = new Gate({ concurrency: 8, requestsPerSecond: 3, observer, now: clock.now, sleep });
    const starts: number[] = [];
    const all = [1, 2].map(() => gate.run(signal, async () => starts.push(clock.nowMs)));
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
    const second = enter('b', undefined, controller.signal);
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
    await expect(enter('a', undefined, AbortSignal.abort('late'))).rejects.toBe('late');
    expect(starts).toEqual([]);
    expect(observer.waitingNow).toBe(0);
  });

  it('leaves no timer and no listener behind', async () => {
    const { clock, enter } = setUp(8, 1);
    const controller = new AbortController();
    await enter('a', undefined, controller.signal);
    const b = enter('b', undefined, controller.signal);
    expect(clock.sleepers).toBe(1);
    controller.abort('gone');
    await expect(b).rejects.toBe('gone');
    expect(clock.sleepers).toBe(0);
    expect(getEventListeners(controller.signal, 'abort')).toEqual([]);
  });
});
