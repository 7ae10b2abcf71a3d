import {
  interpolate,
  labelValuesOf,
  type ShippedDashboard,
  type ShippedTarget,
  type ShippedVariable,
} from '../../grafana/shipped-dashboards.ts';
import type { RunningPrometheus, Series } from './prometheus.ts';

export interface QueryResult {
  readonly result: readonly (Series & { readonly values?: readonly (readonly [number, string])[] })[];
  readonly stats: {
    readonly samples: { readonly peakSamples: number };
    readonly timings: { readonly evalTotalTime: number };
  };
}

interface TimeRange {
  readonly end: number;
  readonly seconds: number;
  readonly step: number;
}

/** Sends an instant or a range query, as Grafana does. */
export function runTarget(
  prometheus: RunningPrometheus,
  { expr, range }: Pick<ShippedTarget, 'expr' | 'range'>,
  values: Readonly<Record<string, string>>,
  { end, seconds, step }: TimeRange,
): Promise<QueryResult> {
  const query = interpolate(expr, values);
  if (/\$[a-z_{]/.test(query)) throw new Error(`variable without a value in ${query}`);
  const times = range ? { start: `${end - seconds}`, end: `${end}`, step: `${step}` } : { time: `${end}` };
  return prometheus.api<QueryResult>(range ? 'query_range' : 'query', { query, stats: 'all', ...times });
}

/** The values of a variable, with the selected values of others, all instances, and a job that has no cluster. */
export async function valuesFor(
  prometheus: RunningPrometheus,
  variable: ShippedVariable,
  selected: Readonly<Record<'job' | 'station', string>>,
  end: number,
): Promise<readonly string[]> {
  const { selector, label } = labelValuesOf(variable);
  return prometheus.api<string[]>(`label/${label}/values`, {
    'match[]': interpolate(selector, { ...selected, instance: '.*', cluster: '' }),
    end: `${end}`,
  });
}

/** Everything selected: "All", or for a variable without it any value. */
export function allSelected({ templating }: ShippedDashboard): Record<string, string> {
  const values = templating.list.map(({ name, type, allValue, current }) => [
    name,
    type === 'query' ? allValue || '.+' : current?.value,
  ]);
  return Object.fromEntries(values);
}
