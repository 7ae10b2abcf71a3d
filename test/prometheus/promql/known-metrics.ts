import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { FAMILY_DESCRIPTIONS } from '../../../src/collectors/collectors.ts';
import { parsePromql } from './parse.ts';

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly keep_firing_for?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook_url: string };
}

export interface RecordingRule {
  readonly record: string;
  readonly expr: string;
}

/** The groups of prometheus/rules.yml, their alerts apart from what they record. */
export function shippedGroups() {
  const { groups } = parse(readFileSync(new URL('../../../prometheus/rules.yml', import.meta.url), 'utf8')) as {
    groups: { name: string; interval: string; rules: (Alert | RecordingRule)[] }[];
  };
  return groups.map(({ rules, ...group }) => ({
    ...group,
    rules: rules.filter((rule): rule is Alert => 'alert' in rule),
    records: rules.filter((rule): rule is RecordingRule => 'record' in rule),
  }));
}

/** For tests of promtool, which otherwise takes the groups in any order: alerts read what the first one records. */
export const GROUP_ORDER: readonly string[] = shippedGroups().map(({ name }) => name);

/** Labels of the shipped alerts beside `alertname`, `severity` and those of their target. */
const ALERT_LABELS = ['station', 'upstream', 'resource_id', 'name', 'display_name', 'resource_type', 'product'];

/**
 * Metrics outside the catalogue that dashboards, rules and documents read: Prometheus adds some to each scrape and writes others for alerting
 * rules, prom-client exposes the rest.
 */
const EXTERNAL_METRICS: Readonly<Record<string, readonly string[]>> = {
  ALERTS: ['alertname', 'alertstate', 'severity', ...ALERT_LABELS],
  ALERTS_FOR_STATE: ['alertname', 'severity', ...ALERT_LABELS],
  up: [],
  scrape_duration_seconds: [],
  process_start_time_seconds: [],
  process_resident_memory_bytes: [],
  process_cpu_seconds_total: [],
  nodejs_eventloop_lag_p99_seconds: [],
};

/** Labels of recorded series that alerts or their texts use. */
const RECORDED_LABELS = ['set', 'gpu_model', 'unit', ...ALERT_LABELS];

/** Labels that Prometheus attaches to every series of a target. */
const TARGET_LABELS = ['cluster', 'job', 'instance', 'pod'];

/** The label that examples give stations and resources for routing. */
const CONFIGURED_LABEL = 'team';

/** The labels of every metric of the catalogue and of Prometheus. */
export function knownMetrics(): ReadonlyMap<string, ReadonlySet<string>> {
  const published = FAMILY_DESCRIPTIONS.flatMap(
    ({ name, type, labels, hasRowLabels, hasStationLabels }): [string, readonly string[]][] =>
      type === 'histogram'
        ? [
            [`${name}_bucket`, [...labels, 'le']],
            [`${name}_sum`, labels],
            [`${name}_count`, labels],
          ]
        : [[name, hasRowLabels || hasStationLabels ? [...labels, CONFIGURED_LABEL] : labels]],
  );
  const recorded = shippedGroups().flatMap(({ records }) =>
    records.map(({ record }): [string, readonly string[]] => [record, RECORDED_LABELS]),
  );
  return new Map(
    [...published, ...recorded, ...Object.entries(EXTERNAL_METRICS)].map(([name, labels]) => [
      name,
      withTargetLabels(labels),
    ]),
  );
}

/** Syntax errors, unknown metrics and unknown labels in an expression. */
export function unknownIn(expression: string, metrics = knownMetrics()): string[] {
  const { selectors, labels, errors } = parsePromql(expression);
  const unknown = selectors.flatMap(({ metric, matchers }) => {
    const known = metrics.get(metric);
    if (known === undefined) return [`metric ${metric}`];
    return matchers.filter(({ label }) => !known.has(label)).map(({ label }) => `label ${label} of ${metric}`);
  });
  const available = new Set(selectors.flatMap(({ metric }) => [...(metrics.get(metric) ?? [])]));
  return [...errors, ...unknown, ...labels.filter((label) => !available.has(label)).map((label) => `label ${label}`)];
}

function withTargetLabels(labels: Iterable<string>): ReadonlySet<string> {
  return new Set([...labels, ...TARGET_LABELS]);
}
