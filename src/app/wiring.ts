import { getHeapStatistics } from 'node:v8';
import type { Config } from '../config/schema.ts';
import type { Build } from '../exposition/own-metrics.ts';
import type { RecordLimits } from '../model/failure.ts';

/** The User-Agent header of requests to the service. */
export function userAgentOf({ version }: Pick<Build, 'version'>): string {
  return `telemetry-station-exporter/${version}`;
}

const KIB = 1024;

/** The program itself, and the young generation of the heap. */
const RESERVED_HEAP_BYTES = 96 * KIB * KIB;

/** The latest refreshes of a station take 40 KiB; the rest is for what else is kept of it, such as numbers by type and state. */
const HEAP_BYTES_PER_STATION = 96 * KIB;

/** A record takes 400 to 530 bytes of the heap, and of a station that changes completely up to three generations are in memory at once. */
const HEAP_BYTES_PER_RECORD = 1.5 * KIB;

/** Records at least, however small the heap is. */
const MIN_RECORDS = 1000;

/** `stations`: how many this process has. */
export function recordLimits(
  { limits }: Pick<Config, 'limits'>,
  stations: number,
  heapBytes = getHeapStatistics().heap_size_limit,
): RecordLimits {
  const freeBytes = heapBytes - RESERVED_HEAP_BYTES - stations * HEAP_BYTES_PER_STATION;
  const records = limits.records ?? Math.max(MIN_RECORDS, Math.floor(freeBytes / HEAP_BYTES_PER_RECORD));
  // One station must not take everything.
  return { records, records_per_station: limits.records_per_station ?? Math.ceil(records * 0.75) };
}
