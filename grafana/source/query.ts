import { DataqueryBuilder, PromQueryFormat, QueryEditorMode } from '@grafana/grafana-foundation-sdk/prometheus';
import { CLUSTER, labelList } from '../../prometheus/promql/cluster.ts';
import {
  deduplicate,
  type LabelOf,
  labelsOf,
  type Matchers,
  type MetricName,
  selector,
  TARGET_LABELS,
} from '../../prometheus/promql/metric.ts';
import type { RECORDED } from '../../prometheus/source/recording.ts';
import { NO_STATE, NONE } from './appearance.ts';

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
    return selector(name, { ...CLUSTER_MATCHER, ...Object.fromEntries(filters), ...matchers });
  }

  /** A series of the recording rules, by the variables whose labels its name begins with. */
  recorded(name: (typeof RECORDED)[keyof typeof RECORDED]): string {
    const [labels = ''] = name.split(':');
    const variables = ['job', 'station'].filter(
      (label) => labels.split('_').includes(label) && this.#variables.includes(label),
    );
    const matchers = [['cluster', CLUSTER], ...variables.map((variable) => [variable, variable])];
    return `${name}{${matchers.map(([variable, label]) => `${label}=~"$${variable}"`).join(', ')}}`;
  }

  deduplicated<Name extends MetricName>(name: Name, matchers: Matchers<Name> = {}): string {
    return deduplicate(name, this.series(name, matchers));
  }

  /** Sum over all stations, each counted once although several targets of a job (replicas) may expose it. */
  sum<Name extends MetricName>(name: Name, by: readonly LabelOf<Name>[] = [], matchers: Matchers<Name> = {}): string {
    return sumOnce(by, this.series(name, matchers));
  }

  /** Sum by the label that the variable `owner` names, `none` where it is empty; nothing if no series of the metric has that label. */
  sumByOwner<Name extends MetricName>(name: Name, matchers: Matchers<Name> = {}): string {
    const ofSeries = (series: string) => sumOnce(['owner'], withOwner(series));
    const all = ofSeries(this.series(name));
    const owned = `${all} unless on ${labelList('owner')} group by ${labelList()} (${all})`;
    return emptyAsNone('owner', `${ofSeries(this.series(name, matchers))} and on ${labelList()} (${owned})`);
  }

  /** 1 for a station whose latest refresh succeeded, 0 for one whose latest refresh failed, -1 for one that is gone. */
  stationState(): string {
    return `(${this.deduplicated('telemetry_station_up')} or 0 * ${this.gone('telemetry_station_up')} - 1)`;
  }

  /**
   * The last value of stations that were seen within the time range and are gone together with their target. What a running target no
   * longer publishes was removed from its configuration.
   */
  gone(name: StationGauge): string {
    const seen = `last_over_time(${this.series(name)}[$__range]) unless on ${BY_TARGET} (${this.series('up')} == 1)`;
    return `max by ${BY_STATION} (${seen} unless on ${BY_STATION} ${this.series('telemetry_station_up')})`;
  }

  /** Hourly increase of a station's counter, over deduplicated series. */
  hourlyRate<Name extends MetricName>(name: Name, by: readonly LabelOf<Name>[], matchers: Matchers<Name> = {}): string {
    const rates = `rate(${this.series(name, matchers)}[$__rate_interval])`;
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
    return `histogram_quantile(${quantile}, sum by ${labelList('upstream', 'le')} (rate(${buckets}[$__rate_interval])))`;
  }

  /** Restricts process metrics to exporters: the job variable's "All" matches every job. */
  onExporters(expression: string): string {
    return `${expression} and on ${BY_TARGET} ${this.series('telemetry_station_exporter_build_info')}`;
  }

  /**
   * Restricts scrape metrics to exporters and to stations scraped as targets of their own, by what they exposed within the last hour:
   * a failed scrape exposes nothing, but it has a duration, and `up` is 0.
   */
  onTargets(expression: string): string {
    const exposed = [this.series('telemetry_station_exporter_build_info'), this.series('telemetry_station_up')];
    const [exporters, stations] = exposed.map((series) => `group by ${BY_TARGET} (last_over_time(${series}[1h]))`);
    return `${expression} and on ${BY_TARGET} (${exporters} or ${stations})`;
  }

  /** Alerts of the shipped rules, by the variables that the alert has labels for; some have no job, station or instance. */
  alerts<Name extends 'ALERTS' | 'ALERTS_FOR_STATE'>(name: Name, matchers: Matchers<Name> = {}): string {
    const variables = this.#variables.filter((variable) =>
      ['job', 'instance', 'station', 'upstream'].includes(variable),
    );
    const filters = variables.map((variable) => [variable, `=~"$${variable}|"`]);
    return selector(name, {
      alertname: '=~"TelemetryStation.+"',
      [CLUSTER]: '=~"$cluster|"',
      ...Object.fromEntries(filters),
      ...matchers,
    });
  }

  /**
   * Adds the label `station_label`: the station, with its job where several jobs of the cluster have a station of this name at any time of the
   * range: a name that changed with the time would be two series. Longer names are cut, so that they leave room for the data.
   */
  withStationName(expression: string): string {
    const stations = `group by ${BY_STATION} (last_over_time(${this.series('telemetry_station_up')}[$__range] @ end()))`;
    const unique = `${stations} and on ${labelList('station')} (count by ${labelList('station')} (${stations}) == 1)`;
    const names = `${replaceLabel(unique, 'station_label', '$1', 'station', '(.*)')} or on ${BY_STATION} label_join(${stations}, "station_label", " / ", "job", "station")`;
    const short = replaceLabel(names, 'station_label', '$1…', 'station_label', `(.{${NAME_LENGTH}}).{2,}`);
    return `${expression} * on ${BY_STATION} group_left (station_label) ${short}`;
  }

  /** Adds the label `job_name`, the job, where the series of `rows` in a cluster have several. */
  withJobName(expression: string, rows: string): string {
    const jobs = `group by ${BY_JOB} (${rows})`;
    const several = `${jobs} and on ${labelList()} (count by ${labelList()} (${jobs}) > 1)`;
    const names = `(${replaceLabel(several, 'job_name', '$1', 'job', '(.*)')} or on ${BY_JOB} ${jobs})`;
    return `${expression} * on ${BY_JOB} group_left (job_name) ${names}`;
  }

  /** One series per resource type of the selected stations, with its name in the label `resource_type_label`. */
  typeNames(): string {
    const stations = new Scope(...this.#variables.filter((variable) => variable === 'station'));
    const named = stations.series('telemetry_station_resource_type_info', { resource_type_label: '!=""' });
    const keys = `group by ${BY_TYPE} (${stations.series('telemetry_station_resources')})`;
    return `(topk by ${BY_TYPE} (1, group by ${labelList('resource_type', 'resource_type_label')} (${named})) or on ${BY_TYPE} ${replaceLabel(keys, 'resource_type_label', '$1', 'resource_type', '(?:resource_type[.])?(.*)')})`;
  }

  /** Adds the label `resource_type_label` to series with the label `resource_type`. */
  withTypeName(expression: string): string {
    return emptyAsNone(
      'resource_type_label',
      `${expression} * on ${BY_TYPE} group_left (resource_type_label) ${this.typeNames()}`,
    );
  }
}

