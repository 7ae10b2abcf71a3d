import { CLUSTER, labelList } from '../promql/cluster.ts';
import { deduplicate, type MetricName } from '../promql/metric.ts';
import type { AlertName } from './parameters.ts';

export interface RecordingRule {
  readonly record: string;
  /** Comment above the rule in rules.yml. */
  readonly comment: string;
  readonly expr: string;
}

export interface AlertingRule {
  readonly alert: AlertName;
  /** Comment above the rule in rules.yml. */
  readonly comment: string;
  readonly expr: string;
  /** Labels beside the severity. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Must not contain templates, so that notifications can be grouped by it. */
  readonly summary: string;
  /** What, where and since when. */
  readonly description: string;
  /** What to do first. */
  readonly first: string;
  readonly dashboard: 'fleet' | 'station' | 'resources' | 'exporter';
}

export interface RuleGroup {
  readonly name: string;
  /** By default, that of Prometheus. */
  readonly interval?: string;
  readonly rules: readonly (RecordingRule | AlertingRule)[];
}

/** Checks a metric name at compile time. */
export function metric<Name extends MetricName>(name: Name): Name {
  return name;
}

export function deduplicated(name: MetricName): string {
  return deduplicate(name, name);
}

/** A template that queries series of the alert's station: the selectors in `expression` have braces, with their other matchers if any. */
export function stationQuery(expression: string): string {
  const format = expression.replace(/\{([^}]*)\}/g, (_, matchers: string) =>
    matchers === '' ? `{${STATION_MATCHERS}}` : `{${STATION_MATCHERS},${matchers}}`,
  );
  return `query (printf \`${format}\` ${STATION_VALUES})`;
}

/** A template that queries series of the alert's resource: `{}` selects those of its station, and `{resource}` those of the resource. */
export function resourceQuery(expression: string): string {
  const format = expression
    .replaceAll('{}', `{${STATION_MATCHERS}}`)
    .replaceAll('{resource', `{${STATION_MATCHERS},resource_id=%[4]q`);
  return `query (printf \`${format}\` ${STATION_VALUES} $labels.resource_id)`;
}

/** A template that queries series of the owner that the alert names: `{}` selects those of its station, and `{owner}` those of the owner there. */
export function ownerQuery(expression: string, ownerLabel: string): string {
  const format = expression
    .replaceAll('{}', `{${STATION_MATCHERS}}`)
    .replaceAll('{owner}', `{${STATION_MATCHERS},${ownerLabel}=%[4]q}`);
  return `query (printf \`${format}\` ${STATION_VALUES} $labels.${ownerLabel})`;
}

/** Without the label, the value is empty, which matches series without it. */
const STATION_MATCHERS = `${CLUSTER}=%[1]q,job=%[2]q,station=%[3]q`;
const STATION_VALUES = `$labels.${CLUSTER} $labels.job $labels.station`;

/** Template of the job of an alert, with its cluster if it has one. */
export const JOB_TEXT = `{{ with $labels.${CLUSTER} }}cluster {{ . }}, {{ end }}job {{ $labels.job }}`;

/** Template of the station of an alert. */
export const STATION_TEXT = `station {{ $labels.station }} (${JOB_TEXT})`;

export const BY_JOB = labelList('job');
export const BY_TARGET = labelList('job', 'instance');
export const BY_UPSTREAM = labelList('job', 'upstream');
export const BY_STATION = labelList('job', 'station');
export const BY_TYPE = labelList('job', 'station', 'resource_type');
/** Joins series of one resource per target, which costs less than deduplicating both sides first. */
export const SAME_RESOURCE = `on ${labelList('job', 'instance', 'station', 'resource_id')}`;

export const BY_RESOURCE = labelList('job', 'station', 'resource_id');

const INCOMPLETE = metric('telemetry_station_listing_incomplete');
const REJECTED_RECORDS = '{reason="rejected_records"}';
const OTHER_REASON = '{reason!="rejected_records"}';

/** Holds only for listings that are verified complete: others do not show which resources were removed. */
export const LISTING_COMPLETE = `min by ${BY_STATION} (${metric('telemetry_station_listing_complete')}) == 1`;

/** Holds for listings that are complete, or incomplete because of rejected records alone. */
export const NO_OTHER_REASON = `max by ${BY_STATION} (${INCOMPLETE}${OTHER_REASON}) == 0`;

/** Holds for listings from which resources may be missing, not counting rejected records. */
export const MAY_MISS_RESOURCES = `max by ${BY_STATION} (${INCOMPLETE}${OTHER_REASON}) == 1`;

/** Template that holds for the alert's station if resources may be missing from its listing, not counting rejected records. */
export const MISSING_RESOURCES_QUERY = stationQuery(`max(${INCOMPLETE}${OTHER_REASON}) == 1`);

/** Holds for listings in which only the rejected records are missing, if any. */
export const LISTING_ADDS_UP = `(
  ${LISTING_COMPLETE}
  or
  ${NO_OTHER_REASON}
)`;

/** Holds for listings that are incomplete because of rejected records and for no other reason. */
export const ONLY_REJECTED = `(
  max by ${BY_STATION} (${INCOMPLETE}${REJECTED_RECORDS}) == 1
  unless on ${BY_STATION}
  ${MAY_MISS_RESOURCES}
)`;

/** Template of the reasons why the listing of the alert's station is incomplete. */
export const LISTED_REASONS = `{{ range $index, $incomplete := ${stationQuery(`max by (reason) (${INCOMPLETE}{}) == 1`)} | sortByLabel "reason" }}{{ if $index }}, {{ end }}{{ $incomplete.Labels.reason }}{{ end }}`;
