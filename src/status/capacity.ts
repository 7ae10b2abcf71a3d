import type { PagesPerInterval } from '../model/listing.ts';
import type { UpstreamLoad } from '../model/upstream-load.ts';
import { countText, durationText, numberText } from '../text/words.ts';

/** What a station reads again and again; undefined: there is no snapshot. */
type StationWork = readonly PagesPerInterval[] | undefined;

/** The requests per second that the stations of an upstream need, and those that it allows. */
export interface Capacity {
  readonly neededPerSecond: number;
  readonly possiblePerSecond: number;
  /** How long it takes to read all listings once. */
  readonly roundMs: number;
  /** Stations left out because they have no snapshot. */
  readonly unknownStations: number;
}

/** With a ttl of 0 every scrape refreshes: Prometheus scrapes once per minute unless configured otherwise. */
const SCRAPE_INTERVAL_MS = 60_000;

/** How many requests all these listings take, while no new resources make kept ones due. */
function requestsPerSecond(listings: readonly PagesPerInterval[]): number {
  return listings.reduce((sum, { pages, intervalMs }) => sum + (1000 * pages) / (intervalMs || SCRAPE_INTERVAL_MS), 0);
}

/** undefined: too little is known. */
export function capacityOf(
  stations: readonly StationWork[],
  concurrency: number,
  { typicalLatencyMs, requestsPerSecond: rateLimit }: Pick<UpstreamLoad, 'typicalLatencyMs' | 'requestsPerSecond'>,
): Capacity | undefined {
  const known = stations.filter((listings) => listings !== undefined);
  if (known.length === 0 || typicalLatencyMs === undefined) return undefined;
  const possiblePerSecond = Math.min((1000 * concurrency) / typicalLatencyMs, rateLimit);
  const pages = known.flat().reduce((sum, listing) => sum + listing.pages, 0);
  return {
    neededPerSecond: requestsPerSecond(known.flat()),
    possiblePerSecond,
    roundMs: (1000 * pages) / possiblePerSecond,
    unknownStations: stations.length - known.length,
  };
}

/** Rounding errors are not an overload. */
export function isExceeded({ neededPerSecond, possiblePerSecond }: Capacity): boolean {
  return neededPerSecond > 1.000001 * possiblePerSecond;
}

/** What to do about an exceeded capacity. */
export const CAPACITY_GUIDE =
  'https://github.com/telemetry-station-exporter/telemetry-station-exporter/blob/main/docs/operating.md#overload';

const SUBJECTS = {
  service: (possible: string) => `The service accepts ${possible}`,
  upstream: (possible: string) => `${possible} are possible`,
  /** The service accepts fewer than the connections make possible; how many is unknown. */
  unlimited: (possible: string) => `Its limit is below ${possible}`,
};

/** `who`: who limits the requests. */
export function capacityText(capacity: Capacity, who: keyof typeof SUBJECTS = 'upstream'): string {
  const { neededPerSecond, possiblePerSecond, roundMs, unknownStations } = capacity;
  const subject = SUBJECTS[who](`${rounded(possiblePerSecond)} requests/s`);
  const age = isExceeded(capacity) ? `: data gets up to ${durationText(roundMs)} old` : '';
  const unknown = unknownStations === 0 ? '' : ` (${countText(unknownStations, 'station')} without data not counted)`;
  return `${subject}, ${rounded(neededPerSecond)} are needed${age}${unknown}`;
}

function rounded(value: number): string {
  return numberText(Number(value.toPrecision(value < 100 ? 2 : 3)));
}