/** Adds the label `owner` to series with the label that the variable `owner` names. */
export function withOwner(expression: string): string {
  return replaceLabel(expression, 'owner', '$1', '$owner', '(.+)');
}

/** Adds the label `state_label` to series with both labels of a state: what it means, or the state as sent where its meaning is unknown. */
export function withStateName(expression: string): string {
  const asSent = replaceLabel(expression, 'state_label', '$1', 'state', '(.+)');
  const orNoState = replaceLabel(asSent, 'state_label', NO_STATE, 'state', '');
  return replaceLabel(orNoState, 'state_label', '$1', 'alert_state', '(firing|pending|inactive)');
}

/** The sum by `state_label` of a sum by both labels of a state. */
export function sumByStateName(expression: string): string {
  return sumBy(['state_label'], withStateName(expression));
}

/** Characters of the name of a station in a chart. */
const NAME_LENGTH = 32;

type StationGauge =
  | 'telemetry_station_up'
  | 'telemetry_station_last_success_timestamp_seconds'
  | 'telemetry_station_last_attempt_timestamp_seconds';

/** Series of `expression`, or one at 0 named `none` while there are none but `presence` has data: an empty chart means no data. */
export function orNone(expression: string, label: string, presence: string): string {
  return `${expression} or on ${labelList()} ${replaceLabel(`0 * count by ${labelList()} (${presence})`, label, NONE, '', '')}`;
}

