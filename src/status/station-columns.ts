import type { RejectedRecord } from '../model/listing.ts';
import type { SearchResult, StationResource } from '../query/selection.ts';
import { knownOverdue, knownRuleCounts } from '../resources/aggregates.ts';
import { columnsWith, isoTime } from '../resources/fields.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import { type CellValue, type Columns, documented, fieldsOf } from '../text/records.ts';
import type { EndedRefresh } from './latest-refreshes.ts';
import type { CoverageRow } from './owners.ts';
import { dataProblems, knownCounts, type StationStatus, stateOf } from './station-status.ts';
import { coverageShare, type Totals } from './totals.ts';
import { unknownStatesText } from './unknown-states.ts';

/** A station in JSON and CSV. The names are stable; those of metrics have the same meaning as there. */
export const STATION_COLUMNS = documented<StationStatus>({
  station: ['Name of the station.', 'name'],
  upstream: ['Upstream that is queried.', 'upstream'],
  telemetry_station: ['Name of the telemetry station.', 'telemetryStation'],
  state: [
    '`up`, `failing`, `no_data` (the latest refresh succeeded, but its data has expired) or `not_tried`.',
    (station) => stateOf(station).replace('-', '_'),
  ],
  failure_reason: ['Why the latest refresh failed; null if it succeeded.', ({ failure }) => failure?.reason],
  failure_message: ['Details of the failure.', ({ failure }) => failure?.message],
  failing_since: [
    'End of the first refresh that failed since the last success; null if the latest one succeeded.',
    ({ failureStreak }) => rfc3339(failureStreak?.fromMs),
  ],
  last_success: [
    'End of the last successful refresh, minus the age of replies from a cache.',
    ({ lastSuccessMs }) => rfc3339(lastSuccessMs),
  ],
  last_attempt: ['End of the latest refresh.', ({ lastAttemptMs }) => rfc3339(lastAttemptMs)],
  refresh_duration_seconds: ['Duration of the latest refresh.', ({ durationMs }) => secondsOf(durationMs)],
  next_refresh_seconds: [
    'Time until the next refresh is due; 0 if it is due.',
    ({ dueInMs }) => secondsOf(Math.max(dueInMs, 0)),
  ],
  refreshing: ['Whether a refresh is in progress.', 'isRefreshing'],
  waiting_seconds: [
    'Time that the refresh has waited for the capacity of the upstream; null if it does not wait.',
    ({ waitingMs }) => secondsOf(waitingMs),
  ],
  hanging: [
    'Whether the latest request got no reply, so that the station is limited to one request at a time.',
    'isHanging',
  ],
  refresh: ['When a due station is refreshed: by a `scrape` or in the `background`.', 'refresh'],
  resources: [
    'Number of resources; null without data, or if all records were rejected.',
    ({ snapshot }) => knownCounts(snapshot)?.resources,
  ],
  firing_resources: ['Resources in a state that means firing.', ({ snapshot }) => knownCounts(snapshot)?.firing],
  pending_resources: ['Resources in a state that means pending.', ({ snapshot }) => knownCounts(snapshot)?.pending],
  unknown_state_resources: [
    'Resources in a state of unknown meaning, or without a state.',
    ({ snapshot }) => knownCounts(snapshot)?.unknown,
  ],
  unknown_states: [
    'These states and their numbers of resources, as text; null if there are none.',
    ({ snapshot }) => (snapshot && unknownStatesText(snapshot.unknownStates)) || undefined,
  ],
  alertable_resources: [
    'Resources that can have alerts and are not exempt; null without `alertability` and exemptions, or if unknown for all.',
    ({ snapshot }) => snapshot?.alertable,
  ],
  resources_with_alert_rules: [
    'Resources covered by alert rules, except exempt ones. Null if unknown for all.',
    ({ snapshot }) => snapshot && knownRuleCounts(snapshot)?.withRules,
  ],
  resources_without_alert_rules: [
    'Resources without alert rules, counted in the same way.',
    ({ snapshot }) => snapshot && knownRuleCounts(snapshot)?.withoutRules,
  ],
  resources_with_unknown_alert_coverage: [
    'Resources of which it is unknown whether they are covered.',
    ({ snapshot }) => snapshot?.unknownCoverage,
  ],
  alert_coverage: [
    'Share of resources with alert rules among those with and without; null if it is unknown of any, or if there are none.',
    ({ snapshot }) => snapshot && coverageShare(snapshot),
  ],
  listing_complete: ['Whether the listing is verified complete.', ({ snapshot }) => snapshot?.complete],
  listing_rejected_resources: ['Records without a usable resource_id.', ({ snapshot }) => snapshot?.rejected],
  listing_problems: [
    'What is missing or wrong in the data, as text; null if nothing is known.',
    (station) => dataProblems(station).join('; ') || undefined,
  ],
  listing_pages: ['Number of requests of the listings.', ({ snapshot }) => snapshot?.pages],
});

/** Whether the data of a station is complete, in JSON before its resources. */
export const DATA_FIELDS = documented<{ readonly status: StationStatus; readonly nowMs: number }, unknown>({
  complete: [
    'Whether the listing is verified complete; false if records were rejected.',
    ({ status }) => status.snapshot?.complete,
  ],
  rejected: [
    'Records without a usable resource_id, which are not among the resources.',
    ({ status }) => status.snapshot?.rejected,
  ],
  age: [
    'Age of the data in seconds.',
    ({ status: { snapshot, lastSuccessMs }, nowMs }) =>
      snapshot && lastSuccessMs !== undefined ? secondsOf(Math.max(nowMs - lastSuccessMs, 0)) : undefined,
  ],
  before_reload: [
    'Whether it was listed before a reload that changed the station or its upstream; then labels, products and alertability are the former ones.',
    ({ status }) => status.snapshot && status.isBeforeReload,
  ],
  incomplete_reasons: [
    'Why the listing is not verified complete: a list of texts.',
    ({ status }) => status.snapshot?.incompleteReasons.map(({ text }) => text),
  ],
});

