import { lifetimeText } from '../diagnosis/certificate-lifetime.ts';
import type { CheckMessage } from '../diagnosis/check-messages.ts';
import { clockDifferenceText } from '../diagnosis/clock-difference.ts';
import { hasCredentials } from '../diagnosis/credential-explanation.ts';
import { type DiagnosedStation, type DiagnosedUpstream, type Diagnosis, failuresOf } from '../diagnosis/diagnosis.ts';
import type { Explanation } from '../diagnosis/explanation.ts';
import type { ExpositionSize, Failure } from '../diagnosis/facts.ts';
import { capacityText } from '../station/capacity-text.ts';
import { printable } from '../station/records.ts';
import type { Snapshot } from '../station/snapshot.ts';
import type { StationSpec } from '../station/station-spec.ts';
import { type Column, textTable } from './table.ts';

/** Further stations of a message are only counted. */
const MAX_NAMES = 10;

/** The tables of `check --live`, notes on their columns, the messages and a summary line. */
export function checkReport(diagnosis: Diagnosis, messages: readonly CheckMessage[], nowMs: number): string {
  const stations = diagnosis.upstreams.flatMap((upstream) => upstream.stations);
  if (stations.length === 0) return 'No station belongs to this shard: no request was sent.\n';
  return [
    upstreamTable(diagnosis.upstreams, nowMs),
    stationTable(diagnosis),
    notes(stations),
    ...capacityLines(diagnosis.upstreams),
    ...messages.map(messageText),
    summary(stations, messages),
  ].join('\n');
}

const UPSTREAM_COLUMNS: readonly Column[] = ['UPSTREAM', 'SERVICE', 'DNS', 'CONNECTION', 'TLS', 'CLOCK'].map((heading) => ({ heading }));

function upstreamTable(upstreams: readonly DiagnosedUpstream[], nowMs: number): string {
  const rows = upstreams.map((upstream) => [
    upstream.options.name,
    upstream.options.baseUrl.host,
    dnsCell(upstream),
    connectionCell(upstream),
    tlsCell(upstream, nowMs),
    clockCell(upstream),
  ]);
  return textTable(UPSTREAM_COLUMNS, rows);
}

function dnsCell({ options: { proxyUrl }, connection: { dns } }: DiagnosedUpstream): string {
  const resolved = dns.addresses.length === 0 ? 'not needed' : `${dns.addresses.join(', ')} in ${Math.round(dns.durationMs)} ms`;
  const result = dns.error === undefined ? resolved : 'unknown host';
  return proxyUrl === undefined ? result : `of the proxy: ${result}`;
}

function connectionCell({ connection: { error, durationMs }, explanation }: DiagnosedUpstream): string {
  if (error === undefined) return `in ${Math.round(durationMs)} ms`;
  return explanation === undefined || explanation.layer === 'tls' ? 'established' : explanation.summary;
}

function tlsCell({ options: { baseUrl, tls }, connection: { error, session }, explanation }: DiagnosedUpstream, nowMs: number): string {
  const failure = explanation?.layer === 'tls' ? [explanation.summary] : [];
  if (baseUrl.protocol === 'http:') return failure[0] ?? 'none (plain HTTP)';
  const seen = session ? [session.protocol, lifetimeText(session.validToMs, nowMs), `issued by ${session.issuer}`] : [];
  const unverified = error === undefined && tls?.insecureSkipVerify === true ? ['not verified'] : [];
  return [...failure, ...seen, ...unverified].join(', ') || '-';
}

function clockCell({ clockDifferenceMs }: DiagnosedUpstream): string {
  if (clockDifferenceMs === undefined) return '-';
  return clockDifferenceMs === 0 ? 'in sync' : `${clockDifferenceText(clockDifferenceMs)} the service's`;
}

const STATION_COLUMNS: readonly Column[] = [
  { heading: 'STATION' },
  { heading: 'UPSTREAM' },
  { heading: 'AUTHENTICATION' },
  { heading: 'PERMISSION' },
  { heading: 'FIRST PAGE', right: true },
  { heading: 'REFRESH', right: true },
  { heading: 'TOTAL', right: true },
  { heading: 'RESOURCES', right: true },
  { heading: 'LISTING' },
  { heading: 'SERIES', right: true },
  { heading: 'BYTES', right: true },
  { heading: 'GZIP', right: true },
  { heading: 'REQUESTS', right: true },
];

function stationTable({ upstreams, total }: Diagnosis): string {
  const rows = upstreams.flatMap((upstream) => upstream.stations.map((station) => stationRow(upstream, station)));
  const results = upstreams
    .flatMap(({ stations }) => stations)
    .flatMap(({ spec, result }) => ('snapshot' in result ? [{ spec, ...result }] : []));
  const resources = results.reduce((sum, { snapshot }) => sum + snapshot.size, 0);
  const cost = results.reduce((sum, { snapshot, spec }) => sumCosts(sum, requestCost(snapshot.pages, spec.cache.ttlMs)), NO_COST);
  const last = ['all', ...Array<string>(6).fill(''), `${resources}`, '', ...sizeCells(total), costText(cost)];
  return textTable(STATION_COLUMNS, [...rows, last]);
}

