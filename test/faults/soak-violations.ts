import type { ResourceUsage } from './soak-exporter.ts';
import type { ScrapeStats } from './soak-scrapers.ts';

/** Everything that a soak must not show. */
export function soakViolations(holdings: readonly ResourceUsage[], seen: readonly ScrapeStats[], mostSockets: number): string[] {
  const violations = seen.flatMap((crowd) => crowd.violations);
  const sum = (key: 'scrapes' | 'failing' | 'incomplete') => seen.reduce((total, crowd) => total + crowd[key], 0);
  if (seen.some(({ largestShare }) => largestShare >= 1))
    violations.push('an answer came after the timeout that its scraper had announced');
  if (sum('scrapes') === 0) violations.push('nobody scraped');
  // Without these the soak would have shown nothing.
  if (sum('failing') === 0) violations.push('no station ever failed');
  if (sum('incomplete') === 0) violations.push('no listing was ever incomplete');
  const [first, last] = [holdings[0], holdings.at(-1)];
  if (first === undefined || last === undefined || holdings.length < 2) return [...violations, 'there is nothing to compare the heap with'];
  if (last.bugs > 0) violations.push(`${last.bugs} answers failed by a fault of the exporter`);
  if (last.heapBytes > 1.1 * first.heapBytes) violations.push(`the heap grew by ${percent(last.heapBytes / first.heapBytes - 1)}`);
  if (last.bufferBytes > 1.1 * first.bufferBytes) violations.push(`buffers grew by ${percent(last.bufferBytes / first.bufferBytes - 1)}`);
  for (const { sockets, timers } of holdings) {
    if (sockets > mostSockets) violations.push(`${sockets} sockets are open, more than ${mostSockets}`);
    if (timers > mostSockets) violations.push(`${timers} timers are set, more than one for each of ${mostSockets} sockets`);
  }
  return violations;
}

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}
