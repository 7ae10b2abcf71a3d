import { lifetimeText } from '../diagnosis/certificate-lifetime.ts';
import { clockDifferenceText } from '../diagnosis/clock-difference.ts';
import { hasCredentials } from '../diagnosis/credential-explanation.ts';
import type { DiagnosedStation, DiagnosedUpstream, Diagnosis } from '../diagnosis/diagnosis.ts';
import type { Explanation } from '../diagnosis/explanation.ts';
import type { ExpositionSize, Failure } from '../diagnosis/facts.ts';
import type { StationSpec } from '../model/station-spec.ts';
import type { Snapshot } from '../refresh/snapshot.ts';
import { sizeText, spanText } from './human-units.ts';
import { type Colour, type Column, type Screen, tableOf } from './table.ts';

const UPSTREAM_COLUMNS: readonly Column[] = [
  { heading: 'UPSTREAM', minWidth: 12 },
  { heading: 'SERVICE', rank: 1, minWidth: 21, keepEnd: true },
  { heading: 'DNS', rank: 5, minWidth: 12 },
  { heading: 'CONNECTION', rank: 2, minWidth: 12 },
  { heading: 'TLS', rank: 3, minWidth: 18 },
  { heading: 'CLOCK', rank: 4, minWidth: 8 },
];

/** The connection to each upstream. */
export function upstreamTable(
  upstreams: readonly DiagnosedUpstream[],
  nowMs: number,
  screen: Screen | undefined,
): string {
  const rows = upstreams.map((upstream) => [
    upstream.options.name,
    upstream.options.baseUrl.host,
    dnsCell(upstream),
    connectionCell(upstream),
    tlsCell(upstream, nowMs),
    clockCell(upstream),
  ]);
  return fittedTable(UPSTREAM_COLUMNS, rows, screen);
}

function dnsCell({ options: { proxyUrl }, connection: { dns } }: DiagnosedUpstream): string {
  const resolved =
    dns.addresses.length === 0 ? 'not needed' : `${dns.addresses.join(', ')} in ${Math.round(dns.durationMs)} ms`;
  const result = dns.error === undefined ? resolved : 'unknown host';
  return proxyUrl === undefined ? result : `of the proxy: ${result}`;
}

function connectionCell({ connection: { error, durationMs }, explanation }: DiagnosedUpstream): string {
  if (error === undefined) return `in ${Math.round(durationMs)} ms`;
  return explanation === undefined || explanation.layer === 'tls' ? 'established' : explanation.summary;
}

function tlsCell(
  { options: { baseUrl, tls }, connection: { error, session }, explanation }: DiagnosedUpstream,
  nowMs: number,
): string {
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
  { heading: 'STATION', minWidth: 16, keepEnd: true },
  { heading: 'UPSTREAM', rank: 12, minWidth: 12 },
  { heading: 'AUTHENTICATION', rank: 5, colour: resultColour },
  { heading: 'PERMISSION', rank: 6, colour: resultColour },
  { heading: 'FIRST PAGE', rank: 10, right: true },
  { heading: 'REFRESH', rank: 3, right: true },
  { heading: 'TOTAL', rank: 11, right: true },
  { heading: 'RESOURCES', rank: 2, right: true },
  { heading: 'LISTING', rank: 1, minWidth: 20, colour: resultColour },
  { heading: 'SERIES', rank: 4, right: true },
  { heading: 'BYTES', rank: 8, right: true },
  { heading: 'GZIP', rank: 9, right: true },
  { heading: 'REQUESTS', rank: 7, right: true },
];

const RESULT_COLOURS: readonly (readonly [RegExp, Colour])[] = [
  [/^(?:complete|granted|accepted)$/, 'green'],
  [/^incomplete$/, 'yellow'],
  [/^(?:failed: .*|denied|rejected|no credentials)$/s, 'red'],
];

function resultColour(cell: string): Colour | undefined {
  return RESULT_COLOURS.find(([pattern]) => pattern.test(cell))?.[1];
}

/** The refresh of each station, and the sums of all. */
export function stationTable({ upstreams, total }: Diagnosis, screen: Screen | undefined): string {
  const units = screen ? HUMAN_UNITS : EXACT_UNITS;
  const rows = upstreams.flatMap((upstream) =>
    upstream.stations.map((station) => stationRow(upstream, station, units)),
  );
  const results = upstreams
    .flatMap(({ stations }) => stations)
    .flatMap(({ spec, result }) => ('snapshot' in result ? [{ spec, ...result }] : []));
  const resources = results.reduce((sum, { snapshot }) => sum + snapshot.size, 0);
  const cost = results.reduce(
    (sum, { snapshot, spec }) => sumCosts(sum, requestCost(snapshot.pages, spec.cache.ttlMs)),
    NO_COST,
  );
  const last = ['all', ...Array<string>(6).fill(''), `${resources}`, '', ...sizeCells(total, units), costText(cost)];
  return fittedTable(STATION_COLUMNS, [...rows, last], screen);
}

interface Units {
  readonly size: (bytes: number) => string;
  readonly span: (ms: number) => string;
}

const HUMAN_UNITS: Units = { size: sizeText, span: spanText };

/** For scripts that read the table. */
const EXACT_UNITS: Units = { size: String, span: (ms) => `${Math.round(ms)} ms` };

function stationRow(upstream: DiagnosedUpstream, station: DiagnosedStation, units: Units): readonly string[] {
  const { spec, durationMs, replies, result } = station;
  const [first] = replies;
  const cells =
    'snapshot' in result ? listedCells(result.snapshot, spec, upstream) : failedCells(result, station, upstream);
  return [
    spec.name,
    spec.upstream,
    cells.authentication,
    cells.permission,
    first === undefined ? '-' : units.span(first.receivedMs - first.sentMs),
    units.span(durationMs),
    cells.total,
    cells.resources,
    cells.listing,
    ...sizeCells(station, units),
    cells.requests,
  ];
}

/** The cells that depend on the result of the refresh. */
type ResultCells = Readonly<
  Record<'authentication' | 'permission' | 'total' | 'resources' | 'listing' | 'requests', string>
>;

function listedCells(
  { reportedTotal, size, complete, pages }: Snapshot,
  { cache }: StationSpec,
  upstream: DiagnosedUpstream,
): ResultCells {
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
function failedCells(
  { reason, summary }: Failure & Explanation,
  { replies }: DiagnosedStation,
  upstream: DiagnosedUpstream,
): ResultCells {
  const rejected =
    hasCredentials(upstream.options) && replies.some(({ status }) => status === 401) ? 'rejected' : 'no credentials';
  return {
    authentication:
      reason === 'auth'
        ? rejected
        : reason === 'forbidden' && hasCredentials(upstream.options)
          ? 'accepted'
          : 'unknown',
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

function sizeCells({ series, plainBytes, gzipBytes }: ExpositionSize, { size }: Units): readonly string[] {
  return [String(series), size(plainBytes), size(gzipBytes)];
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
  const parts = [
    ...(perHour > 0 ? [`${Math.ceil(perHour)}/h`] : []),
    ...(perScrape > 0 ? [`${perScrape}/scrape`] : []),
  ];
  return parts.length === 0 ? '0' : parts.join(' + ');
}

/** Names the columns for which the terminal is too narrow. */
function fittedTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  screen: Screen | undefined,
): string {
  const { lines, omitted } = tableOf(columns, rows, screen);
  const hint = omitted.length === 0 ? '' : `Columns not shown: ${omitted.join(', ')} (--wide shows all).\n`;
  return [...lines, hint].join('');
}
