import type { FailureSummary } from '../model/failure.ts';
import { type Capacity, capacityText, isExceeded } from '../status/capacity.ts';
import type { StationStatus, UpstreamStatus } from '../status/station-status.ts';
import { isOverloaded } from '../status/thresholds.ts';
import { countText, durationText, firstOf, namesText, numberText } from '../text/words.ts';
import { generalAdvice } from './advice.ts';
import { UNAVAILABLE_ADVICE } from './failure-rules.ts';
import { byUrgency, type FleetProblem } from './problem.ts';
import { isReported, type RemovedStations } from './removed-stations.ts';
import { problemsOfStations } from './station-problems.ts';

/** Since when which problems have kept an older configuration in force. */
export interface RejectedReload {
  readonly atMs: number;
  readonly problems: readonly string[];
  /** The latest reload failed because of a bug of the exporter. */
  readonly isInternal?: boolean;
}

export interface ProblemSources {
  readonly stations: readonly StationStatus[];
  readonly upstreams: readonly UpstreamStatus[];
  readonly rejectedReload?: RejectedReload | undefined;
  readonly rejectedWebReload?: RejectedReload | undefined;
  readonly removedStations?: RemovedStations | undefined;
  readonly nowMs: number;
}

/** The most urgent first, in the order of the severities of alerts; equal problems of several stations are one. */
export function currentProblems(sources: ProblemSources): readonly FleetProblem[] {
  const { stations, upstreams, rejectedReload, rejectedWebReload, removedStations, nowMs } = sources;
  return byUrgency([
    ...problemsOfStations(stations, nowMs),
    ...reloadProblems('configuration', rejectedReload, 'Correct the file, and reload it.'),
    ...reloadProblems(
      'web configuration',
      rejectedWebReload,
      'Correct the file: it is reread automatically. Some changes require a restart.',
    ),
    ...(removedStations && isReported(removedStations, nowMs) ? [describeRemoved(removedStations)] : []),
    ...upstreams.flatMap((upstream) => upstreamProblems(upstream, sources)),
  ]);
}

/** Problems of a file that are shown. */
const MAX_FILE_PROBLEMS = 5;

function reloadProblems(
  category: 'configuration' | 'web configuration',
  rejected: RejectedReload | undefined,
  advice: string,
): readonly FleetProblem[] {
  if (rejected === undefined) return [];
  const { isInternal = false } = rejected;
  return [
    {
      category,
      key: category,
      tone: 'warning',
      stations: [],
      who: category,
      problem: isInternal ? 'not reloaded' : 'rejected',
      what: `The file was ${isInternal ? 'not reloaded' : 'rejected'}: what was in force before remains in use.`,
      quotes: firstOf(rejected.problems, MAX_FILE_PROBLEMS),
      advice: isInternal ? generalAdvice('internal').advice : advice,
      sinceMs: rejected.atMs,
    },
  ];
}

/** Nothing else shows them: their series, and alerts on these, end. */
function describeRemoved({ atMs, before, names }: RemovedStations): FleetProblem {
  const problem = `${numberText(names.length)} of ${countText(before, 'station')} removed by a reload`;
  return {
    category: 'configuration',
    key: 'removed stations',
    tone: 'warning',
    stations: [],
    who: 'configuration',
    problem,
    what: `${problem}: ${namesText(names)}. Alerts on them end.`,
    advice: 'If they were not removed on purpose, restore the files and reload. Half of a file may be valid.',
    sinceMs: atMs,
  };
}

function upstreamAdvice(refusal: FailureSummary | undefined, isByService: boolean): string {
  if (refusal !== undefined) return UNAVAILABLE_ADVICE;
  return isByService ? generalAdvice('rate_limited').advice : OVERLOAD_ADVICE;
}

/** Where the service does not limit requests. */
const OVERLOAD_ADVICE = 'Raise cache.ttl, or concurrency and requests_per_second if the service can take more.';

/** What limits the refreshes of an upstream, unless failures say it. A limit above what is needed makes no data older. */
function upstreamProblems(
  { name, load, capacity }: UpstreamStatus,
  { stations, nowMs }: ProblemSources,
): readonly FleetProblem[] {
  const { pauseMs, refusal, recentThrottled, throttledForMs, waitingRefreshes, oldestWaitingMs } = load;
  const isShort = capacity !== undefined && isExceeded(capacity);
  const failures = stations.filter(({ upstream }) => upstream === name).map(({ failure }) => failure);
  const hasRateLimitedFailure = failures.some((failure) => failure?.reason === 'rate_limited');
  // The Retry-After of a service that is unavailable is no reason to send fewer requests.
  const isUnavailable = failures.length > 0 && failures.every((failure) => failure?.status === 503);
  const found: { problem: string; what: string; sinceMs?: number | undefined }[] = [];
  if (recentThrottled > 0 && !hasRateLimitedFailure && (isShort || capacity === undefined))
    found.push({
      problem: 'throttled',
      what: throttledText(load, capacity),
      sinceMs: throttledForMs === undefined ? undefined : nowMs - throttledForMs,
    });
  // Before refreshes fail because of it.
  if (refusal !== undefined && !isUnavailable)
    found.push({ problem: '503 Service Unavailable', what: refusal.message });
  if (pauseMs > 0 && !isUnavailable)
    found.push({
      problem: 'paused by the service',
      what: `The service requested a pause until ${new Date(nowMs + pauseMs).toISOString().slice(11, 19)} UTC (Retry-After)`,
    });
  const isByService = found.length > 0;
  if (isOverloaded(oldestWaitingMs))
    found.push({
      problem: 'overloaded',
      what: `${countText(waitingRefreshes, 'refresh', 'refreshes')} waiting for capacity, the first for ${durationText(oldestWaitingMs)}`,
      sinceMs: nowMs - oldestWaitingMs,
    });
  if (isShort && recentThrottled === 0) found.push({ problem: 'overloaded', what: capacityText(capacity) });
  const [first] = found;
  if (first === undefined) return [];
  return [
    {
      category: 'upstream',
      key: `upstream ${name}`,
      tone: 'warning',
      stations: [],
      who: `upstream ${name}`,
      upstream: name,
      ...first,
      what: `${found.map(({ what }) => what).join('. ')}.`,
      advice: upstreamAdvice(refusal, isByService),
    },
  ];
}

/** `The service accepts 0.1 requests/s, 7.5 are needed: data gets up to 12 min old (12 of 300 requests throttled in 5 min)`. */
function throttledText({ recentThrottled, recentRequests }: UpstreamStatus['load'], capacity?: Capacity): string {
  const share = `${numberText(recentThrottled)} of ${countText(recentRequests, 'request')} throttled in 5 min`;
  return capacity === undefined ? share : `${capacityText(capacity, 'service')} (${share})`;
}
