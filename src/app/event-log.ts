import type { Outage } from '../inventory/history.ts';
import { secondsOf } from '../inventory/station-columns.ts';
import type { EncodedSnapshot } from '../metrics/station-encoder.ts';
import type { ListingFailure } from '../model/failure.ts';
import type { StationSpec } from '../model/station-spec.ts';
import type { Changes } from '../refresh/churn.ts';
import type { StationView } from '../refresh/station-cache.ts';
import type { RequestObserver } from '../upstream/http/observer.ts';
import type { LogFields, Logger } from './logger.ts';

/** What was logged is repeated at this interval while it lasts, and at debug level in between. */
const REPEAT_MS = 3_600_000;

/** Within an hour; the failures of further outages are logged like repeated ones. */
const MAX_OUTAGES = 10;

interface StationState {
  /** Whether a failure of the current outage was logged above debug level; undefined: there is no outage. */
  isOutageLogged: boolean | undefined;
  /** Whether an incomplete listing was logged above debug level since the last complete one. */
  isIncompleteLogged: boolean;
  /** When each kind of message was last logged above debug level. */
  readonly loggedMs: Map<string, number>;
}

/**
 * Logs the results of refreshes so that many failing stations do not fill the log: a failure when its reason changes and then once per
 * hour, the recovery with the time that it took, an incomplete listing once per hour, and that it is complete again. Everything else is
 * logged at debug level.
 */
export class RefreshLog {
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #states = new Map<string, StationState>();

  constructor(log: Logger, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** `outages`: of the history of the station, which has the refresh. */
  refreshed(
    { spec: { name: station, labelValues }, health, served }: StationView<EncodedSnapshot>,
    outages: readonly Outage[],
  ): void {
    const state = this.#state(station);
    const duration_seconds = secondsOf(Number(health.durationMs));
    const outage = outageFields(outages, Number(health.lastAttemptMs));
    if (health.failure) {
      const { reason, message, error } = health.failure;
      // The stack helps only with bugs of the exporter; failures of the service are described by their message.
      const stack = reason === 'internal' && error instanceof Error ? error.stack : undefined;
      this.#failed(state, reason, { station, reason, error: message, duration_seconds, stack }, outage);
      return;
    }
    this.#recovered(state, station, outage);
    for (const [label, resources] of served?.encoded.aggregates.folded ?? []) {
      const fields = { station, label, resources, limit: labelValues };
      if (resources > 0)
        this.#warn(state, 'label has too many values, further ones are published as (other)', fields, `label ${label}`);
    }
    const snapshot = served?.publication.snapshot;
    const rejected = snapshot?.rejected;
    if (rejected) this.#warn(state, 'records without a usable resource_id rejected', { station, rejected });
    const fields = { station, resources: snapshot?.size, pages: snapshot?.pages, duration_seconds };
    if (snapshot?.complete) {
      if (state.isIncompleteLogged) this.#log.info('listing complete again', fields);
      else this.#log.debug('refresh succeeded', fields);
      state.isIncompleteLogged = false;
      return;
    }
    const incomplete = { ...fields, reported: snapshot?.reportedTotal };
    if (this.#warn(state, 'refresh succeeded, listing incomplete', incomplete)) state.isIncompleteLogged = true;
  }

  postponed({ name: station }: Pick<StationSpec, 'name'>, { reason, message }: ListingFailure): void {
    this.#warn(this.#state(station), 'refresh postponed', { station, reason, error: message });
  }

  pageSizeReduced(station: string | undefined, pageSize: number): void {
    this.#warn(this.#state(station ?? ''), 'page size reduced', { station, page_size: pageSize });
  }

  /** Forgets the stations that are no longer configured. */
  retainStations(names: ReadonlySet<string>): void {
    for (const station of this.#states.keys()) if (!names.has(station)) this.#states.delete(station);
  }

  #failed(
    state: StationState,
    reason: string,
    fields: LogFields,
    { failed, outage_seconds, outages }: OutageFields,
  ): void {
    if (state.isOutageLogged === undefined && outages <= MAX_OUTAGES) state.loggedMs.clear();
    const repeated = failed > 1 ? { attempts: failed, outage_seconds } : {};
    const further = outages > 1 ? { outages } : {};
    const isLogged = this.#warn(state, 'refresh failed', { ...fields, ...repeated, ...further }, reason);
    state.isOutageLogged = isLogged || state.isOutageLogged === true;
  }

  #recovered(state: StationState, station: string, { failed, outage_seconds }: OutageFields): void {
    if (state.isOutageLogged === undefined) return;
    const fields = { station, outage_seconds, attempts: failed };
    if (state.isOutageLogged) this.#log.info('station recovered', fields);
    else this.#log.debug('station recovered', fields);
    state.isOutageLogged = undefined;
  }

  /** True when the message was logged as a warning, because this kind of it was not within the last hour. */
  #warn({ loggedMs }: StationState, message: string, fields: LogFields, kind = message): boolean {
    const nowMs = this.#now();
    const lastMs = loggedMs.get(kind);
    if (lastMs !== undefined && nowMs - lastMs < REPEAT_MS) {
      this.#log.debug(message, fields);
      return false;
    }
    loggedMs.set(kind, nowMs);
    this.#log.warn(message, fields);
    return true;
  }

