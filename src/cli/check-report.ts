import type { CheckResult, StationResult, UpstreamResult } from '../diagnosis/check-result.ts';
import type { CoverageVerdict } from '../diagnosis/coverage-limits.ts';
import { DAY_MS, HOUR_MS } from '../model/clock.ts';
import { failureOf } from '../model/failure.ts';
import { explain, isoDate, pageLimitText } from '../problems/advice.ts';
import type { FleetProblem } from '../problems/problem.ts';
import { explainStation } from '../problems/station-problems.ts';
import type { Snapshot } from '../resources/snapshot.ts';
import { capacityText, isExceeded } from '../status/capacity.ts';
import { scrapeSizeText } from '../status/scrape-size.ts';
import { printable } from '../text/records.ts';
import { countText, durationText, firstOf } from '../text/words.ts';
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
  result: CheckResult,
  problems: readonly FleetProblem[],
  configWarnings: number,
  screen?: Screen,
): string {
  const { nowMs, upstreams, stations } = result;
  if (stations.length === 0) return 'No station belongs to this shard: no request was sent.\n';
  const lines = (texts: readonly string[], columns = screen?.columns) => paragraphs(texts, columns);
  const capacities = [
    ...scrapeLines(result),
    ...capacityLines(upstreams),
    ...pageLimitLines(result),
    ...reducedPageLines(result),
    ...labelLines(result),
  ];
  return [
    reportTable(upstreamColumns(nowMs), upstreams, screen),
    reportTable(reportColumns(screen), stationRows(stations), screen),
    lines(notes(stations), Math.min(NOTE_COLUMNS, screen?.columns ?? NOTE_COLUMNS)),
    capacities.length > 0 && lines(capacities),
    ...problems.map((problem) => withColour(lines(problemLines(problem)), severityOf(problem), screen)),
    lines([...changeLines(problems), reportSummary(stations, problems, configWarnings)]),
  ]
    .filter((text) => text !== false)
    .join('\n');
}

/** What the limits on resources without alert rules say; empty without any. */
export function verdictText({ problems, coverage }: CoverageVerdict, screen?: Screen): string {
  const failures = problems.map((problem) =>
    withColour(paragraphs([`failure: ${problem}`], screen?.columns), 'failure', screen),
  );
  const passed = coverage === undefined ? [] : [paragraphs([coverage], screen?.columns)];
  return (failures.length > 0 ? failures : passed).map((text) => `\n${text}`).join('');
}

export function paragraphs(texts: readonly string[], columns: number | undefined): string {
  return texts.map((text) => `${paragraph(printable(text), columns)}\n`).join('');
}

/** Names the columns for which the terminal is too narrow. */
export function reportTable<Row>(
  columns: readonly TextColumn<Row>[],
  rows: readonly Row[],
  screen: Screen | undefined,
): string {
  const { lines, omitted } = tableOf(columns, rows, screen);
  const hint = `Columns not shown: ${omitted.join(', ')} (--wide shows all).`;
  return [...lines, omitted.length > 0 ? `${paragraph(hint, screen?.columns)}\n` : ''].join('');
}

/** What is not known or was not measured. */
const UNKNOWN_CELL = '–';

/** The connection to an upstream. */
function upstreamColumns(nowMs: number): readonly TextColumn<UpstreamResult>[] {
  return [
    { heading: 'UPSTREAM', cell: ({ name }) => name },
    { heading: 'SERVICE', rank: 1, cell: ({ options }) => options.baseUrl.host },
    { heading: 'CONNECTION', rank: 2, cell: (upstream) => connectionCell(upstream, nowMs) },
  ];
}

function connectionCell({ options, access, error, session, durationMs }: UpstreamResult, nowMs: number): string {
  const { baseUrl, tls } = options;
  const parts = [
    error === undefined
      ? `in ${Math.round(durationMs)} ms`
      : explain(failureOf(error), { access, silence: 'service' }).short,
  ];
  if (error === undefined && baseUrl.protocol === 'http:') parts.push('plain HTTP');
  if (session !== undefined) {
    const { protocol, validToMs, issuer } = session;
    const days = Math.floor((validToMs - nowMs) / DAY_MS);
    parts.push(protocol, days >= 0 ? `${days} days left` : `expired ${isoDate(validToMs)}`, `issued by ${issuer}`);
  }
  if (error === undefined && tls?.insecure_skip_verify) parts.push('not verified');
  return parts.join(', ');
}

