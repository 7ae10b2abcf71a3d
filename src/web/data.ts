import { stationLinks } from '../inventory/links.ts';
import { csvPieces, jsonPieces, jsonText } from '../inventory/records.ts';
import { parseResourceQuery } from '../inventory/resource-query.ts';
import { HISTORY_COLUMNS, STATION_COLUMNS, STATION_LISTING } from '../inventory/station-columns.ts';
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

/** All stations, as the status page shows them. */
export function stationList(exporter: ExporterPort, format: 'json' | 'csv'): AbortableHandler {
  return async (_request, response, signal) => {
    const pieces = format === 'json' ? jsonPieces : csvPieces;
    setFormat(response, format, 'stations');
    await writePieces(response, pieces(STATION_COLUMNS, exporter.stations()), signal);
  };
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
export function resourceList(exporter: ExporterPort, format: 'json' | 'csv'): AbortableHandler {
  return async (request, response, signal) => {
    const detail = exporter.station(String(request.params['name']));
    const query = parseResourceQuery(searchParams(request));
    if (detail === undefined) {
      sendError(response, 404, NO_STATION);
    } else if (typeof query === 'string') {
      sendError(response, 400, `${query}\n`);
    } else if (detail.served === undefined) {
      // Not an empty list: the resources are unknown.
      sendError(response, 503, 'No data: no refresh of the station has succeeded within max_stale.\n');
    } else {
      const resources = await exporter.select(detail.served.snapshot, query.selection, query.order, signal);
      const pieces = format === 'json' ? jsonPieces : csvPieces;
      setFormat(response, format, 'resources');
      await writePieces(response, pieces(RESOURCE_COLUMNS, resources), signal);
    }
  };
}

/** The refreshes of a station, the latest first. */
export function historyList(exporter: ExporterPort, format: 'json' | 'csv'): AbortableHandler {
  return async (request, response, signal) => {
    const entries = exporter.history(String(request.params['name']));
    if (entries === undefined) {
      sendError(response, 404, NO_STATION);
      return;
    }
    const pieces = format === 'json' ? jsonPieces : csvPieces;
    setFormat(response, format, 'history');
    await writePieces(response, pieces(HISTORY_COLUMNS, entries), signal);
  };
}

export const NO_STATION = 'No station with this name is configured on this shard.\n';

/** The headers of a response in the format; CSV is a file with this name. */
export function setFormat(response: Parameters<typeof writePieces>[0], format: 'json' | 'csv', name: string): void {
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

/** The object that a row is in JSON. */
export function fieldsOf<Row>(
  fields: Readonly<Record<string, { readonly value: (row: Row) => unknown }>>,
  row: Row,
): object {
  return Object.fromEntries(Object.entries(fields).map(([name, { value }]) => [name, value(row)]));
}
