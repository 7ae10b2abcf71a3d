import { columnsWith } from '../model/resource.ts';
import type { Snapshot } from '../refresh/snapshot.ts';
import type { HistoryEntry, Outage } from './history.ts';
import type { Columns } from './records.ts';
import type { SearchResult, StationResource } from './search.ts';
import { dataProblems, type StationStatus, stateOf } from './station-status.ts';
import type { OwnerCount } from './totals.ts';

type DocumentedColumns<Row> = Columns<Row> & Readonly<Record<string, { readonly help: string }>>;

type DocumentedFields<Row> = Readonly<Record<string, { readonly help: string; readonly value: (row: Row) => unknown }>>;

/** A station in JSON and CSV. The names are stable; those of metrics have the same meaning as there. */
export const STATION_COLUMNS = {
  station: { help: 'Name of the station.', value: ({ name }) => name },
  upstream: { help: 'Upstream that is queried.', value: ({ upstream }) => upstream },
  telemetry_station: { help: 'Name of the telemetry station.', value: ({ telemetryStation }) => telemetryStation },
  state: {
    help: '`up`, `failing`, `no_data` (the latest refresh succeeded, but its data has expired) or `not_tried`.',
    value: (station) => stateOf(station).replace('-', '_'),
  },
  failure_reason: {
    help: 'Why the latest refresh failed; null if it succeeded.',
    value: ({ failure }) => failure?.reason ?? null,
  },
  failure_message: { help: 'Details of the failure.', value: ({ failure }) => failure?.message ?? null },
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
  refreshing: { help: 'Whether a refresh is in progress.', value: ({ isRefreshing }) => isRefreshing },
  waiting_seconds: {
    help: 'Time that the refresh has waited for the capacity of the upstream; null if it does not wait.',
    value: ({ waitingMs }) => secondsOf(waitingMs),
  },
  hanging: {
    help: 'Whether the latest request got no reply, which limits the station to one probing request at a time.',
    value: ({ isHanging }) => isHanging,
  },
  refresh: { help: 'What refreshes a station that is due: `scrape` or `background`.', value: ({ refresh }) => refresh },
  resources: { help: 'Number of resources; null without data.', value: ({ snapshot }) => snapshot?.resources ?? null },
  firing_resources: {
    help: 'Resources in a state whose name contains `firing`, ignoring case.',
    value: ({ snapshot }) => snapshot?.firing ?? null,
  },
  pending_resources: {
    help: 'Resources in a state whose name contains `pending`, ignoring case.',
    value: ({ snapshot }) => snapshot?.pending ?? null,
  },
  alertable_resources: {
    help: 'Resources that can have alerts; null without `alertability`.',
    value: ({ snapshot }) => snapshot?.alertable ?? null,
  },
  resources_without_alert_rules: {
    help: 'Resources without alert rules; with `alertability`, only alertable ones.',
    value: ({ snapshot }) => snapshot?.withoutRules ?? null,
  },
  alert_coverage: {
    help: 'Share of resources with an alert rule, as in the recording rule `job_station:telemetry_station_alert_coverage:ratio`; null if unknown.',
    value: ({ snapshot: { coverage } = {} }) => (coverage ? coverage.withRules / coverage.alertable : null),
  },
  listing_complete: {
    help: 'Whether the listing is verified complete.',
    value: ({ snapshot }) => snapshot?.complete ?? null,
  },
  listing_rejected_resources: {
    help: 'Records without a usable resource_id.',
    value: ({ snapshot }) => snapshot?.rejected ?? null,
  },
  listing_problems: {
    help: 'What the data lacks, in words; null if nothing is known to be missing.',
    value: (station) => dataProblems(station).join('; ') || null,
  },
  listing_pages: { help: 'Requests that the data took.', value: ({ snapshot }) => snapshot?.pages ?? null },
} as const satisfies DocumentedColumns<StationStatus>;

/** Whether the data of a station is complete, in JSON before its resources. */
export const DATA_FIELDS = {
  complete: {
    help: 'Whether the listing is verified complete.',
    value: ({ status }) => status.snapshot?.complete ?? null,
  },
  rejected: {
    help: 'Records without a usable resource_id, which are not among the resources.',
    value: ({ status }) => status.snapshot?.rejected ?? null,
  },
  age: {
    help: 'Seconds since the refresh that the data is from.',
    value: ({ status: { snapshot, lastSuccessMs }, nowMs }) =>
      snapshot && lastSuccessMs !== undefined ? secondsOf(Math.max(nowMs - lastSuccessMs, 0)) : null,
  },
  incomplete_reasons: {
    help: 'Why the listing is not verified complete: a list of texts.',
    value: ({ status }) => status.snapshot?.incompleteReasons ?? null,
  },
} as const satisfies DocumentedFields<{ readonly status: StationStatus; readonly nowMs: number }>;

