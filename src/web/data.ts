import type { Request, Response } from 'express';
import { stationLinks } from '../inventory/links.ts';
import { type Columns, csvPieces, fieldsOf, jsonPieces, jsonText } from '../inventory/records.ts';
import { parseResourceQuery } from '../inventory/resource-query.ts';
import {
  FOUND_COLUMNS,
  HISTORY_COLUMNS,
  SEARCH_FIELDS,
  STATION_COLUMNS,
  STATION_LISTING,
} from '../inventory/station-columns.ts';
import type { StationDetail } from '../inventory/station-status.ts';
import { RESOURCE_COLUMNS } from '../model/resource.ts';
import type { ExporterPort } from './port.ts';
import type { AbortableHandler } from './request-limit.ts';
import { send, sendError, writePieces } from './respond.ts';
import { searchParams } from './routes.ts';

const CONTENT_TYPES = { text: 'text/plain', html: 'text/html', json: 'application/json', csv: 'text/csv' } as const;

type Format = keyof typeof CONTENT_TYPES;

/** Chooses the handler by `?format=`, else by the Accept header; the first one is the default. */
export function byFormat(handlers: Readonly<Partial<Record<Format, AbortableHandler>>>): AbortableHandler {
  const formats = Object.keys(handlers) as Format[];
  return (request, response, signal) => {
    const given = searchParams(request).getAll('format');
    if (given.length === 0) response.vary('Accept');
    const format =
      given.length === 0
        ? request.accepts(formats) || formats[0]
        : formats.find((known) => given.length === 1 && known === given[0]);
    const handle = handlers[format as Format];
    if (handle) return handle(request, response, signal);
    sendError(response, 400, `Expected format to be one of ${formats.join(', ')}, at most once.\n`);
    return undefined;
  };
}

type ListHandlers = Readonly<Record<'json' | 'csv', AbortableHandler>>;

/** All stations, as the status page shows them. */
export function stationList(exporter: ExporterPort): ListHandlers {
  return listHandlers('stations', STATION_COLUMNS, () => exporter.stations());
}

/** One station without its resources. */
export function stationData(exporter: ExporterPort): AbortableHandler {
  return (request, response) => {
    const detail = exporter.station(String(request.params['name']));
    if (detail === undefined) sendError(response, 404, NO_STATION);
    else send(response, 200, CONTENT_TYPES.json, `${jsonText(stationObject(detail))}\n`);
  };
}

/** The resources that the station page shows for the same query, on all of its pages. */
export function resourceList(exporter: ExporterPort): ListHandlers {
  return listHandlers('resources', RESOURCE_COLUMNS, (request, signal) => {
    const detail = exporter.station(String(request.params['name']));
    if (detail === undefined) return [404, NO_STATION];
    const query = parseResourceQuery(searchParams(request));
    if (typeof query === 'string') return [400, `${query}\n`];
    // Not an empty list: the resources are unknown.
    if (detail.served === undefined)
      return [503, 'No data: no refresh of the station has succeeded within max_stale.\n'];
    return exporter.select(detail.served.snapshot, query.selection, query.order, signal);
  });
}

/** The refreshes of a station, the latest first. */
export function historyList(exporter: ExporterPort): ListHandlers {
  return listHandlers(
    'history',
    HISTORY_COLUMNS,
    ({ params }) => exporter.history(String(params['name'])) ?? [404, NO_STATION],
  );
}

/** Resources that JSON and CSV of a search contain at most. */
export const MAX_FOUND = 10_000;

export const NO_SEARCH = 'Expected one parameter q: the text to search for.\n';

/** The search for resources of all stations. */
export function searchData(exporter: ExporterPort): ListHandlers {
  const { csv } = listHandlers('search', FOUND_COLUMNS, async (request, signal) => {
    const text = searchText(request);
    return text ? (await exporter.search(text, MAX_FOUND, signal)).found : [400, NO_SEARCH];
  });
  const json: AbortableHandler = async (request, response, signal) => {
    const text = searchText(request);
    if (!text) {
      sendError(response, 400, NO_SEARCH);
      return;
    }
    const result = await exporter.search(text, MAX_FOUND, signal);
    const head = jsonText(fieldsOf(SEARCH_FIELDS, { text, ...result }));
    setFormat(response, 'json', 'search');
    await writePieces(response, wrapped(head, jsonPieces(FOUND_COLUMNS, result.found)), signal);
  };
  return { json, csv };
}

/** The text to search for, without surrounding spaces; undefined when it is given more than once. */
export function searchText(request: Pick<Request, 'url'>): string | undefined {
  const given = searchParams(request).getAll('q');
  return given.length > 1 ? undefined : (given[0] ?? '').trim();
}

function* wrapped(head: string, resources: Iterable<string>): Iterable<string> {
  yield `${head.slice(0, -1)},"resources":`;
  yield* resources;
  yield '}\n';
}

export const NO_STATION = 'No station with this name is configured on this shard.\n';

type Refusal = readonly [status: number, message: string];

type Rows<Row> = readonly Row[] | Refusal;

/** Handlers of a list in both formats; CSV is a file with this name. */
function listHandlers<Row extends object>(
  name: string,
  columns: Columns<Row>,
  rowsOf: (request: Request, signal: AbortSignal) => Rows<Row> | Promise<Rows<Row>>,
): ListHandlers {
  const handler = (format: 'json' | 'csv'): AbortableHandler => {
    const pieces = format === 'json' ? jsonPieces : csvPieces;
    return async (request, response, signal) => {
      const rows = await rowsOf(request, signal);
      if (isRefusal(rows)) {
        sendError(response, ...rows);
        return;
      }
      setFormat(response, format, name);
      await writePieces(response, pieces(columns, rows), signal);
    };
  };
  return { json: handler('json'), csv: handler('csv') };
}

function isRefusal(rows: Rows<object>): rows is Refusal {
  return typeof rows[0] === 'number';
}

function setFormat(response: Response, format: 'json' | 'csv', name: string): void {
  response.setHeader('Content-Type', format === 'csv' ? `${CONTENT_TYPES.csv}; charset=utf-8` : CONTENT_TYPES.json);
  if (format === 'csv') response.setHeader('Content-Disposition', `attachment; filename="${name}.csv"`);
}

function stationObject({ spec, status, served, links }: StationDetail): object {
  const { subscription, resourceGroup, zone } = spec.path;
  const snapshot = served?.snapshot;
  return {
    ...fieldsOf(STATION_COLUMNS, status),
    subscription,
    resource_group: resourceGroup,
    zone,
    labels: spec.labels,
    products: spec.products,
    alertability: spec.alertability,
    links: stationLinks(links, spec),
    listing: snapshot ? fieldsOf(STATION_LISTING, snapshot) : null,
  };
}
