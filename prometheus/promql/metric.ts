import { FAMILY_DESCRIPTIONS, type FamilyName } from '../../src/metrics/catalogue.ts';
import { CLUSTER, labelList } from './cluster.ts';

/** Labels of the shipped alerts beside `alertname`, `severity` and those of their target. */
const ALERT_LABELS = ['station', 'upstream', 'resource_id', 'name', 'display_name', 'resource_type'] as const;

/**
 * Metrics outside the catalogue that dashboards and rules read: Prometheus adds some to each scrape and writes others for alerting rules,
 * prom-client exposes the rest.
 */
export const EXTERNAL_METRICS = {
  ALERTS: ['alertname', 'alertstate', 'severity', ...ALERT_LABELS],
  ALERTS_FOR_STATE: ['alertname', 'severity', ...ALERT_LABELS],
  up: [],
  scrape_duration_seconds: [],
  process_start_time_seconds: [],
  process_resident_memory_bytes: [],
  process_cpu_seconds_total: [],
  nodejs_eventloop_lag_p99_seconds: [],
} as const satisfies Record<string, readonly string[]>;

type ExternalName = keyof typeof EXTERNAL_METRICS;

/** A renamed or removed metric fails to compile. */
export type MetricName = FamilyName | ExternalName;

/** Labels that Prometheus attaches to every series of a target. */
export const TARGET_LABELS = [CLUSTER, 'job', 'instance'] as const;

/**
 * One series per station or resource, although several targets of a job (replicas) may expose it. Aggregates have further labels where
 * `resource_labels` is configured: each target is summed up over them first, except over `furtherLabels`.
 */
export function deduplicate(name: MetricName, expression: string, furtherLabels: readonly string[] = []): string {
  const labels = [...labelsOf(name), ...furtherLabels];
  const series = AGGREGATES.has(name)
    ? `sum by ${labelList('job', 'instance', ...labels)} (${expression})`
    : expression;
  return `max by ${labelList('job', ...labels)} (${series})`;
}

/** The labels of a metric, without those of its target. */
export function labelsOf(name: MetricName): readonly string[] {
  return isExternal(name) ? EXTERNAL_METRICS[name] : (CATALOGUE.get(name) ?? []);
}

/** Matchers of the label `alert_state`: what a state means, whatever its name. */
export const FIRING = '="firing"';
export const UNKNOWN = '="unknown"';
export const FIRING_OR_UNKNOWN = '=~"firing|unknown"';
export const KNOWN = '!="unknown"';

const CATALOGUE: ReadonlyMap<string, readonly string[]> = new Map(
  FAMILY_DESCRIPTIONS.map(({ name, labels }) => [name, labels]),
);

const AGGREGATES: ReadonlySet<string> = new Set(
  FAMILY_DESCRIPTIONS.filter(
    ({ name, hasResourceLabels }) => hasResourceLabels && name !== 'telemetry_station_resource_info',
  ).map(({ name }) => name),
);

function isExternal(name: MetricName): name is ExternalName {
  return name in EXTERNAL_METRICS;
}
