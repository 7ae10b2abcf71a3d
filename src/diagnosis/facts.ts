import type { FailureFacts, UpstreamAccess } from '../model/failure.ts';
import type { Aggregates } from '../resources/aggregates.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import type { ResourceSpec } from '../resources/spec.ts';
import type { ReplyInfo } from '../service/request-observer.ts';
import type { UpstreamOptions } from '../service/upstream-options.ts';
import type { ConnectionProbe } from '../status/advice.ts';
import type { StationStatus, UpstreamStatus } from '../status/station-status.ts';
import type { LabelMatch } from './label-matches.ts';

/** What a live check observed. */
export interface Facts {
  /** When it ended. */
  readonly nowMs: number;
  readonly upstreams: readonly UpstreamFacts[];
  /** The stations in the order of the configuration. */
  readonly stations: readonly StationFacts[];
  /** One per entry of `resource_labels`. */
  readonly labelMatches: readonly LabelMatch[];
  /** The size of one exposition of all stations. */
  readonly total: ExpositionSize;
}

/** The load is that after the check. */
export interface UpstreamFacts extends UpstreamStatus, Pick<ConnectionProbe, 'isTlsPort'> {
  readonly options: UpstreamOptions;
  readonly access: UpstreamAccess;
  readonly connection: ConnectionFacts;
  /** How far the local clock is ahead of the service's. */
  readonly clockDifferenceMs: number | undefined;
  /** The replies to requests of its stations. */
  readonly replies: readonly ReplyInfo[];
  /** The failures of its stations. */
  readonly failures: readonly FailureFacts[];
}

export interface ConnectionFacts extends Pick<ConnectionProbe, 'session'> {
  readonly dns: DnsFacts;
  /** undefined: connected. */
  readonly error: unknown;
  readonly durationMs: number;
}

/** Concerns the host connected to first: the proxy if there is one. */
interface DnsFacts {
  readonly addresses: readonly string[];
  readonly error: unknown;
  readonly durationMs: number;
}

export interface StationFacts extends ExpositionSize {
  readonly spec: ResourceSpec;
  readonly upstream: UpstreamFacts;
  readonly status: StationStatus;
  readonly durationMs: number;
  readonly result: ({ readonly ok: true } & Listed) | { readonly ok: false };
  /** undefined: `page_size` was accepted. */
  readonly reducedPageSize: number | undefined;
  /** The replies in order of arrival. */
  readonly replies: readonly ReplyInfo[];
}

export interface Listed {
  readonly snapshot: Snapshot;
  readonly aggregates: Pick<Aggregates, 'groups'>;
  /** Per-resource series withheld because of `metrics.max_resources`. */
  readonly withheld: number;
}

export interface ExpositionSize {
  readonly series: number;
  readonly plainBytes: number;
  readonly gzipBytes: number;
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
