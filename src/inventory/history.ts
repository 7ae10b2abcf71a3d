import { DAY_MS } from '../model/clock.ts';
import type { FailureReason, FailureSummary } from '../model/failure.ts';

/** How a refresh ended, from the best to the worst: an incomplete listing is served, a postponed refresh leaves the station as it was. */
const OUTCOMES = ['succeeded', 'incomplete', 'postponed', 'failed'] as const;

/** A refresh that ended, or several of one bucket. An absent number is unknown. */
export interface HistoryEntry {
  /** Wall time of the end of the latest one. Times decrease where the wall clock was set back. */
  readonly atMs: number;
  /** Of several: the end of the first one. */
  readonly firstMs?: number;
  readonly refreshes: number;
  readonly failed: number;
  /** The worst of them. */
  readonly outcome: (typeof OUTCOMES)[number];
  /** The failure of the latest one with this outcome. */
  readonly failure?: FailureSummary;
  /** The longest wait for the upstream's capacity, and the longest duration. */
  readonly waitedMs: number;
  readonly durationMs?: number | undefined;
  /** Numbers of the latest listing. */
  readonly pages?: number;
  readonly resources?: number;
  readonly firing?: number;
  /** Resources in states of unknown meaning; absent when there are none. Of several refreshes: the most. */
  readonly unknown?: number | undefined;
  /** Of several: the smallest and the largest numbers. Not as objects, which take 20 KB more per station. */
  readonly leastResources?: number | undefined;
  readonly mostResources?: number | undefined;
  readonly leastFiring?: number | undefined;
  readonly mostFiring?: number | undefined;
  /** Sums over all of them. */
  readonly added?: number | undefined;
  readonly removed?: number | undefined;
  readonly stateChanges?: number | undefined;
  readonly rulesChanges?: number | undefined;
  /** Whether the latest listing could not be compared with those before. */
  readonly isHeld?: boolean;
}

/** A time in which refreshes failed: from the end of the first that failed to the end of the first that succeeded. */
export interface Outage {
  readonly fromMs: number;
  /** undefined: it has not ended. */
  readonly toMs: number | undefined;
  readonly failed: number;
  readonly reasons: readonly FailureReason[];
  /** The statuses of the replies whose reason is `status`. */
  readonly statuses: readonly number[];
}

/** Outages that are kept, also those of more than a day ago. */
const OUTAGES = 20;

/** Refreshes that are kept one by one. */
const RECENT = 60;

/** The graph of a day has one cell for each bucket. */
const BUCKET_MS = 6 * 60_000;

/** Older buckets are dropped after a day. */
const BUCKETS = DAY_MS / BUCKET_MS;

const MAX_MESSAGE_CHARACTERS = 200;

/** The refreshes of a station in the order in which they ended; those that are no longer recent are merged by bucket. */
export class History {
  /** The oldest first. */
  readonly #recent: HistoryEntry[] = [];
  readonly #buckets: HistoryEntry[] = [];
  #outages: readonly Outage[] = [];
  #incompleteSinceMs: number | undefined;
  #unknownSinceMs: number | undefined;
  #comparedSinceMs: number | undefined;
  #refreshes = 0;

  /** How many refreshes were added, also those that are no longer kept. */
  get refreshes(): number {
    return this.#refreshes;
  }

  /** The latest outages, the oldest first. */
  get outages(): readonly Outage[] {
    return this.#outages;
  }

  /** Since when no listing has been verified complete; undefined: the latest one is, or there is none. */
  get incompleteSinceMs(): number | undefined {
    return this.#incompleteSinceMs;
  }

  /** Since when every listing has had resources in states of unknown meaning; undefined: the latest one has none, or there is none. */
  get unknownSinceMs(): number | undefined {
    return this.#unknownSinceMs;
  }

  /** The end of the latest listing that was not held, but compared with none, such as the first one after a reload. undefined: there is none yet. */
  get comparedSinceMs(): number | undefined {
    return this.#comparedSinceMs;
  }

