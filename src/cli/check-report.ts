import type { CoverageVerdict } from '../diagnosis/coverage-limits.ts';
import { explainConnection, probeOf, withoutFalse } from '../diagnosis/diagnosis.ts';
import type { ExpositionSize, Facts, StationFacts, UpstreamFacts } from '../diagnosis/facts.ts';
import { pageSizeText } from '../diagnosis/page-size.ts';
import { clockDifferenceText, DAY_MS, HOUR_MS } from '../model/clock.ts';
import { repeatedListings, type Snapshot } from '../resources/snapshot.ts';
import { isoDate } from '../status/advice.ts';
import { capacityText, isExceeded } from '../status/capacity.ts';
import { explainStation, type FleetProblem } from '../status/problems.ts';
import { printable } from '../text/records.ts';
import { countText, durationText, firstOf, sizeText } from '../text/words.ts';
import { type Colour, coloured, type Screen, type TextColumn, tableOf } from './table.ts';
import { paragraph } from './wrap.ts';

/** Notes are for people: they are wrapped in a pipe too. */
const NOTE_COLUMNS = 80;

/** Further stations of a problem are only counted. */
const MAX_STATIONS = 10;

/** What to change first. */
const MAX_CHANGES = 3;

/**
 * The tables of `check --live`, notes on their columns, the problems, and what to change, in order. On a terminal they fit its width.
 * `configWarnings`: the number of those printed before the report.
 */
export function checkReport(
  facts: Facts,
  problems: readonly FleetProblem[],
  configWarnings: number,
  screen?: Screen,
): string {
  const { nowMs, upstreams, stations } = facts;
  if (stations.length === 0) return 'No station belongs to this shard: no request was sent.\n';
  const lines = (texts: readonly string[], columns = screen?.columns) => paragraphs(texts, columns);
  const capacities = [...capacityLines(upstreams), ...pageSizeLines(facts), ...labelLines(facts)];
  return withoutFalse([
    reportTable(upstreamColumns(nowMs), upstreams, screen),
    reportTable(reportColumns(screen), stationRows(facts), screen),
    lines(notes(stations), Math.min(NOTE_COLUMNS, screen?.columns ?? NOTE_COLUMNS)),
    capacities.length > 0 && lines(capacities),
    ...problems.map((problem) => withColour(lines(problemLines(problem)), severityOf(problem), screen)),
    lines([...changeLines(problems), reportSummary(stations, problems, configWarnings)]),
  ]).join('\n');
}

/** What the limits on resources without alert rules say; empty without any. */
export function verdictText({ problems, coverage }: CoverageVerdict, screen?: Screen): string {
  const failures = problems.map((problem) =>
    withColour(paragraphs([`failure: ${problem}`], screen?.columns), 'failure', screen),
  );
  const isPassed = coverage !== undefined && failures.length === 0;
  return withoutFalse([...failures, isPassed && paragraphs([coverage], screen?.columns)])
    .map((text) => `\n${text}`)
    .join('');
}

function paragraphs(texts: readonly string[], columns: number | undefined): string {
  return texts.map((text) => `${paragraph(printable(text), columns)}\n`).join('');
}

/** Names the columns for which the terminal is too narrow. */
function reportTable<Row>(
  columns: readonly TextColumn<Row>[],
  rows: readonly Row[],
  screen: Screen | undefined,
): string {
  const { lines, omitted } = tableOf(columns, rows, screen);
  const hint = `Columns not shown: ${omitted.join(', ')} (--wide shows all).`;
  return withoutFalse([...lines, omitted.length > 0 && `${paragraph(hint, screen?.columns)}\n`]).join('');
}

/** What is not known or was not measured. */
const UNKNOWN_CELL = '–';

/** The connection to an upstream. */
function upstreamColumns(nowMs: number): readonly TextColumn<UpstreamFacts>[] {
  return [
    { heading: 'UPSTREAM', cell: ({ name }) => name },
    { heading: 'SERVICE', rank: 1, cell: ({ options }) => options.baseUrl.host },
    { heading: 'DNS', rank: 5, cell: dnsCell },
    { heading: 'CONNECTION', rank: 2, cell: connectionCell },
    { heading: 'TLS', rank: 3, cell: (upstream) => tlsCell(upstream, nowMs) },
    { heading: 'CLOCK', rank: 4, cell: clockCell },
  ];
}

function dnsCell({ options: { proxyUrl }, connection: { dns } }: UpstreamFacts): string {
  const resolved =
    dns.addresses.length === 0 ? 'not needed' : `${dns.addresses.join(', ')} in ${Math.round(dns.durationMs)} ms`;
  const result = dns.error === undefined ? resolved : 'unknown host';
  return proxyUrl === undefined ? result : `of the proxy: ${result}`;
}

function connectionCell(upstream: UpstreamFacts): string | undefined {
  const { error, durationMs } = upstream.connection;
  if (error === undefined) return `in ${Math.round(durationMs)} ms`;
  const explanation = explainConnection(upstream);
  return explanation?.isTls ? 'established' : explanation?.short;
}

