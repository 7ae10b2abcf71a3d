import { getOrCreate } from '../model/sums.ts';
import { namesText } from '../text/words.ts';
import type { LogFields, Logger } from './logger.ts';

/** Another station of an upstream. */
interface Peer {
  readonly spec: { readonly name: string };
  readonly isRefreshing: boolean;
  readonly isFailing: boolean;
}

export interface StationLine {
  readonly station: string;
  readonly upstream: string;
  readonly level: keyof Logger;
  readonly message: string;
  /** Stations with the same cause share a line. */
  readonly cause: string;
  /** In a shared line, those of its first station. */
  readonly fields: LogFields;
  /** Left out of a shared line. */
  readonly ownFields?: LogFields;
  /** The time in which every station of the upstream is refreshed once. */
  readonly ttlMs: number;
  /** Whether it waits for the stations that still fail, because they probably recover too. */
  readonly isRecovery?: boolean;
}

interface SharedLine {
  readonly first: StationLine;
  readonly sinceMs: number;
  readonly stations: Map<string, StationLine>;
}

export interface SharedLinesOptions {
  readonly log: Logger;
  readonly peersOf?: (upstream: string) => readonly Peer[];
  readonly elapsedMs?: () => number;
}

/** A refresh that takes long does not delay the lines of others. */
const MAX_WAIT_MS = 10_000;

/**
 * Logs what several stations of an upstream have in common once: an outage of an account with 90 stations is one line. A line waits for the
 * refreshes that run at the same time, and is repeated for further stations after a ttl.
 */
export class SharedLines {
  readonly #log: Logger;
  readonly #peersOf: (upstream: string) => readonly Peer[];
  readonly #elapsedMs: () => number;
  readonly #waiting = new Map<string, SharedLine>();
  /** By upstream: when lines were written since one of its stations recovered. */
  readonly #writtenMs = new Map<string, Map<string, number>>();

  constructor({ log, peersOf = () => [], elapsedMs = () => performance.now() }: SharedLinesOptions) {
    this.#log = log;
    this.#peersOf = peersOf;
    this.#elapsedMs = elapsedMs;
  }

  add(line: StationLine): void {
    // A station that fails again, or no longer does, has both lines in their order.
    for (const [key, { first, stations }] of this.#waiting)
      if (stations.has(line.station) && first.isRecovery !== line.isRecovery) this.#write(key);
    const key = JSON.stringify([line.upstream, line.message, line.cause]);
    const shared = getOrCreate(this.#waiting, key, () => ({
      first: line,
      sinceMs: this.#elapsedMs(),
      stations: new Map(),
    }));
    shared.stations.set(line.station, line);
  }

  /** Writes the lines of the upstream that wait for nothing more, whenever a refresh of one of its stations has ended. */
  refreshEnded(upstream: string, station: string): void {
    const waiting = [...this.#waiting].filter(([, { first }]) => first.upstream === upstream);
    if (waiting.length === 0) return;
    const others = this.#peersOf(upstream).filter(({ spec }) => spec.name !== station);
    const isRefreshing = others.some((other) => other.isRefreshing);
    for (const [key, { first, sinceMs }] of waiting) {
      const recoveringMs = others.some(({ isFailing }) => isFailing) ? sinceMs : undefined;
      const beforeMs = first.isRecovery ? recoveringMs : this.#writtenMs.get(upstream)?.get(key);
      const dueMs = beforeMs === undefined ? sinceMs : Math.max(sinceMs, beforeMs + first.ttlMs);
      if (this.#elapsedMs() >= dueMs + (isRefreshing ? MAX_WAIT_MS : 0)) this.#write(key);
    }
  }

  /** Before stations go. */
  writeAll(): void {
    for (const key of [...this.#waiting.keys()]) this.#write(key);
    this.#writtenMs.clear();
  }

  #write(key: string): void {
    const { first, stations } = this.#waiting.get(key) as SharedLine;
    const { level, message, station, upstream, fields, ownFields } = first;
    this.#waiting.delete(key);
    if (first.isRecovery) this.#writtenMs.delete(upstream);
    else getOrCreate(this.#writtenMs, upstream, () => new Map()).set(key, this.#elapsedMs());
    const names = [...stations.keys()];
    const who =
      names.length === 1
        ? { station, upstream }
        : { upstream, stations: names.length, first_stations: namesText(names) };
    this.#log[level](message, { ...who, ...fields, ...(names.length === 1 && ownFields) });
  }
}
