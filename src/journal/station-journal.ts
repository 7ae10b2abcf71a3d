import { HOUR_MS } from '../model/clock.ts';
import type { ListingFailure } from '../model/failure.ts';
import type { Health } from '../model/health.ts';
import type { ChangeLog } from '../resources/changes.ts';
import type { Changes } from '../resources/churn.ts';
import type { Resources } from '../resources/collector.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { CollectorTypes, MetricsOnly } from '../stations/collector.ts';
import type { RefreshDetails, StationView } from '../stations/station-cache.ts';
import { CHANGE_COLUMNS } from '../status/change-columns.ts';
import { type EndedRefresh, type FailureStreak, LatestRefreshes } from '../status/latest-refreshes.ts';
import { secondsOf } from '../status/station-columns.ts';
import { isOnlyRejecting } from '../status/station-status.ts';
import { totalsOf } from '../status/totals.ts';
import {
  resourcesIn,
  type UnknownState,
  unknownStatesAdvice,
  unknownStatesOf,
  unknownStatesText,
} from '../status/unknown-states.ts';
import type { LogFields, Logger } from './logger.ts';
import { oncePer, type TimesDue } from './rare-warning.ts';
import type { SharedLines, StationLine } from './shared-lines.ts';

export interface JournalOptions {
  readonly log: Logger;
  readonly changes: ChangeLog;
  readonly lines: SharedLines;
  /** Which states of unknown meaning are due to be logged: one line of the configuration concerns all stations. */
  readonly statesDue: TimesDue;
  readonly logChanges?: boolean;
  readonly elapsedMs?: () => number;
}

type JournalView = StationView<Resources>;

/** What was logged is repeated at this interval while it lasts, and at debug level in between. */
export const REPEAT_MS = HOUR_MS;

/** A label of `resource_labels` with such a name is left out, as in JSON. */
const LINE_FIELDS: ReadonlySet<string> = new Set(['ts', 'level', 'msg', ...Object.keys(CHANGE_COLUMNS)]);

/** Lines of one refresh: a mass change must not fill the log. */
const MAX_CHANGE_LINES = 100;

/**
 * Keeps and logs what happens to a station, across reloads of its configuration. Many failing stations must not fill the log: the first
 * three of these lines they share. It logs
 *
 * - a failure when its reason changes, and then once per hour;
 * - that the data has expired, once per hour;
 * - a recovery, with the time that refreshes failed;
 * - that another collector of the station fails, once per hour and reason, and its recovery;
 * - that a listing is incomplete, once per hour, and that it is complete again;
 * - a state of unknown meaning, once per hour for all stations.
 *
 * Everything else is logged at debug level.
 */
export class StationJournal {
  readonly refreshes = new LatestRefreshes();
  readonly #station: string;
  readonly #options: JournalOptions;
  readonly #warningsDue: TimesDue;
  /** Begins anew with a streak of failures, without the other warnings: a station that fails again and again repeats none of them. */
  #failuresDue: TimesDue;
  /** Whether a failure of the current streak was logged above debug level. */
  #isStreakLogged = false;
  readonly #failingCollectors = new Set<string>();
  /** Whether an incomplete listing was logged above debug level since the last complete one. */
  #isIncompleteLogged = false;

  constructor(station: string, options: JournalOptions) {
    this.#station = station;
    this.#options = options;
    this.#warningsDue = oncePer(REPEAT_MS, options.elapsedMs);
    this.#failuresDue = oncePer(REPEAT_MS, options.elapsedMs);
  }

  refreshed(view: JournalView, attempt: RefreshDetails<Changes | undefined>): void {
    const refresh = endedRefresh(view, attempt);
    const { failureStreak: before } = this.refreshes.history;
    this.refreshes.add(refresh);
    const fields = { duration_seconds: secondsOf(view.health.durationMs) };
    if (view.health.failure) {
      this.#failed(view, view.health.failure, refresh.atMs, fields);
      this.#expired(view);
    } else {
      this.#recovered(view, before, refresh.atMs);
      this.#succeeded(view, fields);
    }
    if (attempt.report) this.#changed(attempt.report, refresh.atMs);
    this.#options.lines.refreshEnded(view.spec.upstream, this.#station);
  }

