import { HOUR_MS } from '../model/clock.ts';
import type { FailureReason, FailureSummary } from '../model/failure.ts';
import { type Loss, VerifiedNumbers } from './loss.ts';

/** A refresh that ended. An absent number is unknown. */
export interface EndedRefresh {
  /** Wall time of its end. Times decrease where the wall clock was set back. */
  readonly atMs: number;
  /** An incomplete listing is served; a postponed refresh leaves the station as it was. */
  readonly outcome: 'succeeded' | 'incomplete' | 'postponed' | 'failed';
  readonly failure?: FailureSummary;
  /** For the upstream's capacity. */
  readonly waitedMs: number;
  readonly durationMs?: number;
  readonly pages?: number;
  readonly resources?: number;
  /** Resources and rejected records of the latest listing that adds up. */
  readonly verifiedResources?: number;
  readonly firing?: number;
  /** Resources in states of unknown meaning; absent when there are none. */
  readonly unknown?: number;
  readonly added?: number;
  readonly removed?: number;
  readonly stateChanges?: number;
  readonly rulesChanges?: number;
  /** Whether the listing could not be compared with those before. */
  readonly isIncomparable?: boolean;
}

/** The latest refreshes of a station failed. */
export interface FailureStreak {
  /** The end of the first refresh that failed. */
  readonly fromMs: number;
  readonly failed: number;
  readonly reason: FailureReason;
  /** The status of the reply, where that is the reason. */
  readonly status: number | undefined;
  /** Since when they have failed for this reason: what failed before may have had another cause. */
  readonly reasonFromMs: number;
}

/** How many resources a refresh found added and removed. */
interface ResourceNumberChange {
  readonly atMs: number;
  readonly added: number;
  readonly removed: number;
}

/** What must be known of all refreshes, also of those that are no longer kept. */
export interface RefreshHistory {
  /** undefined: the latest refresh that was not postponed succeeded, or there is none. */
  readonly failureStreak: FailureStreak | undefined;
  /** Those of at least the last hour, the oldest first. */
  readonly numberChanges: readonly ResourceNumberChange[];
  /** Since when no listing has been verified complete; undefined: the latest one is, or there is none. */
  readonly incompleteSinceMs: number | undefined;
  /** Since when every listing has had resources in states of unknown meaning; undefined: the latest one has none, or there is none. */
  readonly unknownSinceMs: number | undefined;
  /** The end of the first listing with which others were compared; undefined: there is none yet. */
  readonly comparedSinceMs: number | undefined;
  /** The end of the latest listing that was compared with none, although there was an earlier one, as after another path was configured: changes before it may be missing. undefined: there is none. */
  readonly gapEndMs: number | undefined;
}

const KEPT = 60;

const MAX_MESSAGE_CHARACTERS = 200;

/** The latest refreshes of a station in the order in which they ended, and what all of them have shown. */
export class LatestRefreshes {
  /** The oldest first. */
  readonly #kept: EndedRefresh[] = [];
  readonly #verified = new VerifiedNumbers();
  #history: RefreshHistory = {
    failureStreak: undefined,
    numberChanges: [],
    incompleteSinceMs: undefined,
    unknownSinceMs: undefined,
    comparedSinceMs: undefined,
    gapEndMs: undefined,
  };

  get history(): RefreshHistory {
    return this.#history;
  }

  /** undefined: not many resources are gone. */
  lossAt(nowMs: number): Loss | undefined {
    return this.#verified.lossAt(nowMs);
  }

  add(refresh: EndedRefresh): void {
    const { atMs, outcome, failure, verifiedResources } = refresh;
    if (outcome === 'failed' && failure) {
      this.#history = { ...this.#history, failureStreak: streakAfter(this.#history.failureStreak, failure, atMs) };
      this.#verified.fail(atMs);
    }
    if (verifiedResources !== undefined) this.#verified.add(verifiedResources, atMs);
    // A refresh without a listing shows neither that something is missing nor that nothing is.
    if (outcome === 'succeeded' || outcome === 'incomplete') this.#history = historyAfter(this.#history, refresh);
    this.#kept.push(failure ? { ...refresh, failure: this.#shortened(failure) } : refresh);
    if (this.#kept.length > KEPT) this.#kept.shift();
  }

  latest(): EndedRefresh | undefined {
    return this.#kept.at(-1);
  }

  newestFirst(): readonly EndedRefresh[] {
    return this.#kept.toReversed();
  }

  /** A station that goes on failing keeps one copy of its message. */
  #shortened({ reason, message, status }: FailureSummary): FailureSummary {
    const text = shortText(message);
    const before = this.latest()?.failure;
    const isSame = before?.reason === reason && before.message === text && before.status === status;
    return isSame ? before : { reason, message: text, ...(status !== undefined && { status }) };
  }
}

/** `listing`: a refresh with a listing. */
function historyAfter(before: RefreshHistory, listing: EndedRefresh): RefreshHistory {
  const { atMs, outcome, unknown = 0, added = 0, removed, isIncomparable } = listing;
  const { comparedSinceMs } = before;
  const isBase = !isIncomparable && (removed === undefined || comparedSinceMs === undefined);
  const recent = before.numberChanges.filter((change) => change.atMs >= atMs - HOUR_MS);
  return {
    failureStreak: undefined,
    numberChanges:
      removed === undefined || added + removed === 0 ? before.numberChanges : [...recent, { atMs, added, removed }],
    incompleteSinceMs: outcome === 'incomplete' ? (before.incompleteSinceMs ?? atMs) : undefined,
    unknownSinceMs: unknown > 0 ? (before.unknownSinceMs ?? atMs) : undefined,
    comparedSinceMs: comparedSinceMs ?? (isBase ? atMs : undefined),
    gapEndMs: isBase && comparedSinceMs !== undefined ? atMs : before.gapEndMs,
  };
}

function streakAfter(before: FailureStreak | undefined, failure: FailureSummary, atMs: number): FailureStreak {
  const { reason } = failure;
  const status = reason === 'status' ? failure.status : undefined;
  const isSame = before?.reason === reason && before.status === status;
  return {
    fromMs: before?.fromMs ?? atMs,
    failed: (before?.failed ?? 0) + 1,
    reason,
    status,
    reasonFromMs: isSame ? before.reasonFromMs : atMs,
  };
}

/** A copy: a slice would keep the whole message in memory. */
function shortText(message: string): string {
  const start = message.slice(0, MAX_MESSAGE_CHARACTERS - 1);
  return Buffer.from(message.length <= MAX_MESSAGE_CHARACTERS ? message : `${start}…`).toString();
}