/** An outage of a station in JSON. */
export const OUTAGE_FIELDS = {
  from: { help: 'End of the first refresh that failed.', value: ({ fromMs }) => timeText(fromMs) },
  to: { help: 'End of the first refresh that succeeded, or null.', value: ({ toMs }) => timeText(toMs) },
  seconds: {
    help: 'Time between them, also in the log line of the recovery; null until it has ended.',
    value: ({ fromMs, toMs }) => (toMs === undefined ? null : secondsOf(Math.max(toMs - fromMs, 0))),
  },
  failed_refreshes: { help: 'How many refreshes failed.', value: ({ failed }) => failed },
  failure_reasons: { help: 'Why they failed: a list.', value: ({ reasons }) => reasons },
} as const satisfies DocumentedFields<Outage>;

/** The listing of one station in JSON. */
export const STATION_LISTING = {
  reported_resources: {
    help: 'Total that the service reported, or null.',
    value: ({ reportedTotal }) => reportedTotal ?? null,
  },
  duplicate_resources: { help: 'Duplicate records.', value: ({ duplicates }) => duplicates },
  invalid_fields: { help: 'Number of invalid values by field.', value: ({ invalidFields }) => invalidFields },
} as const satisfies DocumentedFields<Snapshot>;

/** A refresh, or several of six minutes, in JSON and CSV. */
export const HISTORY_COLUMNS = {
  time: { help: 'End of the refresh; of the latest one if there are several.', value: ({ atMs }) => timeText(atMs) },
  refreshes: { help: 'How many refreshes the entry stands for.', value: ({ refreshes }) => refreshes },
  failed_refreshes: { help: 'How many of them failed.', value: ({ failed }) => failed },
  outcome: {
    help: '`succeeded`, `incomplete` (the listing is not verified complete), `postponed` (by `Retry-After`; the data stays) or `failed`; the worst if there are several.',
    value: ({ outcome }) => outcome,
  },
  failure_reason: { help: 'Why it failed or was postponed, or null.', value: ({ failure }) => failure?.reason ?? null },
  failure_message: {
    help: 'Details of the failure, at most 200 characters.',
    value: ({ failure }) => failure?.message ?? null,
  },
  refresh_duration_seconds: {
    help: 'Duration; the longest if there are several.',
    value: ({ durationMs }) => secondsOf(durationMs),
  },
  waited_seconds: {
    help: 'Time that it waited for the capacity of the upstream; the longest if there are several.',
    value: ({ waitedMs }) => waitedMs / 1000,
  },
  listing_pages: { help: 'Requests that the data took.', value: ({ pages }) => pages ?? null },
  resources: {
    help: 'Number of resources; after the latest success if there are several refreshes.',
    value: ({ resources }) => resources ?? null,
  },
  firing_resources: {
    help: 'Resources among these in a state whose name contains `firing`, ignoring case.',
    value: ({ firing }) => firing ?? null,
  },
  resources_added: { help: 'Resources added since the last complete listing.', value: ({ added }) => added ?? null },
  resources_removed: { help: 'Resources removed since then.', value: ({ removed }) => removed ?? null },
  state_changes: {
    help: 'Resources whose state changed since then.',
    value: ({ stateChanges }) => stateChanges ?? null,
  },
  rules_changes: {
    help: 'Resources whose number of alert rules changed since then.',
    value: ({ rulesChanges }) => rulesChanges ?? null,
  },
} as const satisfies DocumentedColumns<HistoryEntry>;

/** A resource of a search in JSON and CSV: the name of its station, and its fields. */
export function foundColumns(labelNames: readonly string[]): Columns<StationResource> {
  const columns = Object.entries(columnsWith(labelNames)).map(([name, { value }]) => [
    name,
    { value: ({ resource }: StationResource) => value(resource) },
  ]);
  return { station: { value: ({ station }) => station }, ...Object.fromEntries(columns) };
}

/** The resources of a station with a value of a label in JSON. */
export const OWNER_FIELDS = {
  label: { help: 'Name of the label.', value: ({ label }) => label },
  value: { help: 'Value of the label; empty for the resources without one.', value: ({ value }) => value },
  resources: { help: 'Number of resources.', value: ({ resources }) => resources },
  firing_resources: {
    help: 'Those in a state whose name contains `firing`, ignoring case.',
    value: ({ firing }) => firing,
  },
  resources_without_alert_rules: {
    help: 'Those without alert rules, as for the station; null if unknown.',
    value: ({ withoutRules }) => withoutRules ?? null,
  },
  alert_coverage: {
    help: 'Share with alert rules, as for the station; null if unknown.',
    value: ({ coverage }) => (coverage ? coverage.withRules / coverage.alertable : null),
  },
} as const satisfies DocumentedFields<OwnerCount>;

/** The fields of a search in JSON beside the resources. */
export const SEARCH_FIELDS = {
  q: { help: 'Text that was searched for, or null.', value: ({ text }) => text ?? null },
  total: { help: 'Number of matching resources.', value: ({ found }) => found.length },
  stations_without_data: {
    help: 'Names of the stations that could not be searched.',
    value: ({ withoutData }) => withoutData,
  },
} as const satisfies DocumentedFields<SearchResult & { readonly text: string | undefined }>;

/** RFC 3339. */
function timeText(ms: number | undefined): string | null {
  return ms === undefined ? null : new Date(ms).toISOString();
}

export function secondsOf(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms) / 1000;
}