function stationRow(upstream: DiagnosedUpstream, station: DiagnosedStation): readonly string[] {
  const { spec, durationMs, replies, result } = station;
  const [first] = replies;
  const cells = 'snapshot' in result ? listedCells(result.snapshot, spec, upstream) : failedCells(result, station, upstream);
  return [
    spec.name,
    spec.upstream,
    cells.authentication,
    cells.permission,
    first === undefined ? '-' : `${first.receivedMs - first.sentMs} ms`,
    `${Math.round(durationMs)} ms`,
    cells.total,
    cells.resources,
    cells.listing,
    ...sizeCells(station),
    cells.requests,
  ];
}

/** The cells that depend on the result of the refresh. */
type ResultCells = Readonly<Record<'authentication' | 'permission' | 'total' | 'resources' | 'listing' | 'requests', string>>;

function listedCells({ reportedTotal, size, complete, pages }: Snapshot, { cache }: StationSpec, upstream: DiagnosedUpstream): ResultCells {
  return {
    authentication: accepted(upstream),
    permission: 'granted',
    total: `${reportedTotal ?? 'none'}`,
    resources: `${size}`,
    listing: complete ? 'complete' : 'incomplete',
    requests: costText(requestCost(pages, cache.ttlMs)),
  };
}

/** A 404 reveals nothing about authentication or permission: services also return it to accounts without access. */
function failedCells({ reason, summary }: Failure & Explanation, { replies }: DiagnosedStation, upstream: DiagnosedUpstream): ResultCells {
  const rejected = hasCredentials(upstream.options) && replies.some(({ status }) => status === 401) ? 'rejected' : 'no credentials';
  return {
    authentication: reason === 'auth' ? rejected : reason === 'forbidden' && hasCredentials(upstream.options) ? 'accepted' : 'unknown',
    permission: reason === 'forbidden' ? 'denied' : 'unknown',
    total: '-',
    resources: '-',
    listing: `failed: ${summary}`,
    requests: '-',
  };
}

function accepted({ options }: DiagnosedUpstream): string {
  return hasCredentials(options) ? 'accepted' : 'not required';
}

function sizeCells({ series, plainBytes, gzipBytes }: ExpositionSize): readonly string[] {
  return [series, plainBytes, gzipBytes].map(String);
}

const HOUR_MS = 3_600_000;

/** Requests to the service while every refresh succeeds. */
export interface RequestCost {
  readonly perHour: number;
  /** Of stations with a ttl of 0, which refresh on every scrape. */
  readonly perScrape: number;
}

export const NO_COST: RequestCost = { perHour: 0, perScrape: 0 };

/** An upper bound: refreshes of a station start at least `ttl` apart. */
export function requestCost(requestsPerRefresh: number, ttlMs: number): RequestCost {
  if (ttlMs === 0) return { perHour: 0, perScrape: requestsPerRefresh };
  return { perHour: (requestsPerRefresh * HOUR_MS) / ttlMs, perScrape: 0 };
}

export function sumCosts(a: RequestCost, b: RequestCost): RequestCost {
  return { perHour: a.perHour + b.perHour, perScrape: a.perScrape + b.perScrape };
}

export function costText({ perHour, perScrape }: RequestCost): string {
  const parts = [...(perHour > 0 ? [`${Math.ceil(perHour)}/h`] : []), ...(perScrape > 0 ? [`${perScrape}/scrape`] : [])];
  return parts.length === 0 ? '0' : parts.join(' + ');
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
  const lines = upstreams.flatMap(({ options, forecast }) => {
    const text = forecast && capacityText(forecast);
    return text === undefined || text.advice !== undefined ? [] : [`capacity: upstream ${options.name}: ${text.meaning}`];
  });
  return lines.length === 0 ? [] : [lines.map((line) => `${printable(line)}\n`).join('')];
}

function messageText({ severity, upstream, stations, meaning, reported, advice }: CheckMessage): string {
  const lines = [
    `${severity}: ${stationNames(stations)}upstream ${upstream}: ${meaning}`,
    ...(reported === undefined ? [] : [`  reported: ${reported}`]),
    `  what to do: ${advice}`,
  ];
  return lines.map((line) => `${printable(line)}\n`).join('');
}

function stationNames(stations: readonly string[]): string {
  if (stations.length === 0) return '';
  const rest = stations.length - MAX_NAMES;
  const names = [...stations.slice(0, MAX_NAMES), ...(rest > 0 ? [`and ${rest} more`] : [])].join(', ');
  return `${stations.length === 1 ? 'station' : 'stations'} ${names} of `;
}

function summary(stations: readonly DiagnosedStation[], messages: readonly CheckMessage[]): string {
  const failed = stations.flatMap(failuresOf).length;
  const warnings = messages.filter(({ severity }) => severity === 'warning').length;
  return `stations: ${stations.length}, ok: ${stations.length - failed}, failed: ${failed}, warnings: ${warnings}\n`;
}