/** Matches labels that contain the text of a variable literally, whatever its characters. */
export function containsText(variable: string): string {
  return `=~\`(?i).*\${${variable}:regex}.*\``;
}

/** Sums up each target first, then takes the maximum over the targets that expose a station: costs less than the other way round. */
function sumOnce(by: readonly string[], series: string): string {
  const labels = by.filter((label) => label !== 'job' && label !== 'station');
  const perTarget = `sum by ${labelList('instance', 'job', 'station', ...labels)} (${series})`;
  return sumBy(by, `max by ${labelList('job', 'station', ...labels)} (${perTarget})`);
}

/** `count` if it is not 0, else 0, or -1 while `unknown` is 1: none known is not none. Nothing without `data`. */
export function noneOrUnknown(count: string, data: string, unknown: string): string {
  return `${count} > 0 or 0 * ${data} - ${unknown}`;
}

export function sumBy(by: readonly string[], expression: string): string {
  return `sum by ${labelList(...by)} (${expression})`;
}

/** Replaces an empty label value, which a legend cannot show, with `none`. */
export function emptyAsNone(label: 'resource_type_label' | 'product' | 'owner', expression: string): string {
  return replaceLabel(expression, label, NONE, label, '');
}

/** `label_replace` of PromQL. */
function replaceLabel(
  expression: string,
  target: string,
  replacement: string,
  source: string,
  pattern: string,
): string {
  return `label_replace(${expression}, "${target}", "${replacement}", "${source}", "${pattern}")`;
}

export const BY_STATION = labelList('job', 'station');
export const BY_TARGET = labelList('job', 'instance');
export const BY_UPSTREAM = labelList('job', 'upstream');
const BY_JOB = labelList('job');
const BY_TYPE = labelList('resource_type');

/** "All" clusters include series without the label. */
export const CLUSTER_MATCHER = { [CLUSTER]: '=~"$cluster"' };

export const DATASOURCE = { type: 'prometheus', uid: '$datasource' };

/** The series of each cluster; its name is in front of the legend. */
export function rangeQuery(expression: string, legend: string): DataqueryBuilder {
  return query(withClusterName(expression)).range().legendFormat(`{{cluster_name}}${legend}`);
}

/** A value for each cluster; Grafana shows the legend where there are several. */
export function instantQuery(expression: string, legend = ''): DataqueryBuilder {
  if (legend === '') return query(expression).instant().legendFormat(`{{${CLUSTER}}}`);
  return query(withClusterName(expression)).instant().legendFormat(`{{cluster_name}}${legend}`);
}

/** Adds the label `cluster_name` to series of a cluster: its name, as the beginning of a legend. */
function withClusterName(expression: string): string {
  return replaceLabel(expression, 'cluster_name', '$1: ', CLUSTER, '(.+)');
}

export function annotationQuery(expression: string): DataqueryBuilder {
  return query(expression).range();
}

export function tableQuery(expression: string): DataqueryBuilder {
  return query(expression).instant().format(PromQueryFormat.Table);
}

function query(expression: string): DataqueryBuilder {
  const built = new DataqueryBuilder().datasource(DATASOURCE).editorMode(QueryEditorMode.Code).expr(expression);
  // `$__rate_interval` is four times this interval: without it, that of the data source counts, whose default is too short for a scrape per minute.
  return expression.includes('$__rate_interval') ? built.interval('1m') : built;
}
