import type { Request } from 'express';
import { earliest } from '../model/clock.ts';
import { CHANGE_PARAMETERS, changeTest } from '../query/change-query.ts';
import {
  type Parameters,
  parseParameters,
  parseResourceQuery,
  type ResourceQuery,
  resourceSearch,
  textParameters,
} from '../query/parameters.ts';
import { type Selection, searchStations } from '../query/selection.ts';
import { newerFirst, type StationChange } from '../resources/changes.ts';
import { columnsWith } from '../resources/fields.ts';
import { changeColumns } from '../status/change-columns.ts';
import { coverageRows } from '../status/owners.ts';
import {
  DATA_FIELDS,
  foundColumns,
  OWNER_COLUMNS,
  REFRESH_COLUMNS,
  SEARCH_FIELDS,
  STATION_COLUMNS,
  STATION_LISTING,
} from '../status/station-columns.ts';
import type { StationDetail, StationStatus } from '../status/station-status.ts';
import { OrderedRows } from '../tasks/ordered-rows.ts';
import { forEachPart } from '../tasks/yield-to-event-loop.ts';
import { quoted } from '../text/quoted.ts';
import { type Columns, csvPieces, fieldsOf, jsonPieces, jsonText } from '../text/records.ts';
import { linksOf } from './links.ts';
import type { ExporterPort, WebOptions } from './port.ts';
import type { PageRenderer } from './request-limit.ts';
import { RequestError, send } from './respond.ts';
import { searchParams } from './routes.ts';

const DATA_CONTENT_TYPES = {
  text: 'text/plain',
  html: 'text/html',
  json: 'application/json',
  csv: 'text/csv',
} as const;

type Format = keyof typeof DATA_CONTENT_TYPES;

/** Chooses the handler by `?format=`, else by the Accept header; the first one is the default. */
export function byFormat(handlers: Readonly<Partial<Record<Format, PageRenderer>>>): PageRenderer {
  const formats = Object.keys(handlers) as Format[];
  return (request, response, signal) => {
    const [given, ...others] = searchParams(request).getAll('format');
    if (given === undefined) response.vary('Accept');
    const chosen = given ?? (request.accepts(formats) || formats[0]);
    const format = formats.find((known) => known === chosen);
    const handle = format && handlers[format];
    if (handle && others.length === 0) return handle(request, response, signal);
    throw new RequestError(400, `Expected format to be one of ${formats.join(', ')}, at most once.\n`);
  };
}

/** The station that the path names; throws a RequestError if there is none. */
export function stationOf(exporter: ExporterPort, { params }: Request): StationDetail {
  const name = String(params['name']);
  const detail = exporter.station(name);
  if (detail) return detail;
  throw noStation(exporter, name);
}

export function noStation({ isSharded }: ExporterPort, name: string): RequestError {
  return new RequestError(404, `No station ${quoted(name)} is configured${isSharded ? ' on this shard' : ''}.\n`);
}

/** The query of a list of resources; throws a RequestError if it is invalid. */
export function resourceQueryOf(exporter: ExporterPort, request: Request): ResourceQuery {
  const { query, problem } = parseResourceQuery(searchParams(request), labelNames(exporter));
  requireValid(problem);
  return query;
}

export function requireValid(problem: string | undefined): void {
  if (problem !== undefined) throw new RequestError(400, `${problem}\n`);
}

/** Throws a RequestError if the request has a parameter: one that is ignored would seem to select something. */
export function requireNoParameters(request: Request): void {
  requireValid(parseParameters(searchParams(request), {}).problem);
}

type ListHandlers = Readonly<Record<'json' | 'csv', PageRenderer>>;

interface DataList<Row> {
  /** What it holds, for the name of the CSV file. */
  readonly name: string;
  readonly columns: Columns<Row>;
  readonly rows: readonly Row[];
  /** In JSON, `rows` follow these fields under this key; without fields JSON is a list. */
  readonly fields?: object;
  readonly key?: string;
  /** The value of the header `Telemetry-Station-Data`, because CSV has no place for such fields. */
  readonly header?: string;
}

/** Renderers of a list in both formats; CSV is a file. */
function listHandlers<Row>(
  listOf: (request: Request, signal: AbortSignal) => DataList<Row> | Promise<DataList<Row>>,
): ListHandlers {
  const handler =
    (format: 'json' | 'csv'): PageRenderer =>
    async (request, response, signal) => {
      const { name, columns, rows, fields, key = 'resources', header } = await listOf(request, signal);
      if (header !== undefined) response.setHeader('Telemetry-Station-Data', header);
      if (format === 'json') {
        response.setHeader('Content-Type', DATA_CONTENT_TYPES.json);
        const list = jsonPieces(columns, rows);
        return fields ? jsonWithList(fields, key, list) : list;
      }
      response.setHeader('Content-Type', `${DATA_CONTENT_TYPES.csv}; charset=utf-8`);
      response.setHeader('Content-Disposition', attachment(name));
      return spreadsheetPieces(csvPieces(columns, rows));
    };
  return { json: handler('json'), csv: handler('csv') };
}

