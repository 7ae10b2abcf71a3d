import type { QueuedRefresh } from './refresh-queue.ts';

/** The requests of a station, as far as admission needs to know them. */
export interface StationRequests {
  readonly name: string;
  /** A request timed out, and none has been answered since. */
  isHanging: boolean;
  /** The service has replied to it, whatever it said. */
  hasReplied: boolean;
  /** The replies with 503 since its last accepted request. */
  refused: Refused | undefined;
  inFlight: number;
}

interface Refused {
  readonly replies: number;
  /** When the first of them came. */
  readonly sinceMs: number;
  /** When the latest of these requests started. */
  readonly startedMs: number;
  readonly retryAfterMs: number | undefined;
}

/** An admitted request. */
export interface InFlight {
  readonly refresh: QueuedRefresh;
  readonly station: StationRequests;
  /** The station hangs: this is its only request in flight. */
  readonly isProbe: boolean;
  readonly admittedMs: number;
}

/** Stations that hang share at most a quarter of the capacity. */
const PROBE_SHARE = 1 / 4;

/** Limits the requests of stations that hang: each may have one in flight (a probe), all of them together a quarter of `concurrency`. */
export class CircuitBreaker {
  readonly #stations = new Map<string, StationRequests>();
  readonly #maxProbes: number;
  /** How long other requests go first after a probe, as a multiple of its duration: below a concurrency of four, one probe is more than a quarter. */
  readonly #restShare: number;
  #probes = 0;
  #nextProbeMs = Number.NEGATIVE_INFINITY;

  constructor(concurrency: number) {
    this.#maxProbes = Math.max(1, Math.floor(concurrency * PROBE_SHARE));
    this.#restShare = Math.max(0, this.#maxProbes / (concurrency * PROBE_SHARE) - 1);
  }

  station(name: string): StationRequests {
    let station = this.#stations.get(name);
    if (!station) {
      station = { name, isHanging: false, hasReplied: false, refused: undefined, inFlight: 0 };
      this.#stations.set(name, station);
    }
    return station;
  }

  /** The station has a request to send. */
  add(name: string): void {
    this.station(name);
  }

  isHanging(name: string): boolean {
    return this.#stations.get(name)?.isHanging ?? false;
  }

  /** Whether the station hangs and has no request in flight. */
  isProbeable(name: string): boolean {
    const station = this.#stations.get(name);
    return station?.isHanging === true && station.inFlight === 0;
  }

  hasReplied(name: string): boolean {
    return this.#stations.get(name)?.hasReplied ?? false;
  }

  /** How many have sent a request, or wait to. */
  get stations(): number {
    return this.#stations.size;
  }

  get hangingStations(): number {
    return Array.from(this.#stations.values()).filter(({ isHanging }) => isHanging).length;
  }

  /** Forgets the stations with other names, which are no longer configured. */
  retainStations(names: ReadonlySet<string>): void {
    for (const name of this.#stations.keys()) if (!names.has(name)) this.#stations.delete(name);
  }

  /** A station that hangs at another client of the same service hangs here too. */
  takeOver(former: CircuitBreaker): void {
    for (const { name, isHanging } of former.#stations.values()) if (isHanging) this.station(name).isHanging = true;
  }

  /** The replies with 503 so far were an outage, which has ended for all stations. */
  outageEnded(sinceMs: number): void {
    for (const station of this.#stations.values())
      if (station.refused) station.refused = { ...station.refused, sinceMs, replies: 0 };
  }

  mayProbe(nowMs: number, othersWait: boolean): boolean {
    return this.#probes < this.#maxProbes && (!othersWait || nowMs >= this.#nextProbeMs);
  }

  admitted({ station, isProbe }: InFlight): void {
    station.inFlight += 1;
    if (isProbe) this.#probes += 1;
  }

  ended({ station, isProbe, admittedMs }: InFlight, nowMs: number): void {
    station.inFlight -= 1;
    if (!isProbe) return;
    this.#probes -= 1;
    this.#nextProbeMs = nowMs + this.#restShare * (nowMs - admittedMs);
  }
}
