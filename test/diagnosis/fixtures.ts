import type { CheckResult, StationResult, UpstreamResult } from '../../src/diagnosis/check-result.ts';
import type { Snapshot } from '../../src/resources/snapshot.ts';
import { upstreamAccess } from '../../src/service/upstream-access.ts';
import { CLIENT_OPTIONS } from '../service/support/client.ts';
import { aggregatesOf, IDLE_LOAD, listingOf, specOf } from '../stations/fixtures.ts';
import { SNAPSHOT, STATION } from '../web/fake-station.ts';

const NOW_MS = Date.UTC(2025, 0, 1);

const OPTIONS = { ...CLIENT_OPTIONS, baseUrl: new URL('https://monitor.example.com') };

/** An https service that answers. */
export const UPSTREAM: UpstreamResult = {
  name: 'main',
  options: OPTIONS,
  access: upstreamAccess(OPTIONS),
  error: undefined,
  durationMs: 3,
  session: undefined,
  load: IDLE_LOAD,
  capacity: undefined,
};

/** Its certificate is valid for so long. */
export const sessionFor = (days: number) => ({
  protocol: 'TLSv1.3',
  issuer: 'CA',
  validToMs: NOW_MS + days * 86_400_000,
});

export const failedStation = (name: string, message = 'unavailable'): StationResult => ({
  series: 14,
  spec: specOf({ name }),
  status: {
    ...STATION,
    durationMs: 12.3,
    name,
    up: false,
    failure: { reason: 'status', message },
    hasReplied: false,
    lastSuccessMs: undefined,
    snapshot: undefined,
  },
  listed: undefined,
});

/** The station `a` with this listing. */
export const listedStation = (listing: Partial<Snapshot>, withheld = 0, name = 'a'): StationResult => {
  const snapshot = listingOf([], listing);
  return {
    ...failedStation(name),
    status: { ...STATION, name, snapshot: { ...SNAPSHOT, ...snapshot } },
    listed: { snapshot, aggregates: aggregatesOf([]), withheld },
  };
};

export const checkResultOf = (stations: readonly StationResult[], upstream = UPSTREAM): CheckResult => ({
  nowMs: NOW_MS,
  labelMatches: [],
  upstreams: [upstream],
  scrape: { plainBytes: 2048, gzipBytes: 512, families: new Map() },
  stations,
});
