import type { RequestFailure } from './request-failure.ts';

const BASE_MS = 250;
const CAP_MS = 10_000;

interface RetrySituation {
  /** Retries made so far. */
  readonly retries: number;
  readonly maxRetries: number;
  readonly nowMs: number;
  readonly deadlineMs: number;
  /** In [0, 1). */
  readonly random: number;
  /** The next try asks for less: that is no repetition, and takes nothing from the retries. */
  readonly asksForLess: boolean;
}

/** How long to wait before the next try; undefined when there is none, be it because the wait would outlast the deadline. */
export function retryDelay(failure: Pick<RequestFailure, 'retryable' | 'retryAfterMs'>, situation: RetrySituation): number | undefined {
  const { retries, maxRetries, nowMs, deadlineMs, random, asksForLess } = situation;
  if (!asksForLess && (!failure.retryable || retries >= maxRetries)) return undefined;
  const backoffMs = random * Math.min(CAP_MS, BASE_MS * 2 ** retries);
  const delayMs = Math.max(backoffMs, failure.retryAfterMs ?? 0);
  return nowMs + delayMs < deadlineMs ? delayMs : undefined;
}