/** With a byte order mark, because Excel reads a file without one in the code page of the system. */
function* spreadsheetPieces(csv: Iterable<string>): Iterable<string> {
  yield '\ufeff';
  yield* csv;
}

const MAX_NAME_LENGTH = 100;

/** As RFC 6266 defines it: a name in ASCII and, where that is not all of it, the name itself. */
function attachment(name: string): string {
  // Without characters that a header or a file system could misread.
  const [ascii = '', full = ''] = [/[^\w.-]+/g, /[^\p{L}\p{M}\p{N}_.-]+/gu].map((others) =>
    [...name.toWellFormed().replaceAll(others, '-')].slice(0, MAX_NAME_LENGTH).join(''),
  );
  const extended = full === ascii ? '' : `; filename*=UTF-8''${encodeURIComponent(full)}.csv`;
  return `attachment; filename="${ascii}.csv"${extended}`;
}

function* jsonWithList(fields: object, key: string, list: Iterable<string>): Iterable<string> {
  yield `${jsonText(fields).slice(0, -1)},"${key}":`;
  yield* list;
  yield '}\n';
}

export function stationList(exporter: ExporterPort): ListHandlers {
  return listHandlers((request) => {
    requireNoParameters(request);
    const labels = new Map(exporter.specs().map((spec) => [spec.name, spec.labels]));
    const names = new Set([...labels.values()].flatMap((ofStation) => Object.keys(ofStation)));
    const labelOf = (label: string) => ({ cell: ({ name }: StationStatus) => labels.get(name)?.[label] });
    const further = [...names].filter((label) => !Object.hasOwn(STATION_COLUMNS, label));
    const columns = { ...STATION_COLUMNS, ...Object.fromEntries(further.map((label) => [label, labelOf(label)])) };
    return { name: 'stations', columns, rows: exporter.stations() };
  });
}

export function stationData(exporter: ExporterPort, { now }: WebOptions): PageRenderer {
  return async (request, response) => {
    requireNoParameters(request);
    const { spec, status, served, links } = stationOf(exporter, request);
    const owners = await exporter.owners(spec.name);
    const object = {
      ...fieldsOf(STATION_COLUMNS, status),
      ...fieldsOf(DATA_FIELDS, { status, nowMs: now() }),
      ...spec.path,
      labels: spec.labels,
      products: spec.products,
      alertability: spec.alertability,
      links: linksOf(links, spec),
      listing: served ? fieldsOf(STATION_LISTING, served.snapshot) : null,
      ...(spec.resourceLabels.names.length > 0 && {
        resource_labels: served ? owners.map((counts) => fieldsOf(OWNER_COLUMNS, { ...counts, counts })) : null,
      }),
    };
    send(response, 200, DATA_CONTENT_TYPES.json, `${jsonText(object)}\n`);
  };
}

/** The resources that the station page shows for the same query, on all of its pages. */
export function resourceList(exporter: ExporterPort, { now }: WebOptions): ListHandlers {
  return listHandlers(async (request, signal) => {
    const { spec, status, served } = stationOf(exporter, request);
    const { names } = spec.resourceLabels;
    const { selection, sort } = resourceQueryOf(exporter, request);
    // Not an empty list: the resources are unknown.
    if (served === undefined)
      throw new RequestError(
        503,
        'No data: no refresh of the station has succeeded yet, or the last success is longer ago than max_stale.\n',
      );
    const searched = { ...served.spec, parts: served.snapshot.parts };
    const { found } = await searchStations([searched], selection, sort, signal);
    const data = fieldsOf(DATA_FIELDS, { status, nowMs: now() });
    return {
      name: listName(`${spec.name}-resources`, selection),
      columns: columnsWith(names),
      rows: (await found.rows()).map(({ resource }) => resource),
      fields: { station: spec.name, ...data },
      header: headerText(data),
    };
  });
}

function headerText(summary: object): string {
  const entries = Object.entries(summary).filter(([, value]) => typeof value !== 'object');
  return entries.map(([name, value]) => `${name}=${value}`).join(', ');
}

/** The name of the file contains the values that its resources have in common. */
function listName(name: string, selection: Selection): string {
  return `${name}${resourceSearch({ selection })}`.replace(/\?$/, '');
}

export function refreshList(exporter: ExporterPort): ListHandlers {
  return listHandlers((request) => {
    requireNoParameters(request);
    const { spec, refreshes } = stationOf(exporter, request);
    return { name: `${spec.name}-refreshes`, columns: REFRESH_COLUMNS, rows: refreshes };
  });
}

