import { columnsWith } from '../model/resource.ts';
import type { Snapshot } from '../refresh/snapshot.ts';
import type { HistoryEntry, Outage } from './history.ts';
import type { Columns, Documented } from './records.ts';
import type { SearchResult, StationResource } from './selection.ts';
import { dataProblems, type OwnerCount, type StationStatus, stateOf } from './station-status.ts';

/** A station in JSON and CSV. The names are stable; those of metrics have the same meaning as there. */
export const STATION_COLUMNS = {
  station: { help: 'Name of the station.', value: 'name' },
  upstream: { help: 'Upstream that is queried.', value: 'upstream' },
  telemetry_station: { help: 'Name of the telemetry station.', value: 'telemetryStation' },
  state: {
    help: '`up`, `failing`, `no_data` (the latest refresh succeeded, but its data has expired) or `not_tried`.',
    value: (station) => stateOf(station).replace('-', '_'),
  },
  failure_reason: {
    help: 'Why the latest refresh failed; null if it succeeded.',
    value: ({ failure }) => failure?.reason,
  },
  failure_message: { help: 'Details of the failure.', value: ({ failure }) => failure?.message },
  last_success: { help: 'End of the last successful refresh.', value: ({ lastSuccessMs }) => timeText(lastSuccessMs) },
  last_attempt: { help: 'End of the latest refresh.', value: ({ lastAttemptMs }) => timeText(lastAttemptMs) },
  refresh_duration_seconds: {
    help: 'Duration of the latest refresh.',
    value: ({ durationMs }) => secondsOf(durationMs),
  },
  next_refresh_seconds: {
    help: 'Time until the next refresh is due; 0 if it is due.',
    value: ({ dueInMs }) => secondsOf(Math.max(dueInMs, 0)),
  },
  refreshing: { help: 'Whether a refresh is in progress.', value: 'isRefreshing' },
  waiting_seconds: {
    help: 'Time that the refresh has waited for the capacity of the upstream; null if it does not wait.',
    value: ({ waitingMs }) => secondsOf(waitingMs),
  },
  hanging: {
    help: 'Whether the latest request got no reply, which limits the station to one probing request at a time.',
    value: 'isHanging',
  },
  refresh: { help: 'What refreshes a station that is due: `scrape` or `background`.', value: 'refresh' },
  resources: { help: 'Number of resources; null without data.', value: ({ snapshot }) => snapshot?.resources },
  firing_resources: {
    help: 'Resources in a state whose name contains `firing`, ignoring case.',
    value: ({ snapshot }) => snapshot?.firing,
  },
  pending_resources: {
    help: 'Resources in a state whose name contains `pending`, ignoring case.',
    value: ({ snapshot }) => snapshot?.pending,
  },
  alertable_resources: {
    help: 'Resources that can have alerts; null without `alertability`.',
    value: ({ snapshot }) => snapshot?.alertable,
  },
  resources_without_alert_rules: {
    help: 'Resources without alert rules; with `alertability`, only alertable ones.',
    value: ({ snapshot }) => snapshot?.withoutRules,
  },
  alert_coverage: {
    help: 'Share of resources with an alert rule, as in the recording rule `job_station:telemetry_station_alert_coverage:ratio`; null if unknown.',
    value: ({ snapshot: { coverage } = {} }) => coverage && coverage.withRules / coverage.alertable,
  },
  listing_complete: {
    help: 'Whether the listing is verified complete.',
    value: ({ snapshot }) => snapshot?.complete,
  },
  listing_rejected_resources: {
    help: 'Records without a usable resource_id.',
    value: ({ snapshot }) => snapshot?.rejected,
  },
  listing_problems: {
    help: 'What the data lacks, in words; null if nothing is known to be missing.',
    value: (station) => dataProblems(station).join('; ') || undefined,
  },
  listing_pages: { help: 'Requests that the data took.', value: ({ snapshot }) => snapshot?.pages },
} as const satisfies Columns<StationStatus> & Documented;

/** Whether the data of a station is complete, in JSON before its resources. */
export const DATA_FIELDS = {
  complete: {
    help: 'Whether the listing is verified complete.',
    value: ({ status }) => status.snapshot?.complete,
  },
  rejected: {
    help: 'Records without a usable resource_id, which are not among the resources.',
    value: ({ status }) => status.snapshot?.rejected,
  },
  age: {
    help: 'Seconds since the refresh that the data is from.',
    value: ({ status: { snapshot, lastSuccessMs }, nowMs }) =>
      snapshot && lastSuccessMs !== undefined ? secondsOf(Math.max(nowMs - lastSuccessMs, 0)) : undefined,
  },
  incomplete_reasons: {
    help: 'Why the listing is not verified complete: a list of texts.',
    value: ({ status }) => status.snapshot?.incompleteReasons,
  },
} as const satisfies Columns<{ readonly status: StationStatus; readonly nowMs: number }, unknown> & Documented;

