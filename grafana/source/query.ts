import { DataqueryBuilder, PromQueryFormat, QueryEditorMode } from '@grafana/grafana-foundation-sdk/prometheus';
import {
  deduplicate,
  type LabelOf,
  labelsOf,
  type Matchers,
  type MetricName,
  selector,
  TARGET_LABELS,
} from '../../prometheus/promql/metric.ts';
import { NONE } from './appearance.ts';

/** Builds expressions whose selectors match the dashboard variables, as far as the metric has their labels. */
export class Scope {
  readonly #variables: readonly string[];

  constructor(...variables: readonly string[]) {
    this.#variables = ['job', ...variables];
  }

  series<Name extends MetricName>(name: Name, matchers: Matchers<Name> = {}): string {
    const labels = new Set<string>([...TARGET_LABELS, ...labelsOf(name)]);
    const variables = this.#variables.filter((variable) => labels.has(variable) && !(variable in matchers));
    const filters = variables.map((variable) => [variable, `=~"$${variable}"`]);
    return selector(name, { ...Object.fromEntries(filters), ...matchers });
  }

  deduplicated<Name extends MetricName>(name: Name, matchers: Matchers<Name> = {}): string {
    return deduplicate(name, this.series(name, matchers));
  }

  /** Sum over deduplicated series. */
  sum<Name extends MetricName>(name: Name, by: readonly LabelOf<Name>[] = [], matchers: Matchers<Name> = {}): string {
    return sumBy(by, this.deduplicated(name, matchers));
  }

  /** Hourly increase of a station's counter, over deduplicated series. */
  hourlyRate<Name extends MetricName>(name: Name, by: readonly LabelOf<Name>[]): string {
    const rates = `rate(${this.series(name)}[$__rate_interval])`;
    return `3600 * ${sumBy(by, deduplicate(name, rates))}`;
  }

  /** Per-second rate of an exporter's own counter, summed over all targets. */
  rate<Name extends MetricName>(name: Name, by: readonly LabelOf<Name>[], matchers: Matchers<Name> = {}): string {
    return sumBy(by, `rate(${this.series(name, matchers)}[$__rate_interval])`);
  }

  /** Sum of an exporter's own gauge over all targets. */
  total<Name extends MetricName>(name: Name, by: readonly LabelOf<Name>[]): string {
    return sumBy(by, this.series(name));
  }

  /** By upstream: the latencies of two services mixed describe neither. */
  quantile(quantile: number, name: 'telemetry_station_exporter_api_request_duration_seconds'): string {
    const buckets = this.series(name).replace(name, `${name}_bucket`);
    return `histogram_quantile(${quantile}, sum by (upstream, le) (rate(${buckets}[$__rate_interval])))`;
  }

  /** Restricts process metrics to exporters: the job variable's "All" matches every job. */
  onExporters(expression: string): string {
    return `${expression} and on (job, instance) ${this.series('telemetry_station_exporter_build_info')}`;
  }

  /**
   * Restricts scrape metrics to exporters and to stations scraped as targets of their own, by what they exposed within the last hour:
   * a failed scrape exposes nothing, but it has a duration, and `up` is 0.
   */
  onTargets(expression: string): string {
    const exposed = [this.series('telemetry_station_exporter_build_info'), this.series('telemetry_station_up')];
    const [exporters, stations] = exposed.map((series) => `group by (job, instance) (last_over_time(${series}[1h]))`);
    return `${expression} and on (job, instance) (${exporters} or ${stations})`;
  }

  /** Alerts of the shipped rules, by the variables that the alert has labels for; some have no job, station or instance. */
  alerts<Name extends 'ALERTS' | 'ALERTS_FOR_STATE'>(name: Name, matchers: Matchers<Name> = {}): string {
    const variables = this.#variables.filter((variable) =>
      ['job', 'instance', 'station', 'upstream'].includes(variable),
    );
    const filters = variables.map((variable) => [variable, `=~"$${variable}|"`]);
    return selector(name, { alertname: '=~"TelemetryStation.+"', ...Object.fromEntries(filters), ...matchers });
  }

  /** One series per resource type of the selected stations, with its name in the label `resource_type_label`. */
  typeNames(): string {
    const stations = new Scope(...this.#variables.filter((variable) => variable === 'station'));
    const named = stations.series('telemetry_station_resource_type_info', { resource_type_label: '!=""' });
    const keys = `group by (resource_type) (${stations.series('telemetry_station_resources')})`;
    return `(topk by (resource_type) (1, group by (resource_type, resource_type_label) (${named})) or on (resource_type) label_replace(${keys}, "resource_type_label", "$1", "resource_type", "(?:resource_type[.])?(.*)"))`;
  }

  /** Adds the label `resource_type_label` to series with the label `resource_type`. */
  withTypeName(expression: string): string {
    return emptyAsNone(
      'resource_type_label',
      `${expression} * on (resource_type) group_left (resource_type_label) ${this.typeNames()}`,
    );
  }
}

/** Series of `expression`, or one at 0 named `none` while there are none but `presence` has data: an empty chart means no data. */
export function orNone(expression: string, label: string, presence: string): string {
  return `${expression} or on () label_replace(0 * count(${presence}), "${label}", "${NONE}", "", "")`;
}

/** Matches labels that contain the text of a variable literally, whatever its characters. */
export function containsText(variable: string): string {
  return `=~\`(?i).*\${${variable}:regex}.*\``;
}

export function sumBy(by: readonly string[], expression: string): string {
  return by.length === 0 ? `sum(${expression})` : `sum by (${by.join(', ')}) (${expression})`;
}

/** Replaces an empty label value, which a legend cannot show, with `none`. */
export function emptyAsNone(label: 'resource_type_label' | 'product' | 'state', expression: string): string {
  return `label_replace(${expression}, "${label}", "${NONE}", "${label}", "")`;
}

/** Joins series of one resource per target, which costs less than deduplicating both sides first. */
export const SAME_RESOURCE = 'on (job, instance, station, resource_id)';

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
  return new DataqueryBuilder().datasource(DATASOURCE).editorMode(QueryEditorMode.Code).expr(expression);
}
