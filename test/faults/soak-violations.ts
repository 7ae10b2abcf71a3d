import type { ResourceUsage } from './soak-exporter.ts';
import type { ScrapeStats } from './soak-scrapers.ts';

export function soakViolations(usage: readonly ResourceUsage[], stats: readonly ScrapeStats[], maxSockets: number): string[] {
  const violations = stats.flatMap((group) => group.violations);
  const sum = (key: 'scrapes' | 'failing' | 'incomplete') => stats.reduce((total, group) => total + group[key], 0);
  if (stats.some(({ largestShare }) => largestShare >= 1)) violations.push('a response exceeded the scrape timeout');
  if (sum('scrapes') === 0) violations.push('no scrape was made');
  // Without faults the soak would prove nothing.
  if (sum('failing') === 0) violations.push('no station ever failed');
  if (sum('incomplete') === 0) violations.push('no listing was ever incomplete');
  const [first, last] = [usage[0], usage.at(-1)];
  if (first === undefined || last === undefined || usage.length < 2) return [...violations, 'too few measurements to compare the heap'];
  if (last.internalErrors > 0) violations.push(`${last.internalErrors} responses failed with an internal error`);
  if (last.heapBytes > 1.1 * first.heapBytes) violations.push(`the heap grew by ${percent(last.heapBytes / first.heapBytes - 1)}`);
  if (last.bufferBytes > 1.1 * first.bufferBytes) violations.push(`buffers grew by ${percent(last.bufferBytes / first.bufferBytes - 1)}`);
  for (const { sockets, timers } of usage) {
    if (sockets > maxSockets) violations.push(`${sockets} sockets are open, more than ${maxSockets}`);
    if (timers > maxSockets) violations.push(`${timers} timers are set, more than one for each of ${maxSockets} sockets`);
  }
  return violations;
}

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}