/** An outage of a station in JSON. */
export const OUTAGE_FIELDS = {
  from: { help: 'End of the first refresh that failed.', value: ({ fromMs }) => timeText(fromMs) },
  to: { help: 'End of the first refresh that succeeded, or null.', value: ({ toMs }) => timeText(toMs) },
  seconds: {
    help: 'Time between them, also in the log line of the recovery; null until it has ended.',
    value: ({ fromMs, toMs }) => (toMs === undefined ? undefined : secondsOf(Math.max(toMs - fromMs, 0))),
  },
  failed_refreshes: { help: 'How many refreshes failed.', value: 'failed' },
  failure_reasons: { help: 'Why they failed: a list.', value: 'reasons' },
} as const satisfies Columns<Outage, unknown> & Documented;

/** The listing of one station in JSON. */
export const STATION_LISTING = {
  reported_resources: {
    help: 'Total that the service reported, or null.',
    value: 'reportedTotal',
  },
  duplicate_resources: { help: 'Duplicate records.', value: 'duplicates' },
  invalid_fields: { help: 'Number of invalid values by field.', value: 'invalidFields' },
} as const satisfies Columns<Snapshot, unknown> & Documented;

/** A refresh, or several of six minutes, in JSON and CSV. */
export const HISTORY_COLUMNS = {
  time: { help: 'End of the refresh; of the latest one if there are several.', value: ({ atMs }) => timeText(atMs) },
  refreshes: { help: 'How many refreshes the entry stands for.', value: 'refreshes' },
  failed_refreshes: { help: 'How many of them failed.', value: 'failed' },
  outcome: {
    help: '`succeeded`, `incomplete` (the listing is not verified complete), `postponed` (by `Retry-After`; the data stays) or `failed`; the worst if there are several.',
    value: 'outcome',
  },
  failure_reason: { help: 'Why it failed or was postponed, or null.', value: ({ failure }) => failure?.reason },
  failure_message: {
    help: 'Details of the failure, at most 200 characters.',
    value: ({ failure }) => failure?.message,
  },
  refresh_duration_seconds: {
    help: 'Duration; the longest if there are several.',
    value: ({ durationMs }) => secondsOf(durationMs),
  },
  waited_seconds: {
    help: 'Time that it waited for the capacity of the upstream; the longest if there are several.',
    value: ({ waitedMs }) => waitedMs / 1000,
  },
  listing_pages: { help: 'Requests that the data took.', value: 'pages' },
  resources: {
    help: 'Number of resources; after the latest success if there are several refreshes.',
    value: 'resources',
  },
  firing_resources: {
    help: 'Resources among these in a state whose name contains `firing`, ignoring case.',
    value: 'firing',
  },
  resources_added: { help: 'Resources added since the last complete listing.', value: 'added' },
  resources_removed: { help: 'Resources removed since then.', value: 'removed' },
  state_changes: {
    help: 'Resources whose state changed since then.',
    value: 'stateChanges',
  },
  rules_changes: {
    help: 'Resources whose number of alert rules changed since then.',
    value: 'rulesChanges',
  },
} as const satisfies Columns<HistoryEntry> & Documented;

/** A resource of a search in JSON and CSV: the name of its station, and its fields. */
export function foundColumns(labelNames: readonly string[]): Columns<StationResource> {
  const columns = Object.entries(columnsWith(labelNames)).map(([name, { value }]) => [
    name,
    { value: ({ resource }: StationResource) => value(resource) },
  ]);
  return { station: { value: 'station' }, ...Object.fromEntries(columns) };
}

/** The resources of a station with a value of a label in JSON. */
export const OWNER_FIELDS = {
  label: { help: 'Name of the label.', value: 'label' },
  value: { help: 'Value of the label; empty for the resources without one.', value: 'value' },
  resources: { help: 'Number of resources.', value: 'resources' },
  firing_resources: {
    help: 'Those in a state whose name contains `firing`, ignoring case.',
    value: 'firing',
  },
  resources_without_alert_rules: {
    help: 'Those without alert rules, as for the station; null if unknown.',
    value: 'withoutRules',
  },
  alert_coverage: {
    help: 'Share with alert rules, as for the station; null if unknown.',
    value: ({ coverage }) => coverage && coverage.withRules / coverage.alertable,
  },
} as const satisfies Columns<OwnerCount, unknown> & Documented;

/** The fields of a search in JSON beside the resources. */
export const SEARCH_FIELDS = {
  q: { help: 'Text that was searched for, or null.', value: 'text' },
  total: { help: 'Number of matching resources.', value: ({ found }) => found.length },
  stations_without_data: {
    help: 'Names of the stations that could not be searched.',
    value: 'withoutData',
  },
} as const satisfies Columns<SearchResult & { readonly text: string | undefined }, unknown> & Documented;

/** RFC 3339. */
function timeText(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

export function secondsOf(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms) / 1000;
}
