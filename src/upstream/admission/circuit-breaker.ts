import { RequestFailure } from '../request-failure.ts';

interface BreakerOptions {
  readonly concurrency: number;
  /** Timeout of one request. */
  readonly timeoutMs: number;
}

/** The state of a station, from its replies. */
export interface StationRequests {
  readonly name: string;
  isHanging: boolean;
  /** Typical latency of its replies; undefined: none so far. */
  typicalMs: number | undefined;
  inFlight: number;
}

/** An admitted request. */
export interface InFlight {
  readonly order: number;
  readonly station: StationRequests;
  /** The station hangs: this is its only request in flight. */
  readonly isProbe: boolean;
  readonly admittedMs: number;
  /** Aborts with the caller's signal, or with a RequestFailure of reason `timeout` when the request is overdue and delays others. */
  readonly controller: AbortController;
}

/** A reply that takes this many times the typical latency is overdue. */
const OVERDUE_FACTOR = 4;

/** A shorter delay may be random, however fast replies are. */
const MIN_OVERDUE_MS = 500;

/** The typical latency of the upstream follows the median: each reply changes it by at most this factor. */
const MEDIAN_STEP = 1.25;

/** Stations that hang share at most a quarter of the capacity. */
const PROBE_SHARE = 1 / 4;

/**
 * Tracks which stations hang: a request for them timed out, and none has been answered since. Each may have one request in flight (a probe),
 * all of them together a quarter of `concurrency`.
 */
export class CircuitBreaker {
  readonly maxProbes: number;
  readonly #options: BreakerOptions;
  readonly #stations = new Map<string, StationRequests>();
  readonly #hanging = new Set<StationRequests>();
  #typicalMs: number | undefined;
  /** The latest admission that was answered without delay. */
  #answeredOrder = -1;
  #probes = 0;
  /** Every request in flight is overdue; whether the upstream or the stations are the cause is unknown. */
  #isStalled = false;
  /** How many requests may be aborted to determine that, until the next reply without delay. */
  #canaries = 0;
  #nextProbeMs = Number.NEGATIVE_INFINITY;

  constructor(options: BreakerOptions) {
    this.#options = options;
    this.maxProbes = Math.max(1, Math.floor(options.concurrency * PROBE_SHARE));
  }

  station(name: string): StationRequests {
    let station = this.#stations.get(name);
    if (!station) {
      station = { name, isHanging: false, typicalMs: undefined, inFlight: 0 };
      this.#stations.set(name, station);
    }
    return station;
  }

