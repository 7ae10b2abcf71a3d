import type { Diagnosis } from './diagnosis.ts';
import type { Remark } from './remark.ts';
import { stationRemarks } from './station-remarks.ts';
import { upstreamRemarks } from './upstream-remarks.ts';

/** A remark with whom it concerns. */
export interface Finding extends Remark {
  readonly upstream: string;
  /** None: the upstream as such. */
  readonly stations: readonly string[];
}

interface Around {
  readonly nowMs: number;
  /** How long a scrape waits for a refresh when it does not say so itself. */
  readonly scrapeTimeoutMs: number;
}

/** All findings, failures first; what several stations of an upstream have in common is told once. */
export function findingsOf({ upstreams }: Diagnosis, { nowMs, scrapeTimeoutMs }: Around): readonly Finding[] {
  const all = upstreams.flatMap((upstream) => {
    const { name } = upstream.options;
    const ofUpstream = upstreamRemarks(upstream, nowMs).map((remark) => ({ ...remark, upstream: name, stations: [] }));
    const ofStations = upstream.stations.flatMap((station) =>
      stationRemarks(station, scrapeTimeoutMs).map((remark) => ({ ...remark, upstream: name, stations: [station.spec.name] })),
    );
    return [...ofUpstream, ...grouped(ofStations)];
  });
  return [...all.filter(({ severity }) => severity === 'failure'), ...all.filter(({ severity }) => severity === 'warning')];
}

function grouped(findings: readonly Finding[]): readonly Finding[] {
  const groups = new Map<string, Finding>();
  for (const finding of findings) {
    const { stations, ...rest } = finding;
    const key = JSON.stringify(rest);
    groups.set(key, { ...finding, stations: [...(groups.get(key)?.stations ?? []), ...stations] });
  }
  return [...groups.values()];
}
