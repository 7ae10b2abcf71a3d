import type { UpstreamAccess } from '../model/failure.ts';
import { add } from '../model/sums.ts';
import type { ResourceData } from '../resources/collector.ts';
import type { LabelEntry } from '../resources/resource-labels.ts';
import type { ResourceSpec } from '../resources/spec.ts';
import type { UpstreamOptions } from '../service/upstream-options.ts';
import type { ScrapeSize } from '../status/scrape-size.ts';
import type { StationStatus, UpstreamStatus } from '../status/station-status.ts';

/** What a live check observed. */
export interface CheckResult {
  /** When it ended. */
  readonly nowMs: number;
  readonly upstreams: readonly UpstreamResult[];
  /** Without the exporter's own metrics and the stations that failed. */
  readonly scrape: ScrapeSize;
  /** The stations in the order of the configuration. */
  readonly stations: readonly StationResult[];
  /** One per entry of `resource_labels`. */
  readonly labelMatches: readonly LabelMatch[];
}

/** The load is that after the check. */
export interface UpstreamResult extends UpstreamStatus, ConnectionResult {
  readonly options: UpstreamOptions;
  readonly access: UpstreamAccess;
}

/** Also known when the certificate failed verification. */
export interface TlsSession {
  readonly protocol: string;
  readonly issuer: string;
  readonly validToMs: number;
}

/** What one connection showed. */
export interface ConnectionResult {
  readonly session: TlsSession | undefined;
  /** undefined: connected. */
  readonly error: unknown;
  readonly durationMs: number;
}

export interface StationResult {
  readonly spec: ResourceSpec;
  readonly status: StationStatus;
  /** undefined: the refresh failed. */
  readonly listed: Listed | undefined;
  /** How many series it has in an exposition. */
  readonly series: number;
}

export type Listed = Pick<ResourceData, 'snapshot' | 'aggregates' | 'withheld'>;

/** How many of the listed resources an entry of `resource_labels` matches. */
interface LabelMatch {
  /** Its place and expressions: `resource_labels[0] (name: pay)`. */
  readonly entry: string;
  readonly resources: number;
  /** Those that earlier entries leave something to decide of. */
  readonly decided: number;
}

export function labelMatches(
  entries: readonly Pick<LabelEntry, 'match'>[],
  stations: readonly Pick<StationResult, 'spec' | 'listed'>[],
): readonly LabelMatch[] {
  const matched = new Map<LabelEntry['match'], number>();
  const decided = new Map<LabelEntry['match'], number>();
  for (const { spec, listed } of stations)
    for (const resource of listed?.snapshot.parts.flat() ?? []) {
      for (const { match } of spec.resourceLabels.matching(resource)) add(matched, match, 1);
      for (const { match } of spec.resourceLabels.deciding(resource)) add(decided, match, 1);
    }
  return entries.map(({ match }, at) => {
    const expressions = Object.entries(match).map(([field, { source }]) => `${field}: ${source}`);
    return {
      entry: `resource_labels[${at}] (${expressions.join(', ') || 'all'})`,
      resources: matched.get(match) ?? 0,
      decided: decided.get(match) ?? 0,
    };
  });
}
