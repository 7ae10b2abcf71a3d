import { type LabelOf, labelsOf, type Matchers, type MetricName, selector } from './metric.ts';

/**
 * Queries under a dashboard's variables: each selector is narrowed by every variable whose label the metric has.
 * Two targets of a job may tell of the same station (a pair of replicas); what they tell is taken once.
 */
export class Scope {
  readonly #variables: readonly string[];

  constructor(...variables: readonly string[]) {
    this.#variables = ['job', ...variables];
  }

  /** The series as Prometheus has them. */
  series<Name extends MetricName>(name: Name, matchers: Matchers<Name> = {}): string {
    const carried = new Set<string>(['job', 'instance', ...labelsOf(name)]);
    const chosen = this.#variables.filter((variable) => carried.has(variable) && !(variable in matchers));
    const filters = chosen.map((variable) => [variable, `=~"$${variable}"`]);
    return selector(name, { ...Object.fromEntries(filters), ...matchers });
  }

  /** One series for each thing told, whichever target tells it. */
  each<Name extends MetricName>(name: Name, matchers: Matchers<Name> = {}): string {
    return once(name, this.series(name, matchers));
  }

  sum<Name extends MetricName>(name: Name, by: readonly LabelOf<Name>[] = [], matchers: Matchers<Name> = {}): string {
    return summed(by, this.each(name, matchers));
  }

  /** How much a station's counter grows in an hour. */
  hourly<Name extends MetricName>(name: Name, by: readonly LabelOf<Name>[]): string {
    const rates = `rate(${this.series(name)}[$__rate_interval])`;
    return `3600 * ${summed(by, once(name, rates))}`;
  }

  /** How much a counter of the processes themselves grows in a second, all targets together. */
  rate<Name extends MetricName>(name: Name, by: readonly LabelOf<Name>[], matchers: Matchers<Name> = {}): string {
    return summed(by, `rate(${this.series(name, matchers)}[$__rate_interval])`);
  }

  /** What all targets have together. */
  total<Name extends MetricName>(name: Name, by: readonly LabelOf<Name>[]): string {
    return summed(by, this.series(name));
  }

  quantile(quantile: number, name: 'telemetry_station_exporter_api_request_duration_seconds'): string {
    const buckets = this.series(name).replace(name, `${name}_bucket`);
    return `histogram_quantile(${quantile}, sum by (le) (rate(${buckets}[$__rate_interval])))`;
  }

  /** What a process tells of itself, if it is an exporter: the variable's "All" names every job there is. */
  ofExporters(expression: string): string {
    return `${expression} and on (job, instance) ${this.series('telemetry_station_exporter_build_info')}`;
  }

  /** What Prometheus tells of a target, if that is an exporter or one station of it. */
  ofTargets(expression: string): string {
    const targets = `${this.series('telemetry_station_exporter_build_info')} or ${this.series('telemetry_station_up')}`;
    return `${expression} and on (job, instance) (${targets})`;
  }
}

export function summed(by: readonly string[], expression: string): string {
  return by.length === 0 ? `sum(${expression})` : `sum by (${by.join(', ')}) (${expression})`;
}

/** A legend cannot show an empty label. */
export function named(label: 'resource_type' | 'product' | 'state', expression: string): string {
  return `label_replace(${expression}, "${label}", "none", "${label}", "")`;
}

/** What several targets tell with the labels of the metric, taken once. */
export function once(name: MetricName, expression: string): string {
  return `max by (${['job', ...labelsOf(name)].join(', ')}) (${expression})`;
}

/** Joins what one target tells of a resource: that is unambiguous, and cheaper than to take everything once before. */
export const SAME_RESOURCE = 'on (job, instance, station, resource_id)';

/** The only state that the service documents is an inactive one; what fires is recognised by the word. */
export const FIRING = '=~"(?i).*firing.*"';
