import type { ListingContext } from '../../model/listing.ts';
import type { StationState } from './circuit-breaker.ts';

/** Each request of a refresh carries the same object. */
export type Refresh = Pick<ListingContext, 'station' | 'dueAtMs' | 'started'>;

/** A refresh and its waiting requests, in order of arrival. */
export interface WaitingRefresh<Waiter> {
  readonly refresh: Refresh;
  readonly station: StationState;
  readonly waiters: Set<Waiter>;
  /** When its first request was queued. */
  readonly sinceMs: number;
  /** Its rank among those that became due at the same time, in [0, 1). */
  readonly place: number;
  /** Its rank among the started ones; undefined: not started. */
  startOrder: number | undefined;
  /** Its current entry in a heap; older entries that are still there are ignored. */
  entry: Entry<Waiter> | undefined;
}

interface Entry<Waiter> {
  readonly waiting: WaitingRefresh<Waiter>;
  readonly heap: PriorityQueue<Entry<Waiter>>;
  /** Compared number by number. */
  readonly rank: readonly [number, number, number];
}

/** Distributes neighbours evenly: after a start all stations are due at once, and those of one zone, which often hang together, are neighbours. */
const GOLDEN_RATIO = (1 + Math.sqrt(5)) / 2;

/**
 * The order in which waiting requests are admitted: those of started refreshes first, the oldest of them before the others; then refreshes
 * in the order in which their stations became due. Stations that hang have a queue of their own, also in due order, and are not in it while one of their requests is in flight.
 */
export class RefreshQueue<Waiter> {
  readonly #requests = new PriorityQueue<Entry<Waiter>>(isBefore);
  readonly #probes = new PriorityQueue<Entry<Waiter>>(isBefore);
  readonly #refreshes = new WeakMap<Refresh, WaitingRefresh<Waiter>>();
  readonly #byStation = new Map<StationState, Set<WaitingRefresh<Waiter>>>();
  #arrivals = 0;
  #starts = 0;

  add(refresh: Refresh, station: StationState, waiter: Waiter, nowMs: number): void {
    const waiting = this.#refreshes.get(refresh) ?? this.#arrived(refresh, station, nowMs);
    waiting.waiters.add(waiter);
    const siblings = this.#byStation.get(station) ?? new Set();
    this.#byStation.set(station, siblings.add(waiting));
    if (!waiting.entry) this.#place(waiting);
  }

  delete(refresh: Refresh, waiter: Waiter): void {
    const waiting = this.#refreshes.get(refresh);
    if (!waiting?.waiters.delete(waiter) || waiting.waiters.size > 0) return;
    waiting.entry = undefined;
    const siblings = this.#byStation.get(waiting.station);
    siblings?.delete(waiting);
    if (siblings?.size === 0) this.#byStation.delete(waiting.station);
  }

  /** Takes out the refresh's first request; the refresh has started now. */
  take(waiting: WaitingRefresh<Waiter>): Waiter | undefined {
    const [waiter] = waiting.waiters;
    if (waiter === undefined) return undefined;
    if (waiting.startOrder === undefined) {
      waiting.startOrder = this.#starts++;
      this.#place(waiting);
    }
    this.delete(waiting.refresh, waiter);
    return waiter;
  }

  /** The station started or stopped hanging, or one of its requests was admitted or has ended. */
  stationChanged(station: StationState): void {
    for (const waiting of this.#byStation.get(station) ?? []) {
      if (waiting.entry?.heap !== this.#heapFor(station)) this.#place(waiting);
    }
  }

  nextRequest(): WaitingRefresh<Waiter> | undefined {
    return first(this.#requests);
  }

  nextProbe(): WaitingRefresh<Waiter> | undefined {
    return first(this.#probes);
  }

  /** The refreshes that have not started, and since when the first of them waits. */
  waiting(): { readonly refreshes: number; readonly sinceMs: number } {
    let refreshes = 0;
    let oldestMs = Number.POSITIVE_INFINITY;
    for (const siblings of this.#byStation.values()) {
      for (const { startOrder, sinceMs } of siblings) {
        if (startOrder !== undefined) continue;
        refreshes += 1;
        oldestMs = Math.min(oldestMs, sinceMs);
      }
    }
    return { refreshes, sinceMs: oldestMs };
  }

  #arrived(refresh: Refresh, station: StationState, sinceMs: number): WaitingRefresh<Waiter> {
    const place = (this.#arrivals++ * GOLDEN_RATIO) % 1;
    const waiting = {
      refresh,
      station,
      sinceMs,
      place,
      waiters: new Set<Waiter>(),
      startOrder: undefined,
      entry: undefined,
    };
    this.#refreshes.set(refresh, waiting);
    return waiting;
  }

  #place(waiting: WaitingRefresh<Waiter>): void {
    const { startOrder, refresh, place } = waiting;
    const heap = this.#heapFor(waiting.station);
    waiting.entry = undefined;
    if (!heap) return;
    const isFirst = startOrder !== undefined && heap === this.#requests;
    waiting.entry = { waiting, heap, rank: isFirst ? [0, startOrder, 0] : [1, refresh.dueAtMs, place] };
    heap.push(waiting.entry);
  }

  #heapFor({ isHanging, inFlight }: StationState): PriorityQueue<Entry<Waiter>> | undefined {
    if (!isHanging) return this.#requests;
    return inFlight === 0 ? this.#probes : undefined;
  }
}

function first<Waiter>(heap: PriorityQueue<Entry<Waiter>>): WaitingRefresh<Waiter> | undefined {
  for (let entry = heap.peek(); entry !== undefined; entry = heap.peek()) {
    if (entry.waiting.entry === entry) return entry.waiting;
    heap.pop();
  }
  return undefined;
}

function isBefore<Waiter>({ rank: a }: Entry<Waiter>, { rank: b }: Entry<Waiter>): boolean {
  return (a[0] - b[0] || a[1] - b[1] || a[2] - b[2]) < 0;
}

/** A binary heap: the smallest item first. */
export class PriorityQueue<T> {
  readonly #items: T[] = [];
  readonly #isBefore: (a: T, b: T) => boolean;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = items[parentAt] as T;
      if (!this.#isBefore(item, parent)) break;
      items[at] = parent;
      at = parentAt;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (items.length === 0 || last === undefined) return first;
    let at = 0;
    for (;;) {
      let childAt = 2 * at + 1;
      if (childAt >= items.length) break;
      const right = items[childAt + 1];
      if (right !== undefined && this.#isBefore(right, items[childAt] as T)) childAt += 1;
      const child = items[childAt] as T;
      if (!this.#isBefore(child, last)) break;
      items[at] = child;
      at = childAt;
    }
    items[at] = last;
    return first;
  }
}
