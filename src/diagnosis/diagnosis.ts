import { clockDifferenceMs } from './clock-difference.ts';
import { type Explanation, explainFailure, failureReason } from './explain-failure.ts';
import type { ExpositionSize, Facts, Failure, StationFacts, UpstreamFacts } from './facts.ts';

/** The facts of a live check, with an explanation of each failure. */
export interface Diagnosis {
  readonly upstreams: readonly DiagnosedUpstream[];
  readonly total: ExpositionSize;
}

export interface DiagnosedUpstream extends UpstreamFacts {
  readonly stations: readonly DiagnosedStation[];
  /** How far the local clock is ahead of the service's. */
  readonly clockDifferenceMs: number | undefined;
  /** Why the connection failed; undefined when it did not. */
  readonly explanation: Explanation | undefined;
}

export type DiagnosedStation = StationFacts<Failure & Explanation>;

export function diagnose({ upstreams, stations, total }: Facts): Diagnosis {
  return { total, upstreams: upstreams.map((upstream) => diagnoseUpstream(upstream, stations)) };
}

/** Empty for a station that was listed. */
export function failuresOf({ result }: DiagnosedStation): readonly (Failure & Explanation)[] {
  return 'snapshot' in result ? [] : [result];
}

function diagnoseUpstream(upstream: UpstreamFacts, allStations: readonly StationFacts[]): DiagnosedUpstream {
  const own = allStations.filter(({ spec }) => spec.upstream === upstream.options.name);
  const differenceMs = clockDifferenceMs(own.flatMap(({ replies }) => replies));
  const stations = own.map((station): DiagnosedStation => {
    const { replies, result } = station;
    if ('snapshot' in result) return { ...station, result };
    const explanation = explainFailure({ ...result, upstream, replies, clockDifferenceMs: differenceMs });
    return { ...station, result: { ...result, ...explanation } };
  });
  return { ...upstream, stations, clockDifferenceMs: differenceMs, explanation: explainConnection(upstream, stations) };
}

function explainConnection(upstream: UpstreamFacts, stations: readonly DiagnosedStation[]): Explanation | undefined {
  const { error } = upstream.connection;
  // With TLS 1.3 some failures appear only after the first request.
  if (error === undefined) return stations.flatMap(failuresOf).find(({ layer }) => layer === 'tls');
  return explainFailure({ reason: failureReason(error), error, upstream, replies: [], clockDifferenceMs: undefined });
}