  /** A collector beside that of resources, whose failures are not those of the station. */
  furtherRefreshed(view: StationView<MetricsOnly>): void {
    const { collector } = view;
    const { failure } = view.health;
    if (failure) {
      const { reason, message, status } = failure;
      const level = this.#warningsDue(`${collector} ${reason}`) > 0 ? 'warn' : 'debug';
      const fields = { collector, reason, error: message };
      this.#share(view, { level, message: 'collector failed', cause: `${collector} ${reason} ${status}`, fields });
      this.#failingCollectors.add(collector);
    } else if (this.#failingCollectors.delete(collector)) {
      const line = { message: 'collector recovered', cause: collector, fields: { collector } };
      this.#share(view, { level: 'info', ...line });
    }
    this.#options.lines.refreshEnded(view.spec.upstream, this.#station);
  }

  postponed({ reason, message }: ListingFailure): void {
    const failure = { reason, message };
    this.refreshes.add({ atMs: Date.now(), waitedMs: 0, outcome: 'postponed', failure });
    this.#warn('refresh postponed', { reason, error: message });
  }

  pageSizeReduced(pageSize: number): void {
    this.#warn('page size reduced', { page_size: pageSize });
  }

  #failed(view: JournalView, failure: NonNullable<Health['failure']>, atMs: number, ownFields: LogFields): void {
    const { reason, message, status, error } = failure;
    const { failureStreak } = this.refreshes.history;
    const isFirst = failureStreak?.failed === 1;
    if (isFirst) this.#failuresDue = oncePer(REPEAT_MS, this.#options.elapsedMs);
    const isLogged = this.#failuresDue(reason) > 0;
    const fields = {
      reason,
      error: message,
      // The stack helps only with bugs of the exporter; failures of the service are described by their message.
      stack: reason === 'internal' && error instanceof Error ? error.stack : undefined,
      ...(isFirst ? {} : streakFields(failureStreak, atMs)),
    };
    const line = { message: 'refresh failed', cause: `${reason} ${status}`, fields, ownFields };
    this.#share(view, { level: isLogged ? 'warn' : 'debug', ...line });
    this.#isStreakLogged ||= isLogged;
  }

  /** Logged by the first refresh that fails without data, and once per hour while the streak lasts. */
  #expired(view: JournalView): void {
    const {
      served,
      health: { lastSuccessMs },
    } = view;
    if (served !== undefined || lastSuccessMs === undefined || this.#failuresDue('expired') === 0) return;
    const last_success = new Date(lastSuccessMs).toISOString();
    const message = 'data expired, resources unknown until a refresh succeeds';
    this.#share(view, { level: 'warn', message, cause: '', fields: { last_success } });
    this.#isStreakLogged = true;
  }

  #recovered(view: JournalView, streak: FailureStreak | undefined, atMs: number): void {
    if (streak === undefined) return;
    const fields = streakFields(streak, atMs);
    const level = this.#isStreakLogged ? 'info' : 'debug';
    this.#share(view, { level, message: 'station recovered', cause: '', fields, isRecovery: true });
    this.#isStreakLogged = false;
  }

  #succeeded({ spec, served }: JournalView, duration: LogFields): void {
    if (served === undefined) return;
    const { aggregates, withheldFiring } = served.data;
    const { snapshot } = served.data;
    for (const [label, resources] of aggregates.folded) {
      const fields = { label, resources, limit: spec.labelValues };
      if (resources > 0)
        this.#warn('label has too many values, further ones are published as (other)', fields, `label ${label}`);
    }
    if (withheldFiring > 0)
      this.#warn('too many firing resources, telemetry_station_resource_firing withheld', {
        firing: withheldFiring,
        limit: spec.metrics.maxFiringResources,
      });
    this.#unknown(unknownStatesOf(aggregates.groups));
    this.#listed(snapshot, { resources: snapshot.size, pages: snapshot.pages, ...duration });
  }

  /** At warning level only those that no station has logged within the last hour. */
  #unknown(states: readonly UnknownState[]): void {
    if (states.length === 0) return;
    const due = states.filter(({ state }) => this.#options.statesDue(state) > 0);
    const shown = due.length > 0 ? due : states;
    this.#write(due.length > 0 ? 'warn' : 'debug', 'resources in states of unknown meaning', {
      resources: resourcesIn(shown),
      states: unknownStatesText(shown),
      advice: unknownStatesAdvice(shown),
    });
  }

  #listed(snapshot: Snapshot, fields: LogFields): void {
    const { rejected, complete, incompleteReasons, reportedTotal } = snapshot;
    if (complete) {
      if (this.#isIncompleteLogged) this.#write('info', 'listing complete again', fields);
      else this.#write('debug', 'refresh succeeded', fields);
      this.#isIncompleteLogged = false;
      return;
    }
    if (rejected > 0 && this.#warn('listing incomplete, records without a usable resource_id rejected', { rejected }))
      this.#isIncompleteLogged = true;
    if (isOnlyRejecting(snapshot)) return;
    const reasons = incompleteReasons.map(({ text }) => text).join('; ');
    if (this.#warn('refresh succeeded, listing incomplete', { ...fields, reported: reportedTotal, reasons }))
      this.#isIncompleteLogged = true;
  }

  #changed(changes: Changes, atMs: number): void {
    this.#options.changes.add(this.#station, atMs, changes);
    if (!this.#options.logChanges) return;
    const logged = changes.list.slice(0, MAX_CHANGE_LINES);
    for (const { change, resource, from, to } of logged) {
      const { id, name, displayName, type, labels = {} } = resource;
      const fields = { resource_id: id, name, display_name: displayName, resource_type: type, from, to };
      const owners = Object.entries(labels).filter(([label, value]) => value !== '' && !LINE_FIELDS.has(label));
      this.#write('info', 'resource changed', { change, ...fields, ...Object.fromEntries(owners) });
    }
    const further = changes.total - logged.length;
    if (further > 0) this.#write('info', 'further changes not logged', { changes: further });
  }

  /** True when the message was logged as a warning, because this kind of it was not within the last hour, whatever failed meanwhile. */
  #warn(message: string, fields: LogFields, kind = message): boolean {
    const isDue = this.#warningsDue(kind) > 0;
    this.#write(isDue ? 'warn' : 'debug', message, fields);
    return isDue;
  }

  /** A line for all stations of the upstream that have it; debug lines are those of one. */
  #share(
    { spec }: Pick<StationView<CollectorTypes>, 'spec'>,
    line: Omit<StationLine, 'station' | 'upstream' | 'ttlMs'>,
  ): void {
    const { level, message, fields, ownFields } = line;
    const { upstream, cache } = spec;
    if (level === 'debug') this.#write(level, message, { upstream, ...fields, ...ownFields });
    else this.#options.lines.add({ ...line, station: this.#station, upstream, ttlMs: cache.ttlMs });
  }

  #write(level: keyof Logger, message: string, fields: LogFields): void {
    this.#options.log[level](message, { station: this.#station, ...fields });
  }
}