/** The changes of the resources of a station, or of all, the latest first. */
export function changeList(exporter: ExporterPort, { now }: WebOptions): ListHandlers {
  return listHandlers(async (request, signal) => {
    const { name, unbrokenSinceMs, dropped, waiting, changes } = await changesOf(exporter, request, now(), signal);
    const summary = { since: unbrokenSinceMs === undefined ? null : new Date(unbrokenSinceMs).toISOString(), dropped };
    return {
      name: name === undefined ? 'changes' : `${name}-changes`,
      columns: changeColumns(labelNames(exporter)),
      rows: changes,
      fields: { station: name, ...summary, waiting: waiting.length > 0 },
      key: 'changes',
      header: headerText(summary),
    };
  });
}

/** The changes that the path and the query select, and what is known of them; throws a RequestError if the query is invalid. */
export async function changesOf(exporter: ExporterPort, request: Request, nowMs: number, signal: AbortSignal) {
  // A label with the name of another parameter selects nothing.
  const labels = labelNames(exporter).filter((label) => !Object.hasOwn(CHANGE_PARAMETERS, label));
  const parameters: Parameters = { ...CHANGE_PARAMETERS, ...textParameters(labels) };
  const { values: query, problem } = parseParameters(searchParams(request), parameters);
  requireValid(problem);
  const { name } = request.params as { readonly name?: string };
  const chosen = name ?? query['station'];
  if (chosen !== undefined && !exporter.has(chosen)) throw noStation(exporter, chosen);
  const statuses = exporter.stations().filter((status) => chosen === undefined || status.name === chosen);
  const stations = statuses.map((status) => ({ status, ...exporter.changes(status.name) }));
  const isSelected = changeTest(query, nowMs);
  const runs: StationChange[][] = [];
  await forEachPart(
    stations.map(({ newestFirst }) => newestFirst),
    (kept, at) => {
      signal.throwIfAborted();
      const { name: station } = statuses[at] as StationStatus;
      runs.push(kept.filter(isSelected).map((change) => ({ ...change, station })));
    },
  );
  const sum = (key: 'dropped' | 'droppedRemovals') => stations.reduce((total, station) => total + station[key], 0);
  const sinceMs = earliest(statuses.map(({ comparedSinceMs }) => comparedSinceMs));
  const gapEnds = statuses.flatMap(({ gapEndMs }) => gapEndMs ?? []);
  return {
    /** undefined: of all stations. */
    name,
    query,
    /** Names of the labels that it may have. */
    labels,
    stations,
    /** Since when listings have been compared; undefined: none has. */
    sinceMs,
    /** Since when they have been compared without a gap. */
    unbrokenSinceMs: sinceMs === undefined ? undefined : Math.max(sinceMs, ...gapEnds),
    /** Stations whose changes may be missing before the last of these times. */
    withGap: statuses.filter(({ gapEndMs }) => gapEndMs !== undefined),
    dropped: sum('dropped'),
    droppedRemovals: sum('droppedRemovals'),
    /** Stations whose changes are not counted at present, and those whose refreshes fail. */
    waiting: statuses.filter(({ snapshot }) => snapshot?.isIncomparable),
    failing: statuses.filter(({ up }) => up === false),
    changes: await new OrderedRows(runs, newerFirst, signal).rows(),
  };
}

export function searchData(exporter: ExporterPort): ListHandlers {
  return listHandlers(async (request, signal) => {
    const { selection, sort } = resourceQueryOf(exporter, request);
    if (Object.keys(selection).length === 0)
      throw new RequestError(400, 'Expected search, the text to search for, or a filter such as alert_state=firing.\n');
    const result = await exporter.search(selection, sort, signal);
    const beforeReload = exporter.stations().flatMap(({ name, isBeforeReload }) => (isBeforeReload ? name : []));
    const withoutData = new Set(result.withoutData);
    if (withoutData.size > 0 && exporter.specs().every(({ name }) => withoutData.has(name)))
      throw new RequestError(503, 'No station has data.\n');
    const fields = fieldsOf(SEARCH_FIELDS, { text: selection.search, ...result, beforeReload });
    return {
      name: listName('resources', selection),
      columns: foundColumns(labelNames(exporter)),
      rows: await result.found.rows(),
      fields,
    };
  });
}

/** The coverage of each owner, type and station; throws a RequestError if the request has a filter. */
export async function coverageRowsOf(exporter: ExporterPort, request: Request) {
  requireNoParameters(request);
  return coverageRows(await exporter.owners(undefined, 'with types'), exporter.stations());
}

export function coverageList(exporter: ExporterPort): ListHandlers {
  return listHandlers(async (request) => ({
    name: 'coverage',
    columns: OWNER_COLUMNS,
    rows: await coverageRowsOf(exporter, request),
  }));
}

/** The names of `resource_labels`, which all stations have. */
export function labelNames(exporter: ExporterPort): readonly string[] {
  return exporter.specs()[0]?.resourceLabels.names ?? [];
}
