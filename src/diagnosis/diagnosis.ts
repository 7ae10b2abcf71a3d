import { clockDifferenceMs } from './clock-difference.ts';
import { explainFailure, failureReason } from './explain-failure.ts';
import type { Explanation } from './explanation.ts';
import type { Facts, Failure, Size, StationFacts, UpstreamFacts } from './facts.ts';

/** The facts with what they mean. */
export interface Diagnosis {
  readonly upstreams: readonly DiagnosedUpstream[];
  readonly total: Size;
}

export interface DiagnosedUpstream extends UpstreamFacts {
  readonly stations: readonly DiagnosedStation[];
  /** How far our clock is ahead of the service's. */
  readonly clockMs: number | undefined;
  /** Of the connection. */
  readonly trouble: Explanation | undefined;
}

export type DiagnosedStation = StationFacts<Failure & Explanation>;

export function diagnose({ upstreams, stations, total }: Facts): Diagnosis {
  return { total, upstreams: upstreams.map((upstream) => diagnosedUpstream(upstream, stations)) };
}

function diagnosedUpstream(upstream: UpstreamFacts, all: readonly StationFacts[]): DiagnosedUpstream {
  const own = all.filter(({ spec }) => spec.upstream === upstream.options.name);
  const clockMs = clockDifferenceMs(own.flatMap(({ answers }) => answers));
  const stations = own.map((station): DiagnosedStation => {
    const { answers, result } = station;
    if ('snapshot' in result) return { ...station, result };
    return { ...station, result: { ...result, ...explainFailure({ ...result, upstream, answers, clockMs }) } };
  });
  return { ...upstream, stations, clockMs, trouble: connectionTrouble(upstream, stations) };
}

function connectionTrouble(upstream: UpstreamFacts, stations: readonly DiagnosedStation[]): Explanation | undefined {
  const { error } = upstream.connection;
  // Some troubles of TLS show only once a request is sent.
  if (error === undefined) return stations.flatMap(failuresOf).find(({ place }) => place === 'tls');
  return explainFailure({ reason: failureReason(error), error, upstream, answers: [], clockMs: undefined });
}

/** None of a station that was listed. */
export function failuresOf({ result }: DiagnosedStation): readonly (Failure & Explanation)[] {
  return 'snapshot' in result ? [] : [result];
}