function tlsCell(upstream: UpstreamFacts, nowMs: number): string {
  const { options, connection } = upstream;
  const { error, session } = connection;
  const explanation = explainConnection(upstream);
  const parts = explanation?.isTls ? [explanation.short] : [];
  if (options.baseUrl.protocol === 'http:') return parts[0] ?? 'none (plain HTTP)';
  if (session !== undefined) {
    const { protocol, validToMs, issuer } = session;
    const days = Math.floor((validToMs - nowMs) / DAY_MS);
    parts.push(protocol, days >= 0 ? `${days} days left` : `expired ${isoDate(validToMs)}`, `issued by ${issuer}`);
  }
  if (error === undefined && options.tls?.insecure_skip_verify) parts.push('not verified');
  return parts.join(', ') || UNKNOWN_CELL;
}

function clockCell({ clockDifferenceMs }: UpstreamFacts): string {
  if (clockDifferenceMs === undefined) return UNKNOWN_CELL;
  return clockDifferenceMs === 0 ? 'in sync' : `${clockDifferenceText(clockDifferenceMs)} the service's`;
}

/** Cells by their headings. */
type StationCells = Readonly<Record<string, string | number>>;

/** Without a screen numbers are exact, for scripts that read the table. */
function reportColumns(screen: Screen | undefined): readonly TextColumn<StationCells>[] {
  const size = screen ? sizeText : String;
  const span = screen ? durationText : (ms: number) => `${Math.round(ms)} ms`;
  return [
    { heading: 'STATION' },
    { heading: 'UPSTREAM', rank: 12 },
    { heading: 'AUTHENTICATION', rank: 6, colour: resultColour },
    { heading: 'PERMISSION', rank: 7, colour: resultColour },
    { heading: 'FIRST PAGE', rank: 10, isNumber: true, unit: span },
    { heading: 'REFRESH', rank: 3, isNumber: true, unit: span },
    { heading: 'TOTAL', rank: 11, isNumber: true },
    { heading: 'RESOURCES', rank: 2, isNumber: true },
    { heading: 'LISTING', rank: 1, minWidth: 20, colour: resultColour },
    { heading: 'SERIES', rank: 5, isNumber: true },
    { heading: 'BYTES', rank: 8, isNumber: true, unit: size },
    { heading: 'GZIP', rank: 9, isNumber: true, unit: size },
    { heading: 'REQUESTS', rank: 4, isNumber: true },
  ].map(({ unit = String, ...column }) => ({
    ...column,
    cell: ({ [column.heading]: value }) => (typeof value === 'number' ? unit(value) : value),
  }));
}

function listingText({ complete, rejected }: Snapshot): string {
  return `${complete ? 'complete' : 'incomplete'}${rejected > 0 ? `, ${rejected} rejected` : ''}`;
}

function resultColour(cell: string): Colour | undefined {
  if (['complete', 'granted', 'accepted'].includes(cell)) return 'green';
  if (cell.startsWith('failed: ') || ['denied', 'rejected', 'no credentials'].includes(cell)) return 'red';
  return cell.includes('complete') ? 'yellow' : undefined;
}

/** The refresh of each station, and the sums of all. */
function stationRows({ stations, total }: Facts): readonly StationCells[] {
  const sizes = listedStations(stations).map(({ snapshot }) => snapshot.size);
  return [
    ...stations.map(stationRow),
    {
      STATION: 'all',
      RESOURCES: sizes.length === 0 ? UNKNOWN_CELL : totalOf(sizes),
      ...sizeCells(total),
      REQUESTS: costText(stations),
    },
  ];
}

function stationRow(station: StationFacts): StationCells {
  const { spec, durationMs, replies, result } = station;
  const [first] = replies;
  return {
    STATION: spec.name,
    UPSTREAM: spec.upstream,
    AUTHENTICATION: authenticationCell(station),
    'FIRST PAGE': first === undefined ? UNKNOWN_CELL : first.receivedMs - first.sentMs,
    REFRESH: durationMs,
    ...sizeCells(station),
    REQUESTS: costText([station]),
    ...(result.ok
      ? {
          PERMISSION: 'granted',
          TOTAL: result.snapshot.reportedTotal ?? 'none',
          RESOURCES: result.snapshot.size,
          LISTING: listingText(result.snapshot),
        }
      : {
          PERMISSION: station.status.failure?.reason === 'forbidden' ? 'denied' : 'unknown',
          TOTAL: UNKNOWN_CELL,
          RESOURCES: UNKNOWN_CELL,
          LISTING: `failed: ${explainStation(station.status, probeOf(station.upstream))?.short}`,
        }),
  };
}

/** A 404 reveals nothing about authentication or permission: services also return it to accounts without access. */
function authenticationCell({ result, status: { failure, access } }: StationFacts): string {
  if (result.ok) return access.hasCredentials ? 'accepted' : 'not required';
  if (failure?.reason === 'auth') return access.hasCredentials && failure.isAnswered ? 'rejected' : 'no credentials';
  return failure?.reason === 'forbidden' && access.hasCredentials ? 'accepted' : 'unknown';
}

function sizeCells({ series, plainBytes, gzipBytes }: ExpositionSize): StationCells {
  return { SERIES: series, BYTES: plainBytes, GZIP: gzipBytes };
}

