import { type Column, printable, textTable } from '../cli/table.ts';
import type { Snapshot } from '../station/snapshot.ts';
import type { StationSpec } from '../station/station-spec.ts';
import { clockWords } from './clock-difference.ts';
import { type DiagnosedStation, type DiagnosedUpstream, type Diagnosis, failuresOf } from './diagnosis.ts';
import type { Explanation } from './explanation.ts';
import type { Failure, Size } from './facts.ts';
import { lifeText } from './tls-explanation.ts';
import type { PlacedWarning } from './warnings.ts';

/** The names of so many stations tell enough. */
const MAX_NAMES = 10;

/** A diagnosis as operators read it: tables, what their figures mean, each finding in words, and the result in one line. */
export function reportText(diagnosis: Diagnosis, findings: readonly PlacedWarning[], nowMs: number): string {
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
  if (stations.flatMap(failuresOf).length > 0) {
    lines.push('A station that fails costs something else: it is asked again error_ttl after each failure.');
  }
  return `${lines.join('\n')}\n`;
}

function findingText({ severity, upstream, stations, what, said, advice }: PlacedWarning): string {
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

function conclusion(stations: readonly DiagnosedStation[], findings: readonly PlacedWarning[]): string {
  const failed = stations.flatMap(failuresOf).length;
  const warnings = findings.filter(({ severity }) => severity === 'warning').length;
  return `stations: ${stations.length}, well: ${stations.length - failed}, failed: ${failed}, warnings: ${warnings}\n`;
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

/** What each station gives and costs, and all together. */
function stationTable({ upstreams, total }: Diagnosis): string {
  const rows = upstreams.flatMap((upstream) => upstream.stations.map((station) => stationRow(upstream, station)));
  const results = upstreams
    .flatMap(({ stations }) => stations)
    .flatMap(({ spec, result }) => ('snapshot' in result ? [{ spec, ...result }] : []));
  const resources = results.reduce((sum, { snapshot }) => sum + snapshot.size, 0);
  const cost = results.reduce((sum, { snapshot, spec }) => addedCost(sum, requestCost(snapshot.pages, spec.cache.ttlMs)), NO_COST);
  const last = ['all', ...Array<string>(6).fill(''), `${resources}`, '', ...sizeCells(total), costText(cost)];
  return textTable(STATION_COLUMNS, [...rows, last]);
}

function stationRow(upstream: DiagnosedUpstream, station: DiagnosedStation): readonly string[] {
  const { spec, durationMs, answers, result } = station;
  const [first] = answers;
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

/** The cells that depend on how it went. */
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

/** What a refresh would have cost is not known; and a service may hide behind a 404 what one is not allowed to see. */
function failedCells({ reason, short }: Failure & Explanation, { answers }: DiagnosedStation, upstream: DiagnosedUpstream): ResultCells {
  const refused = answers.some(({ status }) => status === 401) ? 'refused' : 'not available';
  return {
    authentication: reason === 'auth' ? refused : reason === 'forbidden' ? accepted(upstream) : 'unknown',
    permission: reason === 'forbidden' ? 'denied' : 'unknown',
    total: '-',
    resources: '-',
    listing: `failed: ${short}`,
    requests: '-',
  };
}

function accepted({ options: { auth, headers } }: DiagnosedUpstream): string {
  return auth === undefined && headers.length === 0 ? 'none needed' : 'accepted';
}

function sizeCells({ series, plainBytes, gzipBytes }: Size): readonly string[] {
  return [series, plainBytes, gzipBytes].map(String);
}

const UPSTREAM_COLUMNS: readonly Column[] = ['UPSTREAM', 'SERVICE', 'DNS', 'CONNECTION', 'TLS', 'CLOCK'].map((heading) => ({ heading }));

/** What belongs to the connections. */
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

function dnsCell({ options: { proxyUrl }, connection: { name } }: DiagnosedUpstream): string {
  const found = name.addresses.length === 0 ? 'no name to resolve' : `${name.addresses.join(', ')} in ${Math.round(name.ms)} ms`;
  const told = name.error === undefined ? found : 'unknown name';
  return proxyUrl === undefined ? told : `behind a proxy (${told})`;
}

function connectionCell({ connection: { error, ms }, trouble }: DiagnosedUpstream): string {
  if (error === undefined) return `in ${Math.round(ms)} ms`;
  return trouble === undefined || trouble.place === 'tls' ? 'made' : trouble.short;
}

function tlsCell({ options: { baseUrl, tls }, connection: { error, session }, trouble }: DiagnosedUpstream, nowMs: number): string {
  const wrong = trouble?.place === 'tls' ? [trouble.short] : [];
  if (baseUrl.protocol === 'http:') return wrong[0] ?? 'none, plain HTTP';
  const seen = session ? [session.protocol, lifeText(session.validToMs, nowMs), `issued by ${session.issuer}`] : [];
  const unverified = error === undefined && tls?.insecureSkipVerify === true ? ['not verified'] : [];
  return [...wrong, ...seen, ...unverified].join(', ') || '-';
}

function clockCell({ clockMs }: DiagnosedUpstream): string {
  if (clockMs === undefined) return '-';
  return clockMs === 0 ? 'in step' : `${clockWords(clockMs)} the service's`;
}

const HOUR_MS = 3_600_000;

/** What refreshes cost the service: bounded by the hour, or only by how often someone scrapes. */
export interface RequestCost {
  readonly perHour: number;
  readonly perScrape: number;
}

export const NO_COST: RequestCost = { perHour: 0, perScrape: 0 };

/** At most: a refresh begins no sooner than `ttl` after the one before, whoever asks for it. */
export function requestCost(requestsPerRefresh: number, ttlMs: number): RequestCost {
  if (ttlMs === 0) return { perHour: 0, perScrape: requestsPerRefresh };
  return { perHour: (requestsPerRefresh * HOUR_MS) / ttlMs, perScrape: 0 };
}

export function addedCost(a: RequestCost, b: RequestCost): RequestCost {
  return { perHour: a.perHour + b.perHour, perScrape: a.perScrape + b.perScrape };
}

export function costText({ perHour, perScrape }: RequestCost): string {
  const parts = [...(perHour > 0 ? [`${Math.ceil(perHour)}/h`] : []), ...(perScrape > 0 ? [`${perScrape}/scrape`] : [])];
  return parts.length === 0 ? '0' : parts.join(' + ');
}