/** Cells by their headings. */
type StationCells = Readonly<Record<string, string | number>>;

/** Without a screen numbers are exact, for scripts that read the table. */
function reportColumns(screen: Screen | undefined): readonly TextColumn<StationCells>[] {
  const span = screen ? durationText : (ms: number) => `${Math.round(ms)} ms`;
  return [
    { heading: 'STATION' },
    { heading: 'UPSTREAM', rank: 7 },
    { heading: 'REFRESH', rank: 3, isNumber: true, unit: span },
    { heading: 'TOTAL', rank: 6, isNumber: true },
    { heading: 'RESOURCES', rank: 2, isNumber: true },
    { heading: 'LISTING', rank: 1, minWidth: 20, colour: resultColour },
    { heading: 'SERIES', rank: 5, isNumber: true },
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
  if (cell === 'complete') return 'green';
  if (cell.startsWith('failed: ')) return 'red';
  return cell.includes('complete') ? 'yellow' : undefined;
}

/** The refresh of each station, and the sums of all. */
function stationRows(stations: readonly StationResult[]): readonly StationCells[] {
  const sizes = listedStations(stations).map(({ snapshot }) => snapshot.size);
  return [
    ...stations.map(stationRow),
    {
      STATION: 'all',
      RESOURCES: sizes.length === 0 ? UNKNOWN_CELL : totalOf(sizes),
      SERIES: totalOf(stations.map(({ series }) => series)),
      REQUESTS: costText(stations),
    },
  ];
}

function stationRow(station: StationResult): StationCells {
  const { spec, status, listed, series } = station;
  return {
    STATION: spec.name,
    UPSTREAM: spec.upstream,
    REFRESH: Number(status.durationMs),
    TOTAL: listed ? (listed.snapshot.reportedTotal ?? 'none') : UNKNOWN_CELL,
    RESOURCES: listed?.snapshot.size ?? UNKNOWN_CELL,
    LISTING: listed ? listingText(listed.snapshot) : `failed: ${explainStation(status)?.short}`,
    SERIES: series,
    REQUESTS: costText([station]),
  };
}

/** The requests while every refresh succeeds and no new resources make kept listings due, at most. */
function costText(stations: readonly StationResult[]): string {
  const listed = listedStations(stations);
  if (listed.length === 0) return UNKNOWN_CELL;
  const listings = listed.flatMap(({ snapshot }) => snapshot.repeated);
  const perHour = totalOf(
    listings.map(({ pages, intervalMs }) => (intervalMs > 0 ? (pages * HOUR_MS) / intervalMs : 0)),
  );
  const perScrape = totalOf(listings.map(({ pages, intervalMs }) => (intervalMs > 0 ? 0 : pages)));
  const costs = [perHour > 0 && `${Math.ceil(perHour)}/h`, perScrape > 0 && `${perScrape}/scrape`];
  return costs.filter((cost) => cost !== false).join(' + ');
}

function listedStations(stations: readonly StationResult[]) {
  return stations.flatMap(({ spec, listed }) => (listed ? [{ spec, snapshot: listed.snapshot }] : []));
}

function totalOf(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function notes(stations: readonly StationResult[]): readonly string[] {
  const caches = stations.map(({ spec }) => spec.cache);
  return [
    "SERIES: without the exporter's own metrics.",
    'REQUESTS: requests of one refresh times refreshes per hour, at most; retries are not included.',
    stations.some(({ spec }) => spec.productsTtlMs + spec.alertabilityTtlMs > 0) &&
      'Listings with products_ttl or alertability_ttl count once per ttl, or per refresh if that is longer; new resources make them due earlier.',
    caches.some(({ refresh }) => refresh === 'background')
      ? 'Refreshes run in the background: a timer starts each one, up to a tenth of ttl late, with or without scrapes.'
      : 'A scrape refreshes what is older than ttl: fewer requests with a longer scrape interval, none without scrapes.',
  ].filter((text) => text !== false);
}

/** What scrapers limit; a size above a limit has a warning. */
function scrapeLines({ scrape, stations }: CheckResult): readonly string[] {
  const ok = listedStations(stations).length;
  const failed = stations.length - ok;
  const uncounted = failed === 0 ? '' : ` (${countText(failed, 'station')} without data not counted)`;
  return ok === 0 ? [] : [`scrape: ${scrapeSizeText(scrape)}, without the exporter's own metrics${uncounted}`];
}

/** For upstreams with enough capacity; those without, or that were throttled, have a warning. */
function capacityLines(upstreams: readonly UpstreamResult[]): readonly string[] {
  return upstreams.flatMap(({ name, capacity, load }) =>
    capacity === undefined || isExceeded(capacity) || load.recentThrottled > 0
      ? []
      : [`capacity: upstream ${name}: ${capacityText(capacity)}`],
  );
}

/** Where pages of `page_size` are too large for the service. */
function reducedPageLines({ upstreams, stations }: CheckResult): readonly string[] {
  return upstreams.flatMap(({ name }) => {
    const own = listedStations(stations).filter(({ spec }) => spec.upstream === name);
    const sizes = own.map(({ snapshot }) => snapshot.reducedPageSize).filter((size) => size !== undefined);
    const requested = Array.from(new Set(sizes)).join(', ');
    const text = `pages of ${requested} are requested from ${countText(sizes.length, 'station')}, because larger ones may be too large for the service: lower page_size.`;
    return sizes.length === 0 ? [] : [`page size: upstream ${name}: ${text}`];
  });
}

/** Where pages were shorter than requested: a larger `page_size` would save no requests. */
function pageLimitLines({ upstreams, stations }: CheckResult): readonly string[] {
  const lines: string[] = [];
  for (const { name } of upstreams) {
    const own = listedStations(stations).filter(({ spec }) => spec.upstream === name);
    const limits = own.map(({ snapshot }) => snapshot.pageLimit).filter((limit) => limit !== undefined);
    if (limits.length === 0) continue;
    const limit = pageLimitText(Math.max(...limits));
    lines.push(`page size: upstream ${name}: the service ${limit}: a larger page_size is of no use.`);
  }
  return lines;
}

/** How many resources the entries of `resource_labels` match. */
function labelLines({ labelMatches }: CheckResult): readonly string[] {
  return labelMatches.map(({ entry, resources, decided }) => {
    const rest = decided < resources ? `, of which earlier entries leave ${decided}` : '';
    return `${entry}: ${countText(resources, 'resource')}${rest}`;
  });
}

type Severity = 'failure' | 'warning';

/** A station that fails has no data. */
function severityOf({ category }: FleetProblem): Severity {
  return category === 'failing' ? 'failure' : 'warning';
}

function problemLines(problem: FleetProblem): readonly string[] {
  const { stations, what, quotes, advice } = problem;
  const texts = stations.map(({ name, note }) => (note === undefined ? name : `${name} (${note})`));
  return [
    `${severityOf(problem)}: ${subjectOf(problem)}: ${what}`,
    stations.length > 1 && `  stations: ${firstOf(texts, MAX_STATIONS).join(', ')}`,
    quotes !== undefined && `  reported: ${quotes.join('; ')}`,
    `  what to do: ${advice}`,
  ].filter((text) => text !== false);
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
  stations: readonly StationResult[],
  problems: readonly FleetProblem[],
  configWarnings: number,
): string {
  const ok = listedStations(stations).length;
  const warnings = configWarnings + problems.filter((problem) => severityOf(problem) === 'warning').length;
  return `stations: ${stations.length}, ok: ${ok}, failed: ${stations.length - ok}, warnings: ${warnings}`;
}