/** The requests while every refresh succeeds and no new resources make kept listings due, at most. */
function costText(stations: readonly StationFacts[]): string {
  const listed = listedStations(stations);
  if (listed.length === 0) return UNKNOWN_CELL;
  const listings = listed.flatMap(({ spec, snapshot }) => repeatedListings(spec, snapshot));
  const perHour = totalOf(
    listings.map(({ pages, intervalMs }) => (intervalMs > 0 ? (pages * HOUR_MS) / intervalMs : 0)),
  );
  const perScrape = totalOf(listings.map(({ pages, intervalMs }) => (intervalMs > 0 ? 0 : pages)));
  return withoutFalse([perHour > 0 && `${Math.ceil(perHour)}/h`, perScrape > 0 && `${perScrape}/scrape`]).join(' + ');
}

function listedStations(stations: readonly StationFacts[]) {
  return stations.flatMap(({ spec, result }) => (result.ok ? [{ spec, snapshot: result.snapshot }] : []));
}

function totalOf(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function notes(stations: readonly StationFacts[]): readonly string[] {
  const caches = stations.map(({ spec }) => spec.cache);
  return withoutFalse([
    "SERIES, BYTES and GZIP: of /probe for a station; of /metrics, without the exporter's own metrics, for all.",
    'REQUESTS: requests of one refresh times refreshes per hour, at most; retries are not included.',
    stations.some(({ spec }) => spec.productsTtlMs + spec.alertabilityTtlMs > 0) &&
      'Listings with products_ttl or alertability_ttl count once per ttl, or per refresh if that is longer; new resources make them due earlier.',
    caches.some(({ refresh }) => refresh === 'background')
      ? 'Refreshes run in the background: a timer starts each one, up to a tenth of ttl late, with or without scrapes.'
      : 'A scrape refreshes what is older than ttl: fewer requests with a longer scrape interval, none without scrapes.',
    caches.some(({ ttlMs }) => ttlMs === 0) && 'With a ttl of 0, every scrape refreshes the station.',
    listedStations(stations).length < stations.length && 'A failed station is refreshed again after error_ttl.',
  ]);
}

/** For upstreams with enough capacity; the others have a warning. */
function capacityLines(upstreams: readonly UpstreamFacts[]): readonly string[] {
  return upstreams.flatMap(({ name, capacity }) =>
    capacity === undefined || isExceeded(capacity) ? [] : [`capacity: upstream ${name}: ${capacityText(capacity)}`],
  );
}

/** What larger pages would save. */
function pageSizeLines({ upstreams, stations }: Facts): readonly string[] {
  return upstreams.flatMap(({ name, options }) => {
    const text = pageSizeText(options.pageSize, listedStations(stations.filter(({ spec }) => spec.upstream === name)));
    return text === undefined ? [] : [`page size: upstream ${name}: ${text}`];
  });
}

/** How many resources the entries of `resource_labels` match. */
function labelLines({ labelMatches }: Facts): readonly string[] {
  return labelMatches.map(({ entry, resources }) => `${entry}: ${countText(resources, 'resource')}`);
}

type Severity = 'failure' | 'warning';

/** A station that fails has no data. */
function severityOf({ kind }: FleetProblem): Severity {
  return kind === 'failing' ? 'failure' : 'warning';
}

function problemLines(problem: FleetProblem): readonly string[] {
  const { stations, what, said, advice } = problem;
  const texts = stations.map(({ name, note }) => (note === undefined ? name : `${name} (${note})`));
  return withoutFalse([
    `${severityOf(problem)}: ${subjectOf(problem)}: ${what}`,
    stations.length > 1 && `  stations: ${firstOf(texts, MAX_STATIONS).join(', ')}`,
    said !== undefined && `  reported: ${said.join('; ')}`,
    `  what to do: ${advice}`,
  ]);
}

function subjectOf({ who, stations, upstream }: FleetProblem): string {
  return stations.length === 1 ? `station ${who} of upstream ${upstream}` : who;
}

/** The first steps, if there is more than one: the first sentence of each advice. */
function changeLines(problems: readonly FleetProblem[]): readonly string[] {
  if (problems.length < 2) return [];
  return problems.slice(0, MAX_CHANGES).map((problem, at) => {
    const [first] = problem.advice.split(/(?<=[.?!]) (?=[A-Z])/);
    return `change ${at + 1}: ${subjectOf(problem)}: ${first}`;
  });
}

function withColour(text: string, severity: Severity, screen: Screen | undefined): string {
  if (!screen?.hasColours) return text;
  return coloured(severity, severity === 'failure' ? 'red' : 'yellow') + text.slice(severity.length);
}

function reportSummary(
  stations: readonly StationFacts[],
  problems: readonly FleetProblem[],
  configWarnings: number,
): string {
  const ok = listedStations(stations).length;
  const warnings = configWarnings + problems.filter((problem) => severityOf(problem) === 'warning').length;
  return `stations: ${stations.length}, ok: ${ok}, failed: ${stations.length - ok}, warnings: ${warnings}`;
}
