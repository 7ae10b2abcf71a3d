import { clockDifferenceMs } from './clock-difference.ts';
import type { Facts, Size, StationFacts, UpstreamFacts } from './facts.ts';
import type { Trouble } from './trouble.ts';
import { failureReason, troubleOf } from './verdict.ts';

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
  readonly trouble: Trouble | undefined;
}

export interface DiagnosedStation extends StationFacts {
  /** With the words of the service, or of whatever stood in the way. */
  readonly trouble: (Trouble & { readonly said: string }) | undefined;
}

export function diagnose({ upstreams, stations, total }: Facts): Diagnosis {
  return { total, upstreams: upstreams.map((upstream) => diagnosedUpstream(upstream, stations)) };
}

function diagnosedUpstream(upstream: UpstreamFacts, all: readonly StationFacts[]): DiagnosedUpstream {
  const own = all.filter(({ spec }) => spec.upstream === upstream.options.name);
  const clockMs = clockDifferenceMs(own.flatMap(({ answers }) => answers));
  const stations = own.map((station): DiagnosedStation => {
    const { answers, health } = station;
    if (health.failure === undefined) return { ...station, trouble: undefined };
    const { reason, error, message: said } = health.failure;
    return { ...station, trouble: { ...troubleOf({ reason, error, upstream, answers, clockMs }), said } };
  });
  return { ...upstream, stations, clockMs, trouble: connectionTrouble(upstream, stations) };
}

function connectionTrouble(upstream: UpstreamFacts, stations: readonly DiagnosedStation[]): Trouble | undefined {
  const { error } = upstream.connection;
  // Some troubles of TLS show only once a request is sent.
  if (error === undefined) return stations.find(({ trouble }) => trouble?.place === 'tls')?.trouble;
  return troubleOf({ reason: failureReason(error), error, upstream, answers: [], clockMs: undefined });
}