  setHanging(station: StationRequests, isHanging: boolean): void {
    station.isHanging = isHanging;
    // A request may end after its station was forgotten.
    if (isHanging && this.#stations.get(station.name) === station) this.#hanging.add(station);
    else this.#hanging.delete(station);
  }

  isHanging(name: string): boolean {
    return this.#stations.get(name)?.isHanging ?? false;
  }

  /** Forgets the stations with other names, which are no longer configured. */
  retainStations(names: ReadonlySet<string>): void {
    for (const [name, station] of this.#stations) {
      if (names.has(name)) continue;
      this.#stations.delete(name);
      this.#hanging.delete(station);
    }
  }

  /** A station that hangs at another client of the same service hangs here too. */
  takeOver(former: CircuitBreaker): void {
    for (const [name, { isHanging }] of former.#stations) if (isHanging) this.setHanging(this.station(name), true);
  }

  /** Typical latency of the upstream; undefined: no reply so far. */
  get typicalMs(): number | undefined {
    return this.#typicalMs;
  }

  get hangingStations(): number {
    return this.#hanging.size;
  }

  /** With a concurrency below four a probe exceeds its share: the next one is delayed in favour of other requests, unless none waits. */
  mayProbe(nowMs: number, othersWait: boolean): boolean {
    if (this.#hanging.size === 0 || this.#probes >= this.maxProbes) return false;
    return !othersWait || (nowMs >= this.#nextProbeMs && !this.#isStalled);
  }

  admitted({ station, isProbe }: InFlight): void {
    station.inFlight += 1;
    if (isProbe) this.#probes += 1;
  }

  ended({ station, isProbe, admittedMs }: InFlight, nowMs: number): void {
    station.inFlight -= 1;
    if (!isProbe) return;
    this.#probes -= 1;
    const { concurrency } = this.#options;
    const restShare = Math.max(0, this.maxProbes / (concurrency * PROBE_SHARE) - 1);
    this.#nextProbeMs = nowMs + restShare * (nowMs - admittedMs);
  }

  answered({ order, station, admittedMs }: InFlight, nowMs: number): void {
    const latencyMs = nowMs - admittedMs;
    this.setHanging(station, false);
    this.#isStalled = false;
    if (latencyMs <= this.#overdueMs(this.#typicalMs)) {
      this.#answeredOrder = Math.max(this.#answeredOrder, order);
      this.#canaries = this.maxProbes;
    }
    // A station that was slow once may be slow again: its typical latency rises at once and falls slowly.
    station.typicalMs = Math.max(latencyMs, (station.typicalMs ?? 0) / MEDIAN_STEP);
    this.#typicalMs = towards(this.#typicalMs, latencyMs);
  }

  /** The caller no longer waits for the reply. The station counts as hanging only if later requests were answered first. */
  cancelled(request: InFlight, nowMs: number): void {
    if (this.#isOverdue(request, nowMs) && this.#isOvertaken(request)) this.setHanging(request.station, true);
  }

  /**
   * Aborts overdue requests above the share of hanging stations while other requests wait. A request is aborted only if one that was
   * admitted later has been answered without delay: while the upstream itself is slow, none is.
   */
  review(inFlight: Iterable<InFlight>, nowMs: number): void {
    const overdue = Array.from(inFlight).filter((request) => this.#isOverdue(request, nowMs));
    const excess = overdue.length - this.maxProbes;
    if (excess <= 0) return;
    const overtaken = overdue.filter((request) => !request.isProbe && this.#isOvertaken(request));
    this.#isStalled = overtaken.length === 0 && overdue.length === this.#options.concurrency;
    const aborted = this.#isStalled ? this.#canarySlot(overdue) : overtaken.slice(-excess);
    for (const { controller, admittedMs } of aborted) {
      const message = `no reply within ${Math.round(nowMs - admittedMs)} ms, while other stations were waiting`;
      controller.abort(new RequestFailure('timeout', message, { retryable: true }));
    }
  }

  /**
   * When every request in flight is overdue, one is aborted to admit a canary, which shows whether the upstream still answers: a probe, or
   * another one if stations are known to hang.
   */
  #canarySlot(overdue: readonly InFlight[]): readonly InFlight[] {
    const probe = overdue.findLast(({ isProbe }) => isProbe);
    if (probe) return [probe];
    if (this.#canaries === 0 || this.hangingStations < this.maxProbes) return [];
    this.#canaries -= 1;
    return overdue.slice(0, 1);
  }

  /** When the next of these requests becomes overdue; undefined: all of them are. */
  nextOverdueMs(inFlight: Iterable<InFlight>, nowMs: number): number | undefined {
    const laterMs = Array.from(inFlight, (request) => this.#overdueAtMs(request)).filter((atMs) => atMs > nowMs);
    return laterMs.length === 0 ? undefined : Math.min(...laterMs);
  }

  #isOverdue(request: InFlight, nowMs: number): boolean {
    return nowMs >= this.#overdueAtMs(request);
  }

  #overdueAtMs({ station, admittedMs }: InFlight): number {
    return admittedMs + Math.max(this.#overdueMs(this.#typicalMs), this.#overdueMs(station.typicalMs));
  }

  #isOvertaken({ order }: InFlight): boolean {
    return order < this.#answeredOrder;
  }

  #overdueMs(typicalMs = 0): number {
    return Math.min(Math.max(OVERDUE_FACTOR * typicalMs, MIN_OVERDUE_MS), this.#options.timeoutMs);
  }
}

function towards(typicalMs: number | undefined, latencyMs: number): number {
  if (typicalMs === undefined) return latencyMs;
  return Math.min(Math.max(latencyMs, typicalMs / MEDIAN_STEP), typicalMs * MEDIAN_STEP);
}
