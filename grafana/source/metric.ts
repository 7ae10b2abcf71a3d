import { FAMILY_DESCRIPTIONS, type FamilyLabel, type FamilyName } from '../../src/metrics/catalogue.ts';

/** What dashboards read beside the catalogue: what Prometheus says of its targets and what prom-client says of the process. */
export const FOREIGN_METRICS = {
  up: [],
  scrape_duration_seconds: [],
  scrape_samples_scraped: [],
  scrape_body_size_bytes: [],
  process_start_time_seconds: [],
  process_resident_memory_bytes: [],
  process_cpu_seconds_total: [],
  process_open_fds: [],
  process_max_fds: [],
  nodejs_heap_size_used_bytes: [],
  nodejs_external_memory_bytes: [],
  nodejs_eventloop_lag_p50_seconds: [],
  nodejs_eventloop_lag_p99_seconds: [],
  nodejs_eventloop_lag_max_seconds: [],
  nodejs_gc_duration_seconds_sum: ['kind'],
} as const satisfies Record<string, readonly string[]>;

type ForeignName = keyof typeof FOREIGN_METRICS;

/** A metric that is no longer there, or goes by another name now, does not compile. */
export type MetricName = FamilyName | ForeignName;

/** The labels that Prometheus gives to every series of a target. */
type TargetLabel = 'job' | 'instance';

export type LabelOf<Name extends MetricName> =
  | TargetLabel
  | (Name extends FamilyName ? FamilyLabel<Name> : Name extends ForeignName ? (typeof FOREIGN_METRICS)[Name][number] : never);

/** What follows a label in a selector, such as `="a"`. */
export type Matchers<Name extends MetricName> = { readonly [Label in LabelOf<Name>]?: string };

/** The labels of a metric without those of its target. */
export function labelsOf(name: MetricName): readonly string[] {
  return isForeign(name) ? FOREIGN_METRICS[name] : (CATALOGUE.get(name) ?? []);
}

export function selector<Name extends MetricName>(name: Name, matchers: Matchers<Name> = {}): string {
  const pairs = Object.entries(matchers).map(([label, matcher]) => `${label}${matcher}`);
  return pairs.length === 0 ? name : `${name}{${pairs.join(', ')}}`;
}

const CATALOGUE: ReadonlyMap<string, readonly string[]> = new Map(FAMILY_DESCRIPTIONS.map(({ name, labels }) => [name, labels]));

function isForeign(name: MetricName): name is ForeignName {
  return name in FOREIGN_METRICS;
}
