import { describe, expect, it } from 'vitest';
import { type QueuedRefresh, RefreshQueue } from '../../../src/service/admission/refresh-queue.ts';

const { signal: RUNNING } = new AbortController();

function refreshOf(station: string, outdatedAtMs = 0, signal = RUNNING): QueuedRefresh {
  return { station, outdatedAtMs, signal, started: () => undefined, waiting: () => undefined };
}

/** A queue of one request of each refresh, named after its station. */
function queueOf(refreshes: readonly QueuedRefresh[], nowMs = 0): RefreshQueue<string> {
  const queue = new RefreshQueue<string>();
  for (const refresh of refreshes) queue.add(refresh, refresh.station, nowMs);
  return queue;
}

const any = () => true;

function takeNext(queue: RefreshQueue<string>, mayStationSend: (station: string) => boolean = any) {
  const waiting = queue.first(mayStationSend);
  return waiting && queue.take(waiting);
}

function takeInOrder(queue: RefreshQueue<string>): string[] {
  const next = takeNext(queue);
  return next === undefined ? [] : [next, ...takeInOrder(queue)];
}

describe('RefreshQueue', () => {
  it('takes requests of started refreshes first, in the order of their starts, then those of the oldest data', () => {
    const [a, b, c] = [refreshOf('a', 20), refreshOf('b', 10), refreshOf('c', 30)];
    const queue = queueOf([a, b, c]);
    expect([takeNext(queue), takeNext(queue)]).toEqual(['b', 'a']);
    queue.add(a, 'a2', 0);
    queue.add(b, 'b2', 0);
    queue.add(b, 'b3', 0);
    expect(takeInOrder(queue)).toEqual(['b2', 'b3', 'a2', 'c']);
  });

  it('takes neighbours without data far from each other', () => {
    const stations = Array.from({ length: 8 }, (_, index) => refreshOf(`${index}`));
    expect(takeInOrder(queueOf(stations))).toEqual(['0', '5', '2', '7', '4', '1', '6', '3']);
  });

  it('skips aborted refreshes, and stations that may not send a request', () => {
    const aborted = refreshOf('aborted', 0, AbortSignal.abort());
    const queue = queueOf([aborted, refreshOf('a', 1), refreshOf('b', 2)]);
    expect(takeNext(queue, (station) => station !== 'a')).toBe('b');
    expect(takeInOrder(queue)).toEqual(['a']);
    expect(queue.has(aborted)).toBe(true);
  });

  it('has a refresh until its last request is taken or deleted', () => {
    const [a, b] = [refreshOf('a'), refreshOf('b')];
    const queue = queueOf([a, b]);
    queue.delete(a, 'a');
    expect([queue.has(a), queue.has(b), takeInOrder(queue), queue.has(b)]).toEqual([false, true, ['b'], false]);
    queue.add(b, 'b2', 0);
    queue.add(b, 'b3', 0);
    expect([queue.takeAll(), queue.has(b), queue.takeAll()]).toEqual([['b2', 'b3'], false, []]);
  });

  it('knows how many refreshes wait to start, and for how long the first of them', () => {
    const started = refreshOf('a');
    const queue = queueOf([started], 100);
    takeNext(queue);
    queue.add(started, 'a2', 150);
    queue.add(refreshOf('b', 2), 'b', 200);
    queue.add(refreshOf('c', 1), 'c', 300);
    expect(queue.load(1000)).toEqual({ waitingRefreshes: 2, oldestWaitingMs: 800 });
    expect(queueOf([]).load(1000)).toEqual({ waitingRefreshes: 0, oldestWaitingMs: 0 });
  });

  it('compares each of 4,000 refreshes that are queued together with few others', () => {
    let reads = 0;
    const refreshes = Array.from({ length: 4000 }, (_, index) => ({
      ...refreshOf(`${index}`),
      get outdatedAtMs() {
        reads += 1;
        return index % 100;
      },
    }));
    const queue = queueOf(refreshes);
    // Of both refreshes, in each of the twelve steps of a binary search.
    expect(reads).toBeLessThanOrEqual(4000 * 2 * 12);
    expect(queue.first(any)?.refresh).toBe(refreshes[0]);
  });
});