function streakFields(streak: FailureStreak | undefined, nowMs: number): LogFields {
  if (streak === undefined) return {};
  return { attempts: streak.failed, outage_seconds: secondsOf(Math.max(nowMs - streak.fromMs, 0)) };
}

function endedRefresh(
  { health, served }: JournalView,
  { waitedMs, report: changes }: RefreshDetails<Changes | undefined>,
): EndedRefresh {
  const { lastAttemptMs = 0, durationMs = 0, failure } = health;
  const common = { atMs: lastAttemptMs, durationMs, waitedMs };
  if (failure) return { ...common, outcome: 'failed', failure };
  const snapshot = served?.data.snapshot;
  const { verifiedResources } = served?.data.lastKnown ?? {};
  const { firing, unknown } = totalsOf(served?.data.aggregates.groups ?? [], false);
  // Without their list, of which the change log has its own bound.
  const { list, removedOwners, total, ...changed } = changes ?? {};
  return {
    ...common,
    outcome: snapshot?.complete ? 'succeeded' : 'incomplete',
    ...(snapshot && { pages: snapshot.pages }),
    // Nothing is known of the resources if all records were rejected.
    ...(snapshot && (snapshot.size > 0 || snapshot.rejected === 0) && { resources: snapshot.size, firing }),
    ...(unknown > 0 && { unknown }),
    ...(verifiedResources !== undefined && { verifiedResources }),
    ...(served && { isIncomparable: served.data.comparison.result === 'incomparable' }),
    ...changed,
  };
}
