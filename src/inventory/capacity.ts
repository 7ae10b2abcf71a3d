import type { UpstreamLoad } from '../model/upstream-load.ts';
import type { RepeatedListing } from '../refresh/snapshot.ts';
import { countText, numberText } from './words.ts';

/** What a station reads again and again; undefined: there is no snapshot. */
type StationWork = readonly RepeatedListing[] | undefined;

/** The requests per second that the stations of an upstream need, and those that it allows. */
export interface Capacity {
  readonly neededPerSecond: number;
  readonly possiblePerSecond: number;
  /** Stations left out because they have no snapshot. */
  readonly unknownStations: number;
}

/** With a ttl of 0 every scrape refreshes: Prometheus scrapes once per minute unless configured otherwise. */
const SCRAPE_INTERVAL_MS = 60_000;

/** How many requests all these listings take, while no new resources make kept ones due. */
export function requestsPerSecond(listings: readonly RepeatedListing[]): number {
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
  return {
    neededPerSecond: requestsPerSecond(known.flat()),
    possiblePerSecond: Math.min((1000 * concurrency) / typicalLatencyMs, rateLimit),
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

export function capacityText(capacity: Capacity): string {
  const { neededPerSecond, possiblePerSecond, unknownStations } = capacity;
  const share = `${rounded((100 * neededPerSecond) / possiblePerSecond)} % of the capacity`;
  const unknown = unknownStations === 0 ? '' : `, without ${countText(unknownStations, 'station')} that have no data`;
  return `Refreshing once per ttl needs ${rounded(neededPerSecond)} requests/s, and ${rounded(possiblePerSecond)} are possible: ${share}${unknown}${isExceeded(capacity) ? ', so data gets older than ttl' : ''}.`;
}

function rounded(value: number): string {
  return numberText(Number(value.toPrecision(value < 100 ? 2 : 3)));
}
