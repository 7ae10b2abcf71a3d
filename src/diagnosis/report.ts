import { printable } from '../cli/table.ts';
import { type DiagnosedStation, type Diagnosis, troublesOf } from './diagnosis.ts';
import type { Finding } from './findings.ts';
import { stationTable } from './station-table.ts';
import { upstreamTable } from './upstream-table.ts';

/** The names of so many stations tell enough. */
const MAX_NAMES = 10;

/** A diagnosis as operators read it: tables, what their figures mean, each finding in words, and the result in one line. */
export function reportText(diagnosis: Diagnosis, findings: readonly Finding[], nowMs: number): string {
  const stations = diagnosis.upstreams.flatMap((upstream) => upstream.stations);
  if (stations.length === 0) return 'No station belongs to this shard: nothing was asked.\n';
  return [
    upstreamTable(diagnosis.upstreams, nowMs),
    stationTable(diagnosis),
    notes(stations),
    ...findings.map(findingText),
    conclusion(stations, findings),
  ].join('\n');
}

function notes(stations: readonly DiagnosedStation[]): string {
  const caches = stations.map(({ spec }) => spec.cache);
  const lines = [
    'SERIES, BYTES and GZIP of a station are those of its /probe; those of all are the ones of /metrics, to which the metrics of the exporter itself are added.',
    'REQUESTS is what one refresh took, times the refreshes of an hour: the most that it comes to while all is well. Retries come on top.',
  ];
  if (caches.some(({ refresh }) => refresh === 'background')) {
    lines.push('A timer asks for each refresh, up to a tenth of ttl later than it could, whether anyone scrapes or not.');
  } else {
    lines.push(
      'A scrape asks for what is older than ttl: with a longer scrape interval it is less, and while nobody scrapes it is nothing.',
    );
  }
  if (caches.some(({ ttlMs }) => ttlMs === 0))
    lines.push('With a ttl of 0 every scrape asks: how many an hour depends on those who scrape.');
  if (stations.flatMap(troublesOf).length > 0) {
    lines.push('A station that fails costs something else: it is asked again error_ttl after each failure.');
  }
  return `${lines.join('\n')}\n`;
}

function findingText({ severity, upstream, stations, what, said, advice }: Finding): string {
  const lines = [
    `${severity}: ${concerned(stations)}upstream ${upstream}: ${what}`,
    ...(said === undefined ? [] : [`  reported: ${said}`]),
    `  what to do: ${advice}`,
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}

function concerned(stations: readonly string[]): string {
  if (stations.length === 0) return '';
  const rest = stations.length - MAX_NAMES;
  const names = [...stations.slice(0, MAX_NAMES), ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ');
  return `${stations.length === 1 ? 'station' : 'stations'} ${names} of `;
}

function conclusion(stations: readonly DiagnosedStation[], findings: readonly Finding[]): string {
  const failed = stations.flatMap(troublesOf).length;
  const warnings = findings.filter(({ severity }) => severity === 'warning').length;
  return `stations: ${stations.length}, well: ${stations.length - failed}, failed: ${failed}, warnings: ${warnings}\n`;
}