  #state(station: string): StationState {
    const known = this.#states.get(station);
    if (known) return known;
    const state: StationState = { isOutageLogged: undefined, isIncompleteLogged: false, loggedMs: new Map() };
    this.#states.set(station, state);
    return state;
  }
}

type OutageFields = ReturnType<typeof outageFields>;

/** The latest outage as the page and the history show it, and how many began within the last hour. */
function outageFields(outages: readonly Outage[], nowMs: number) {
  const { fromMs, toMs = nowMs, failed } = outages.at(-1) ?? { fromMs: nowMs, failed: 1 };
  const recent = outages.filter((outage) => fromMs - outage.fromMs < REPEAT_MS);
  return { failed, outage_seconds: secondsOf(Math.max(toMs - fromMs, 0)), outages: recent.length };
}

/** Lines of one refresh: a mass change must not fill the log. */
const MAX_CHANGE_LINES = 100;

/** Logs the changes of a refresh, each as a line that can be searched for the resource, and the number of further ones. */
export function logChanges(log: Pick<Logger, 'info'>, station: string, { list, total }: Changes): void {
  const logged = list.slice(0, MAX_CHANGE_LINES);
  for (const { change, resource, from, to } of logged) {
    const { id, name, displayName, type } = resource;
    const fields = { resource_id: id, name, display_name: displayName, resource_type: type, from, to };
    log.info('resource changed', { station, change, ...fields });
  }
  if (total > logged.length) log.info('further changes not logged', { station, changes: total - logged.length });
}

export type ThrottleObserver = Pick<RequestObserver, 'throttled' | 'limited'>;

/** Without a throttled request for this long, throttling has ended. */
const QUIET_MS = 300_000;

/** Logs when an upstream begins to throttle, each change of the rate limit by a factor of two, and the end of throttling. */
export function throttleLog(
  log: Logger,
  upstream: string,
  now: () => number = () => performance.now(),
): ThrottleObserver {
  let throttledMs: number | undefined;
  let throttled = 0;
  let logged = Number.POSITIVE_INFINITY;
  return {
    throttled: (status) => {
      if (throttledMs === undefined) log.warn('upstream throttles requests', { upstream, status });
      throttledMs = now();
      throttled += 1;
    },
    limited: (requestsPerSecond) => {
      const isLimited = Number.isFinite(requestsPerSecond);
      const rate = {
        upstream,
        requests_per_second: isLimited ? Math.round(requestsPerSecond * 100) / 100 : 'unlimited',
        throttled,
      };
      if (throttledMs !== undefined && now() - throttledMs >= QUIET_MS) {
        log.info('upstream no longer throttles requests', rate);
        throttledMs = undefined;
        throttled = 0;
        logged = requestsPerSecond;
      } else if (isLimited && requestsPerSecond <= logged / 2) {
        if (throttledMs !== undefined) log.warn('request rate lowered', rate);
        logged = requestsPerSecond;
      } else if (logged < requestsPerSecond / 2) {
        log.info('request rate raised', rate);
        logged = requestsPerSecond;
      }
    },
  };
}

/** A limit that is reached once is often reached thousands of times. */
const INTERVAL_MS = 60_000;

/** Logs that a limit was reached: at once, then at most once per minute with the number of times since and the latest client. */
export function limitLog(
  log: Pick<Logger, 'warn'>,
  now: () => number = () => performance.now(),
): (limit: string, client?: string) => void {
  const states = new Map<string, { loggedMs: number; times: number }>();
  return (limit, client) => {
    const state = states.get(limit) ?? { loggedMs: Number.NEGATIVE_INFINITY, times: 0 };
    states.set(limit, state);
    state.times += 1;
    if (now() - state.loggedMs < INTERVAL_MS) return;
    log.warn('limit of the web server reached', { limit, times: state.times, client });
    state.loggedMs = now();
    state.times = 0;
  };
}
