import { setMaxListeners } from 'node:events';
import { type FailureReason, ListingFailure } from '../../../src/model/failure.ts';
import { randomFrom } from '../../../src/simulator/random.ts';
import type { InFlight } from '../../../src/upstream/admission/circuit-breaker.ts';
import { type QueuedRefresh, RequestLimiter } from '../../../src/upstream/admission/request-limiter.ts';
import { RequestRetries } from '../../../src/upstream/admission/retry.ts';
import { RequestFailure } from '../../../src/upstream/request-failure.ts';
import { SimulatedUpstream, type UpstreamModel } from './simulated-upstream.ts';
import { VirtualClock } from './virtual-clock.ts';

export interface FleetModel {
  readonly stations: number;
  readonly pages: number;
  readonly ttlMs?: number;
  readonly refreshTimeoutMs?: number;
  readonly concurrency?: number;
  /** Stations become due over this time at first, rather than all at once. */
  readonly spreadMs?: number;
  readonly seed?: number;
}

const ERROR_TTL_MS = 10_000;
const TIMEOUT_MS = 10_000;
const MAX_RETRIES = 2;

interface Success {
  readonly dueAtMs: number;
  readonly startMs: number;
  readonly endMs: number;
}

class SimulatedStation {
  readonly name: string;
  readonly successes: Success[] = [];
  readonly failures: FailureReason[] = [];

  constructor(name: string) {
    this.name = name;
  }

  /** The greatest age of its data in that time, counted from the start of the refresh that brought them. */
  maxAgeMs(fromMs: number, untilMs: number): number {
    const ends = [...this.successes.map(({ endMs }) => endMs), untilMs];
    const ages = ends
      .filter((atMs) => atMs >= fromMs && atMs <= untilMs)
      .map(
        (atMs) => atMs - (this.successes.findLast(({ endMs }) => endMs < atMs)?.startMs ?? Number.NEGATIVE_INFINITY),
      );
    return Math.max(...ages);
  }
}

/** Stations that are refreshed whenever they are due, through the limiter, as the exporter does. */
export class SimulatedFleet {
  readonly clock = new VirtualClock();
  readonly upstream: SimulatedUpstream;
  readonly limiter: RequestLimiter;
  readonly stations: readonly SimulatedStation[];
  readonly #model: Required<FleetModel>;
  readonly #random: () => number;

  constructor(model: FleetModel, upstream: UpstreamModel) {
    this.#model = {
      ttlMs: 60_000,
      refreshTimeoutMs: 120_000,
      concurrency: 8,
      spreadMs: 0,
      seed: 1,
      ...model,
    };
    const { seed, concurrency } = this.#model;
    this.#random = randomFrom(seed);
    this.upstream = new SimulatedUpstream(upstream, this.clock, randomFrom(seed + 1));
    const limits = { concurrency, requestsPerSecond: 0, timeoutMs: TIMEOUT_MS };
    this.limiter = new RequestLimiter({ ...limits, ...this.clock, observer: {} });
    this.stations = Array.from({ length: model.stations }, (_, index) => new SimulatedStation(`station-${index}`));
    for (const station of this.stations) this.#refreshAt(station, this.#random() * this.#model.spreadMs);
  }

  runUntil(untilMs: number): Promise<void> {
    return this.clock.runUntil(untilMs);
  }

  /** Refreshes a station beside those that are due, once. */
  refreshNow(name: string): Promise<unknown> {
    return this.#refresh(new SimulatedStation(name), this.clock.now());
  }

  /** How many refreshes failed, by reason. */
  failures(stations: readonly SimulatedStation[] = this.stations): Partial<Record<FailureReason, number>> {
    const counts: Partial<Record<FailureReason, number>> = {};
    for (const reason of stations.flatMap(({ failures }) => failures)) counts[reason] = (counts[reason] ?? 0) + 1;
    return counts;
  }

  maxAgeMs(fromMs: number, untilMs: number, stations: readonly SimulatedStation[] = this.stations): number {
    return Math.max(...stations.map((station) => station.maxAgeMs(fromMs, untilMs)));
  }

  /** When the last of these stations had its first success after that time. */
  allRefreshedMs(fromMs: number, stations: readonly SimulatedStation[] = this.stations): number {
    const firsts = stations.map(
      ({ successes }) => successes.find(({ endMs }) => endMs > fromMs)?.endMs ?? Number.POSITIVE_INFINITY,
    );
    return Math.max(...firsts);
  }

  #refreshAt(station: SimulatedStation, dueAtMs: number): void {
    const { ttlMs } = this.#model;
    this.clock.schedule(async () => {
      const nextMs = await this.#refresh(station, dueAtMs);
      // As background refreshes do: not all in step, and not again at once.
      this.#refreshAt(
        station,
        Math.max(nextMs, this.clock.now() + 1000) + 0.1 * this.#random() * Math.min(ttlMs, ERROR_TTL_MS),
      );
    }, dueAtMs - this.clock.now());
  }

  /** Resolves with the time of the next refresh. */
  async #refresh(station: SimulatedStation, dueAtMs: number): Promise<number> {
    const { ttlMs, refreshTimeoutMs, pages, concurrency } = this.#model;
    const controller = new AbortController();
    setMaxListeners(0, controller.signal);
    let startMs = 0;
    let cancelTimeout: () => void = () => undefined;
    const refresh: QueuedRefresh = {
      station: station.name,
      outdatedAtMs: dueAtMs,
      signal: controller.signal,
      started: () => {
        startMs = this.clock.now();
        cancelTimeout = this.clock.schedule(
          () => controller.abort(new ListingFailure('timeout', 'refresh timeout')),
          refreshTimeoutMs,
        );
      },
    };
    const fetchPage = () => this.#get(refresh, () => startMs + refreshTimeoutMs);
    try {
      await fetchPage();
      let left = pages - 1;
      const worker = async () => {
        while (left > 0) {
          left -= 1;
          await fetchPage();
        }
      };
      await Promise.all(Array.from({ length: Math.min(left, concurrency) }, worker));
      station.successes.push({ dueAtMs, startMs, endMs: this.clock.now() });
      return startMs + ttlMs;
    } catch (error) {
      if (!(error instanceof ListingFailure)) throw error;
      station.failures.push(error.reason);
      return this.clock.now() + ERROR_TTL_MS;
    } finally {
      cancelTimeout();
      controller.abort();
    }
  }

  /** What the client does with a request. */
  async #get(refresh: QueuedRefresh, deadlineMs: () => number): Promise<void> {
    const { signal } = refresh;
    const retries = new RequestRetries(MAX_RETRIES, this.limiter);
    let pauseMs = 0;
    let throttled: RequestFailure | undefined;
    for (;;) {
      let inFlight: InFlight | undefined;
      try {
        const send = (admitted: InFlight) => {
          inFlight = admitted;
          return this.upstream.request(refresh.station, TIMEOUT_MS, admitted.controller.signal);
        };
        await this.limiter.run(refresh, send, pauseMs);
        return;
      } catch (error) {
        // A refresh that times out while its requests are throttled fails for that reason.
        if (signal.aborted) throw throttled ?? signal.reason;
        if (!(error instanceof RequestFailure) || !inFlight) throw error;
        const times = { nowMs: this.clock.now(), deadlineMs: deadlineMs(), random: this.#random() };
        const decision = retries.decide(error, inFlight, times);
        if (typeof decision !== 'number') throw error;
        throttled = retries.keepsSlot ? error : undefined;
        pauseMs = retries.keepsSlot ? decision : 0;
        if (!retries.keepsSlot) await this.clock.sleep(decision, signal);
      }
    }
  }
}
