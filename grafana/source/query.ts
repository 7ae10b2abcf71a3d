import { DataqueryBuilder, PromQueryFormat, QueryEditorMode } from '@grafana/grafana-foundation-sdk/prometheus';
import { CLUSTER } from '../../prometheus/source/parameters.ts';
import type { FamilyName } from '../../src/resources/families.ts';

/** A renamed or removed family fails to compile. The others are metrics of Prometheus, prom-client and the buckets of a histogram. */
type MetricName =
  | FamilyName
  | 'ALERTS'
  | 'ALERTS_FOR_STATE'
  | 'up'
  | 'scrape_duration_seconds'
  | 'process_start_time_seconds'
  | 'process_resident_memory_bytes'
  | 'process_cpu_seconds_total'
  | 'nodejs_eventloop_lag_p99_seconds'
  | 'telemetry_station_exporter_api_request_duration_seconds_bucket';

/** The series that a dashboard shows: those of the selected cluster and job that have these matchers. */
export class Scope {
  readonly #matchers: readonly string[];

  constructor(...matchers: readonly string[]) {
    this.#matchers = [`${CLUSTER}="$cluster"`, 'job="$job"', ...matchers];
  }

  series(name: MetricName, ...matchers: readonly string[]): string {
    return `${name}{${[...this.#matchers, ...matchers].join(',')}}`;
  }

  /** Series that replicas of an exporter publish as well, each of them once. */
  once(name: FamilyName, ...matchers: readonly string[]): string {
    return `max without (instance, pod) (${this.series(name, ...matchers)})`;
  }

  /** The largest sum over some labels: a sum of maxima would count a resource twice whose state replicas do not agree on yet. */
  total(name: FamilyName, over: string, ...matchers: readonly string[]): string {
    return `max without (instance, pod) (sum without (${over}) (${this.series(name, ...matchers)}))`;
  }

  /** Resources known to be covered as a share of those that alert rules could cover. Replicas count on both sides. */
  leastCoverage(by = '', ...matchers: readonly string[]): string {
    const covered = this.series('telemetry_station_resources_with_alert_rules', ...matchers);
    const coverable = this.series('telemetry_station_coverable_resources', ...matchers);
    return `sum${by} (${covered}) / sum${by} (${coverable})`;
  }

  /** The coverage where it is known of all resources. */
  coverage(by = '', ...matchers: readonly string[]): string {
    const unknown = this.series('telemetry_station_resources_with_unknown_alert_coverage', ...matchers);
    return `${this.leastCoverage(by, ...matchers)} unless sum${by} (${unknown}) > 0`;
  }

  /** The coverage if all resources of which it is unknown are covered; nothing where there are none. */
  mostCoverage(): string {
    const uncovered = this.series('telemetry_station_resources_without_alert_rules');
    const coverable = this.series('telemetry_station_coverable_resources');
    const unknown = this.series('telemetry_station_resources_with_unknown_alert_coverage');
    return `1 - sum(${uncovered}) / sum(${coverable}) and sum(${unknown}) > 0`;
  }
}

/** The latest value within 15 minutes, if the exporter is down. The series of a station end only with it. */
export function lastKnown(expression: string): string {
  return `last_over_time(${expression}[15m:])`;
}

export const DATASOURCE = { type: 'prometheus', uid: '$datasource' };

export function rangeQuery(expression: string, legend: string): DataqueryBuilder {
  return query(expression).range().legendFormat(legend);
}

export function instantQuery(expression: string, legend = ''): DataqueryBuilder {
  return query(expression).instant().legendFormat(legend);
}

export function tableQuery(expression: string): DataqueryBuilder {
  return query(expression).instant().format(PromQueryFormat.Table);
}

function query(expression: string): DataqueryBuilder {
  const built = new DataqueryBuilder().datasource(DATASOURCE).editorMode(QueryEditorMode.Code).expr(expression);
  // `$__rate_interval` is four times this interval: without it, that of the data source counts, whose default is too short for a scrape per minute.
  return expression.includes('$__rate_interval') ? built.interval('1m') : built;
}
