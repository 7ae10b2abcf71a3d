import type { FailureSummary } from './failure.ts';

/** The queue and the limits of an upstream at one moment. */
export interface UpstreamLoad {
  /** Infinity: no limit. */
  readonly requestsPerSecond: number;
  /** How long `Retry-After` still pauses all requests; 0: not at all. */
  readonly pauseMs: number;
  /** The 503 that requested this, when nothing has been accepted since. */
  readonly refusal?: FailureSummary | undefined;
  /** During the last five minutes. */
  readonly recentRequests: number;
  readonly recentThrottled: number;
  /** How long ago the first request was throttled after five minutes without any; undefined: none was recently. */
  readonly throttledForMs: number | undefined;
  readonly waitingRefreshes: number;
  /** For how long the first of them has waited; 0: none waits. */
  readonly oldestWaitingMs: number;
  readonly hangingStations: number;
  /** Typical duration of a request without its time in the queue; undefined: no reply so far. */
  readonly typicalLatencyMs: number | undefined;
}
