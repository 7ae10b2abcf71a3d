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
  /** Template of the start of the dashboard link, in place of a query. */
  readonly linkStart?: string;
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
  readonly rules: readonly (RecordingRule | AlertingRule)[];
}

/** Checks a metric name at compile time. */
export function metric<Name extends MetricName>(name: Name): Name {
  return name;
}

export function deduplicated(name: MetricName): string {
  return deduplicate(name, name);
}

/** A template that queries a series of the alert's station: the selectors in `expression` are written as `{}`. */
export function stationQuery(expression: string): string {
  const selectors = expression.split('{}');
  const format = selectors.join('{job=%q,station=%q}');
  const values = '$labels.job $labels.station '.repeat(selectors.length - 1).trimEnd();
  return `query (printf \`${format}\` ${values})`;
}

/** Start of a dashboard link in milliseconds: an hour before the evaluation, so that the link of an old notification still shows its time. */
export const LINK_START = '1000 * (time() - 3600)';

export const BY_STATION = '(job, station)';
export const BY_TYPE = '(job, station, resource_type)';

/** Holds only for listings that are verified complete: others do not show which resources were removed. */
export const LISTING_COMPLETE = `min by ${BY_STATION} (${metric('telemetry_station_listing_complete')}) == 1`;
