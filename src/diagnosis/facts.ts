import type { UpstreamAccess } from '../model/failure.ts';
import { add } from '../model/sums.ts';
import type { Aggregates } from '../resources/aggregates.ts';
import type { LabelEntry } from '../resources/resource-label-schema.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { ResourceSpec } from '../resources/spec.ts';
import type { ReplyInfo } from '../service/request-observer.ts';
import type { UpstreamOptions } from '../service/upstream-options.ts';
import type { StationStatus, UpstreamStatus } from '../status/station-status.ts';

/** What a live check observed. */
export interface Facts {
  /** When it ended. */
  readonly nowMs: number;
  readonly upstreams: readonly UpstreamFacts[];
  /** The stations in the order of the configuration. */
  readonly stations: readonly StationFacts[];
  /** One per entry of `resource_labels`. */
  readonly labelMatches: readonly LabelMatch[];
}

/** The load is that after the check. */
export interface UpstreamFacts extends UpstreamStatus, ConnectionFacts {
  readonly options: UpstreamOptions;
  readonly access: UpstreamAccess;
  /** How far the local clock is ahead of the service's. */
  readonly clockDifferenceMs: number | undefined;
}

/** Also known when the certificate failed verification. */
export interface TlsSession {
  readonly protocol: string;
  readonly issuer: string;
  readonly validToMs: number;
}

/** What one connection showed. */
export interface ConnectionFacts {
  readonly session: TlsSession | undefined;
  /** undefined: connected. */
  readonly error: unknown;
  readonly durationMs: number;
}

export interface StationFacts {
  readonly spec: ResourceSpec;
  readonly status: StationStatus;
  /** undefined: the refresh failed. */
  readonly listed: Listed | undefined;
  /** How many series it has in an exposition. */
  readonly series: number;
}

export interface Listed {
  readonly snapshot: Snapshot;
  readonly aggregates: Pick<Aggregates, 'groups'>;
  /** Per-resource series withheld because of `metrics.max_resources`. */
  readonly withheld: number;
}

/** How many of the listed resources an entry of `resource_labels` matches. */
interface LabelMatch {
  /** Its place and expressions: `resource_labels[0] (name: pay)`. */
  readonly entry: string;
  readonly resources: number;
}

export function labelMatches(
  entries: readonly Pick<LabelEntry, 'match'>[],
  stations: readonly Pick<StationFacts, 'spec' | 'listed'>[],
): readonly LabelMatch[] {
  const counts = new Map<LabelEntry['match'], number>();
  for (const { spec, listed } of stations)
    for (const resource of listed?.snapshot.parts.flat() ?? [])
      for (const { match } of spec.resourceLabels.matching(resource)) add(counts, match, 1);
  return entries.map(({ match }, at) => {
    const expressions = Object.entries(match).map(([field, { source }]) => `${field}: ${source}`);
    return {
      entry: `resource_labels[${at}] (${expressions.join(', ') || 'all'})`,
      resources: counts.get(match) ?? 0,
    };
  });
}

/** The `Date` header has a resolution of one second. */
const DATE_RESOLUTION_MS = 1000;

/**
 * How far the local clock is ahead of the service's (negative: behind), taken from the reply with the shortest round trip.
 * The service writes `Date` at an unknown moment of the round trip, so a difference within it counts as 0.
 */
export function clockDifferenceMs(
  replies: readonly Pick<ReplyInfo, 'sentMs' | 'receivedMs' | 'dateMs'>[],
): number | undefined {
  let best: { readonly minMs: number; readonly maxMs: number } | undefined;
  for (const { sentMs, receivedMs, dateMs } of replies) {
    if (dateMs === undefined) continue;
    const bounds = { minMs: sentMs - dateMs - DATE_RESOLUTION_MS, maxMs: receivedMs - dateMs };
    if (best === undefined || bounds.maxMs - bounds.minMs < best.maxMs - best.minMs) best = bounds;
  }
  if (best === undefined) return undefined;
  return best.minMs <= 0 && best.maxMs >= 0 ? 0 : (best.minMs + best.maxMs) / 2;
}
