import type { CheckMessage } from '../diagnosis/check-messages.ts';
import { type DiagnosedStation, type DiagnosedUpstream, type Diagnosis, failuresOf } from '../diagnosis/diagnosis.ts';
import { capacityText, isExceeded } from '../inventory/capacity.ts';
import { printable } from '../inventory/records.ts';
import { stationTable, upstreamTable } from './check-tables.ts';
import { coloured, type Screen } from './table.ts';

/** Further stations of a message are only counted. */
const MAX_NAMES = 10;

interface CheckContext {
  readonly nowMs: number;
  /** Warnings of the configuration, printed before the report. */
  readonly configWarnings: number;
}

/** The tables of `check --live`, notes on their columns, the messages and a summary line. On a terminal the tables fit its width. */
export function checkReport(
  diagnosis: Diagnosis,
  messages: readonly CheckMessage[],
  { nowMs, configWarnings }: CheckContext,
  screen?: Screen,
): string {
  const stations = diagnosis.upstreams.flatMap((upstream) => upstream.stations);
  if (stations.length === 0) return 'No station belongs to this shard: no request was sent.\n';
  return [
    upstreamTable(diagnosis.upstreams, nowMs, screen),
    stationTable(diagnosis, screen),
    notes(stations),
    ...capacityLines(diagnosis.upstreams),
    ...messages.map((message) => messageText(message, screen)),
    summary(stations, messages, configWarnings),
  ].join('\n');
}

function notes(stations: readonly DiagnosedStation[]): string {
  const caches = stations.map(({ spec }) => spec.cache);
  const lines = [
    "SERIES, BYTES and GZIP: of /probe for a station; of /metrics, without the exporter's own metrics, for all.",
    'REQUESTS: requests of one refresh times refreshes per hour, at most; retries are not included.',
    caches.some(({ refresh }) => refresh === 'background')
      ? 'Refreshes run in the background: a timer starts each one, up to a tenth of ttl late, with or without scrapes.'
      : 'A scrape refreshes what is older than ttl: fewer requests with a longer scrape interval, none without scrapes.',
  ];
  if (caches.some(({ ttlMs }) => ttlMs === 0)) lines.push('With a ttl of 0, every scrape refreshes the station.');
  if (stations.flatMap(failuresOf).length > 0) lines.push('A failed station is refreshed again after error_ttl.');
  return `${lines.join('\n')}\n`;
}

/** Of upstreams whose capacity suffices; the others have a warning. */
function capacityLines(upstreams: readonly DiagnosedUpstream[]): readonly string[] {
  const lines = upstreams.flatMap(({ options, capacity }) =>
    capacity === undefined || isExceeded(capacity)
      ? []
      : [`capacity: upstream ${options.name}: ${capacityText(capacity)}`],
  );
  return lines.length === 0 ? [] : [lines.map((line) => `${printable(line)}\n`).join('')];
}

function messageText(
  { severity, upstream, stations, meaning, reported, advice }: CheckMessage,
  screen: Screen | undefined,
): string {
  const colour = severity === 'failure' ? 'red' : 'yellow';
  const lines = [
    `: ${stationNames(stations)}upstream ${upstream}: ${meaning}`,
    ...(reported === undefined ? [] : [`  reported: ${reported}`]),
    `  what to do: ${advice}`,
  ];
  return `${screen?.hasColours ? coloured(severity, colour) : severity}${lines.map((line) => `${printable(line)}\n`).join('')}`;
}

function stationNames(stations: readonly string[]): string {
  if (stations.length === 0) return '';
  const rest = stations.length - MAX_NAMES;
  const names = [...stations.slice(0, MAX_NAMES), ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ');
  return `${stations.length === 1 ? 'station' : 'stations'} ${names} of `;
}

function summary(
  stations: readonly DiagnosedStation[],
  messages: readonly CheckMessage[],
  configWarnings: number,
): string {
  const failed = stations.flatMap(failuresOf).length;
  const warnings = configWarnings + messages.filter(({ severity }) => severity === 'warning').length;
  return `stations: ${stations.length}, ok: ${stations.length - failed}, failed: ${failed}, warnings: ${warnings}\n`;
}