/** A rejected record in JSON: what could be read of it. */
export const REJECTED_FIELDS = documented<RejectedRecord, unknown>({
  position: ['Number of records before it in the listing.', 'position'],
  reason: ['`not an object`, `no resource_id`, `resource_id is not text` or `resource_id is empty`.', 'rejection'],
  name: ['Its name; empty if there is none.', ({ texts }) => texts['name'] ?? ''],
  display_name: ['Its display name; empty if there is none.', ({ texts }) => texts['display_name'] ?? ''],
  resource_type: ['Its type; empty if there is none.', ({ texts }) => texts['resource_type'] ?? ''],
});

/** The listing of one station in JSON. */
export const STATION_LISTING = documented<Snapshot, unknown>({
  reported_resources: ['Total that the service reported, or null.', 'reportedTotal'],
  duplicate_resources: ['Duplicate records.', 'duplicates'],
  rejected_records: [
    'The first 20 rejected records: a list of the fields below.',
    ({ rejectedRecords }) => rejectedRecords.map((record) => fieldsOf(REJECTED_FIELDS, record)),
  ],
  invalid_fields: ['Number of invalid values by field.', 'invalidFields'],
});

/** A refresh in JSON and CSV. */
export const REFRESH_COLUMNS = documented<EndedRefresh>({
  time: ['End of the refresh.', ({ atMs }) => rfc3339(atMs)],
  outcome: [
    '`succeeded`, `incomplete` (the listing is not verified complete), `postponed` (by `Retry-After`; the data stays) or `failed`.',
    'outcome',
  ],
  failure_reason: ['Why it failed or was postponed, or null.', ({ failure }) => failure?.reason],
  failure_message: ['Details of the failure, at most 200 characters.', ({ failure }) => failure?.message],
  refresh_duration_seconds: ['Duration of the refresh.', ({ durationMs }) => secondsOf(durationMs)],
  waited_seconds: ['Time that it waited for the capacity of the upstream.', ({ waitedMs }) => secondsOf(waitedMs)],
  listing_pages: ['Number of requests of the listings.', 'pages'],
  resources: ['Number of resources; null if unknown.', 'resources'],
  firing_resources: ['Resources in a state that means firing.', 'firing'],
  unknown_state_resources: [
    'Resources in a state of unknown meaning, or without a state.',
    ({ firing, unknown = 0 }) => (firing === undefined ? undefined : unknown),
  ],
  resources_added: ['Resources added since the listing that it is compared with; null if not compared.', 'added'],
  resources_removed: ['Resources removed since then.', 'removed'],
  state_changes: ['Resources whose state changed since then.', 'stateChanges'],
  rules_changes: ['Resources whose number of alert rules changed since then.', 'rulesChanges'],
});

/** A resource of a search in JSON and CSV: the name of its station, and its fields. */
export function foundColumns(labelNames: readonly string[]): Columns<StationResource> {
  const columns = Object.entries(columnsWith(labelNames)).map(([name, { cell }]) => [
    name,
    { cell: ({ resource }: StationResource) => cell(resource) },
  ]);
  return { station: { cell: ({ station }) => station }, ...Object.fromEntries(columns) };
}

/** A cell that is empty in rows without data. */
function counted(shows: (counts: Totals) => CellValue) {
  return ({ counts }: CoverageRow) => counts && shows(counts);
}

/** The resources with a value of a label in JSON and CSV. */
export const OWNER_COLUMNS = documented<CoverageRow>({
  label: ['Name of the label.', 'label'],
  value: ['Value of the label; empty for resources without one.', 'value'],
  resources: ['Number of resources.', counted(({ resources }) => resources)],
  firing_resources: ['Number of firing resources.', counted(({ firing }) => firing)],
  resources_with_alert_rules: ['Number with alert rules.', counted((counts) => knownRuleCounts(counts)?.withRules)],
  resources_without_alert_rules: ['Number without.', counted((counts) => knownRuleCounts(counts)?.withoutRules)],
  resources_with_unknown_alert_coverage: ['Number with unknown alert coverage.', counted((c) => c.unknownCoverage)],
  exempt_resources: [
    'Number of exempt resources.',
    counted((c) => c.resources - c.withRules - c.withoutRules - c.unknownCoverage),
  ],
  alert_coverage: ['Share with alert rules; null if it is unknown of any.', counted(coverageShare)],
  overdue_resources: ['Number without alert rules and older than `coverage.within`.', counted(knownOverdue)],
  uncovered_resources_with_unknown_age: [
    'Number without alert rules and creation time.',
    counted((counts) => knownRuleCounts(counts) && counts.unknownAge),
  ],
  oldest_uncovered_created: [
    'Creation time of the oldest resource without alert rules.',
    counted(({ oldestUncovered }) => isoTime(oldestUncovered)),
  ],
});

type SearchContext = Readonly<{ text: string | undefined; beforeReload: readonly string[] }>;

/** The fields of a search in JSON beside the resources. */
export const SEARCH_FIELDS = documented<SearchResult & SearchContext, unknown>({
  search: ['Text that was searched for, or null.', 'text'],
  total: ['Number of matching resources.', ({ found }) => found.total],
  stations_without_data: ['Names of the stations that could not be searched.', 'withoutData'],
  stations_before_reload: [
    'Names of the stations that were listed before a reload that changed them: labels and products that are new since then are missing.',
    'beforeReload',
  ],
});

/** RFC 3339. */
function rfc3339(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

export function secondsOf(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : Math.round(ms) / 1000;
}
