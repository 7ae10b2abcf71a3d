import type { Facts, StationFacts, UpstreamFacts } from '../../src/diagnosis/facts.ts';
import { ListingFailure } from '../../src/model/failure.ts';
import type { Snapshot } from '../../src/resources/snapshot.ts';
import { CLIENT_OPTIONS } from '../service/support/client.ts';
import { IDLE_LOAD, listingOf, specOf } from '../stations/fixtures.ts';

const NOW_MS = Date.UTC(2025, 0, 1);

const SIZE = { series: 14, plainBytes: 1600, gzipBytes: 700 };

/** An https service that answers. */
export const UPSTREAM: UpstreamFacts = {
  name: 'main',
  options: { ...CLIENT_OPTIONS, baseUrl: new URL('https://monitor.example.com') },
  connection: {
    dns: { addresses: ['192.0.2.1', '192.0.2.2'], error: undefined, durationMs: 1.6 },
    error: undefined,
    durationMs: 3,
    session: undefined,
  },
  speaksTls: false,
  load: IDLE_LOAD,
  capacity: undefined,
  clockDifferenceMs: undefined,
  replies: [],
  failures: [],
};

/** Its certificate is valid for so long. */
export const sessionFor = (days: number) => ({
  protocol: 'TLSv1.3',
  issuer: 'CA',
  names: [],
  validToMs: NOW_MS + days * 86_400_000,
});

export const failedStation = (name: string, message = 'unavailable'): StationFacts => ({
  ...SIZE,
  spec: specOf({ name }),
  upstream: UPSTREAM,
  durationMs: 12.3,
  result: { ok: false, reason: 'status', message, error: new ListingFailure('status', message), replies: [] },
  reducedPageSize: undefined,
  replies: [],
});

/** The station `a` with this listing. */
export const listedStation = (listing: Partial<Snapshot>, withheld = 0): StationFacts => ({
  ...failedStation('a'),
  result: { ok: true, snapshot: listingOf([], listing), aggregates: { groups: [] }, withheld },
});

export const factsOf = (stations: readonly StationFacts[], upstream = UPSTREAM): Facts => ({
  nowMs: NOW_MS,
  total: SIZE,
  upstreams: [upstream],
  stations,
});
