import type { ResourceUsage } from './soak-exporter.ts';
import type { ScrapeStats } from './soak-scrapers.ts';

/** Stations fail with `timeout` because of requests that hang; throttling must not add many to these. */
const MAX_TIMEOUT_SHARE = 0.2;

/** The client keeps a buffer for each request that was ever in flight at once, of twice the size of a page at most. */
const POOLED_BUFFER_BYTES = 256 * 1024;

export function soakViolations(
  usage: readonly ResourceUsage[],
  stats: readonly ScrapeStats[],
  { maxRequests, maxSockets }: { readonly maxRequests: number; readonly maxSockets: number },
): string[] {
  const violations = stats.flatMap((group) => group.violations);
  const sum = (key: 'scrapes' | 'published' | 'failing' | 'incomplete') =>
    stats.reduce((total, group) => total + group[key], 0);
  const failures = (reason: string) => stats.reduce((total, { reasons }) => total + (reasons[reason] ?? 0), 0);
  if (stats.some(({ largestShare }) => largestShare >= 1)) violations.push('a response exceeded the scrape timeout');
  if (sum('scrapes') === 0) violations.push('no scrape was made');
  // Without faults the soak would prove nothing.
  if (sum('failing') === 0) violations.push('no station ever failed');
  if (sum('incomplete') === 0) violations.push('no listing was ever incomplete');
  if (failures('timeout') > MAX_TIMEOUT_SHARE * sum('published'))
    violations.push(`${failures('timeout')} stations failed with a timeout`);
  const [first, last] = [usage[0], usage.at(-1)];
  if (first === undefined || last === undefined || usage.length < 2)
    return [...violations, 'too few measurements to compare the heap'];
  if (last.internalErrors > 0) violations.push(`${last.internalErrors} responses failed with an internal error`);
  if (last.throttledOutages > 0)
    violations.push(`${last.throttledOutages} stations failed because of 0.2 % of 429 replies`);
  if (last.heapBytes > 1.1 * first.heapBytes)
    violations.push(`the heap grew by ${percent(last.heapBytes / first.heapBytes - 1)}`);
  // Not every slot of every upstream may have been in use before the first measurement.
  const pooledBytes = maxRequests * POOLED_BUFFER_BYTES;
  if (last.bufferBytes > 1.1 * first.bufferBytes + pooledBytes)
    violations.push(`buffers grew by ${percent(last.bufferBytes / first.bufferBytes - 1)}`);
  for (const { sockets, timers } of usage) {
    if (sockets > maxSockets) violations.push(`${sockets} sockets are open, more than ${maxSockets}`);
    if (timers > maxSockets)
      violations.push(`${timers} timers are set, more than one for each of ${maxSockets} sockets`);
  }
  return violations;
}

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}