  add(entry: HistoryEntry): void {
    const { atMs, outcome, unknown = 0 } = entry;
    this.#refreshes += entry.refreshes;
    this.#outages = outagesAfter(this.#outages, entry).slice(-OUTAGES);
    // A refresh without a listing shows neither that something is missing nor that nothing is.
    if (outcome === 'succeeded' || outcome === 'incomplete') {
      const isFirst = entry.removed === undefined || this.#comparedSinceMs === undefined;
      if (isFirst && !entry.isHeld) this.#comparedSinceMs = atMs;
      this.#incompleteSinceMs = outcome === 'incomplete' ? (this.#incompleteSinceMs ?? atMs) : undefined;
      this.#unknownSinceMs = unknown > 0 ? (this.#unknownSinceMs ?? atMs) : undefined;
    }
    this.#recent.push(entry.failure ? { ...entry, failure: this.#shortened(entry.failure) } : entry);
    if (this.#recent.length > RECENT) this.#merge(this.#recent.shift() as HistoryEntry);
  }

  latest(): HistoryEntry | undefined {
    return this.#recent.at(-1);
  }

  newestFirst(): readonly HistoryEntry[] {
    return [...this.#buckets, ...this.#recent].reverse();
  }

  /** Those that ended at that time or later, the oldest first. */
  since(fromMs: number): readonly HistoryEntry[] {
    const isLater = ({ atMs }: HistoryEntry) => atMs >= fromMs;
    return [...this.#buckets.filter(isLater), ...this.#recent.filter(isLater)];
  }

  #merge(entry: HistoryEntry): void {
    const last = this.#buckets.at(-1);
    if (last && bucketOf(last) === bucketOf(entry)) {
      this.#buckets[this.#buckets.length - 1] = mergedEntry(last, entry);
      return;
    }
    this.#buckets.push(entry);
    if (this.#buckets.length > BUCKETS) this.#buckets.shift();
  }

  /** A station that goes on failing keeps one copy of its message. */
  #shortened({ reason, message, status }: FailureSummary): FailureSummary {
    const text = shortText(message);
    const before = this.latest()?.failure;
    const isSame = before?.reason === reason && before.message === text && before.status === status;
    return isSame ? before : { reason, message: text, ...(status !== undefined && { status }) };
  }
}

function outagesAfter(outages: readonly Outage[], { outcome, atMs, failure }: HistoryEntry): readonly Outage[] {
  const last = outages.at(-1);
  const current = last?.toMs === undefined ? last : undefined;
  const others = current ? outages.slice(0, -1) : outages;
  if (outcome === 'failed' && failure) {
    const { fromMs = atMs, failed = 0, reasons = [], statuses = [] } = current ?? {};
    const { reason, status } = failure;
    const added = reason === 'status' && status !== undefined ? [status] : [];
    return [
      ...others,
      {
        fromMs,
        toMs: undefined,
        failed: failed + 1,
        reasons: [...new Set([...reasons, reason])],
        statuses: [...new Set([...statuses, ...added])],
      },
    ];
  }
  return current && outcome !== 'postponed' ? [...others, { ...current, toMs: atMs }] : outages;
}

/** A copy, because V8 keeps a string in memory as long as a slice of it. */
function shortText(message: string): string {
  // Without half of a surrogate pair at the end.
  const start = message.slice(0, MAX_MESSAGE_CHARACTERS - 1).replace(/[\ud800-\udbff]$/, '');
  return Buffer.from(message.length <= MAX_MESSAGE_CHARACTERS ? message : `${start}…`).toString();
}

function bucketOf({ atMs }: HistoryEntry): number {
  return Math.floor(atMs / BUCKET_MS);
}

function mergedEntry(older: HistoryEntry, newer: HistoryEntry): HistoryEntry {
  const { outcome, failure } = OUTCOMES.indexOf(older.outcome) > OUTCOMES.indexOf(newer.outcome) ? older : newer;
  return {
    ...older,
    ...newer,
    firstMs: Math.min(older.firstMs ?? older.atMs, newer.atMs),
    outcome,
    ...(failure && { failure }),
    refreshes: older.refreshes + newer.refreshes,
    failed: older.failed + newer.failed,
    waitedMs: Math.max(older.waitedMs, newer.waitedMs),
    durationMs: combinedNumber(older.durationMs, newer.durationMs, Math.max),
    leastResources: combinedNumber(older.leastResources ?? older.resources, newer.resources, Math.min),
    mostResources: combinedNumber(older.mostResources ?? older.resources, newer.resources, Math.max),
    leastFiring: combinedNumber(older.leastFiring ?? older.firing, newer.firing, Math.min),
    mostFiring: combinedNumber(older.mostFiring ?? older.firing, newer.firing, Math.max),
    unknown: combinedNumber(older.unknown, newer.unknown, Math.max),
    added: combinedNumber(older.added, newer.added, plus),
    removed: combinedNumber(older.removed, newer.removed, plus),
    stateChanges: combinedNumber(older.stateChanges, newer.stateChanges, plus),
    rulesChanges: combinedNumber(older.rulesChanges, newer.rulesChanges, plus),
  };
}

function combinedNumber(a: number | undefined, b: number | undefined, of: typeof plus): number | undefined {
  return a === undefined || b === undefined ? (a ?? b) : of(a, b);
}

function plus(a: number, b: number): number {
  return a + b;
}

/** The end of the first refresh of an entry. */
export function firstMsOf({ atMs, firstMs = atMs }: HistoryEntry): number {
  return firstMs;
}
