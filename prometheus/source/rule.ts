import { labelsOf, type Matchers, type MetricName, selector } from '../../grafana/source/metric.ts';

export interface RecordingRule {
  readonly record: string;
  /** What it tells, for those who read the file. */
  readonly about: string;
  readonly expr: string;
}

export interface AlertingRule {
  readonly alert: string;
  /** Why it is as it is, for those who read the file. */
  readonly about: string;
  readonly expr: string;
  readonly for: string;
  readonly severity: 'critical' | 'warning' | 'info';
  /** The same whatever the labels are, so that notifications can be grouped by it. */
  readonly summary: string;
  readonly description: string;
}

export interface RuleGroup {
  readonly name: string;
  readonly rules: readonly (RecordingRule | AlertingRule)[];
}

/** Where the runbooks are read. Whoever keeps them elsewhere changes it here and runs `npm run generate`. */
export const RUNBOOKS = 'https://github.com/telemetry-station-exporter/telemetry-station-exporter/blob/main/docs/runbooks';

/** One series for each thing told: two targets of a job that tell of the same station, as a pair of replicas does, count once. */
export function each<Name extends MetricName>(name: Name, matchers: Matchers<Name> = {}): string {
  return `max by (${['job', ...labelsOf(name)].join(', ')}) (${selector(name, matchers)})`;
}

/** The name itself; one that is not in the catalogue does not compile. */
export function metric<Name extends MetricName>(name: Name): Name {
  return name;
}

export const BY_STATION = '(job, station)';
export const BY_TYPE = '(job, station, resource_type)';

/** Only a listing that is proven whole tells what is gone. */
export const LISTED_WHOLE = `min by ${BY_STATION} (${metric('telemetry_station_listing_complete')}) == 1`;
