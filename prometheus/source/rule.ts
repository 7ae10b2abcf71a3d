import { deduplicate, type MetricName } from '../../promql/metric.ts';

export interface RecordingRule {
  readonly record: string;
  /** Comment above the rule in rules.yml. */
  readonly comment: string;
  readonly expr: string;
}

export interface AlertingRule {
  readonly alert: string;
  /** Comment above the rule in rules.yml. */
  readonly comment: string;
  readonly expr: string;
  readonly for: string;
  readonly severity: 'critical' | 'warning' | 'info';
  /** Must not contain templates, so that notifications can be grouped by it. */
  readonly summary: string;
  readonly description: string;
}

export interface RuleGroup {
  readonly name: string;
  readonly rules: readonly (RecordingRule | AlertingRule)[];
}

/** Base of every runbook_url. To host the runbooks elsewhere, change it and run `npm run generate`. */
export const RUNBOOK_URL = 'https://github.com/telemetry-station-exporter/telemetry-station-exporter/blob/main/docs/runbooks';

/** Checks a metric name at compile time. */
export function metric<Name extends MetricName>(name: Name): Name {
  return name;
}

export function deduplicated(name: MetricName): string {
  return deduplicate(name, name);
}

export const BY_STATION = '(job, station)';
export const BY_TYPE = '(job, station, resource_type)';

/** Holds only for listings that are verified complete: others do not show which resources were removed. */
export const LISTING_COMPLETE = `min by ${BY_STATION} (${metric('telemetry_station_listing_complete')}) == 1`;
