import type { IncomingHttpHeaders } from 'node:http';
import { type SimulatedReply, statusReply } from './reply.ts';

/** The path parts of a station, decoded, under the names of the exporter configuration. */
export interface StationPath {
  readonly subscription: string;
  readonly resource_group: string;
  readonly zone: string;
  readonly telemetry_station: string;
}

export function isSamePath(one: StationPath, other: StationPath): boolean {
  return PATH_PARTS.every((part) => one[part] === other[part]);
}

const PATH_PARTS = ['subscription', 'resource_group', 'zone', 'telemetry_station'] as const;

export const FILTER_NAMES = [
  'resource_ids',
  'resource_types',
  'resource_type',
  'product',
  'resource_display_name_prefix',
  'enabled_alert',
] as const;

const REPEATED: ReadonlySet<string> = new Set(['resource_ids', 'resource_types']);

export type FilterName = (typeof FILTER_NAMES)[number];

/** The filters of a request; empty values are left out. */
export type Filters = Readonly<Partial<Record<FilterName, readonly string[]>>>;

export interface RequestHead {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

export interface ReceivedRequest extends RequestHead {
  /** Not decoded. */
  readonly rawPath: string;
  readonly query: URLSearchParams;
}

/** A valid request for a page of a station's listing. */
export interface ListingRequest {
  readonly path: StationPath;
  /** The name of the telemetry station. */
  readonly station: string;
  readonly filters: Filters;
  readonly offset: number;
  readonly size: number;
}

export interface RequestOptions {
  /** Default: none. */
  readonly pathPrefix?: string;
  /** A gRPC gateway accepts repeated parameters only, which is the default. */
  readonly listStyle?: 'repeat' | 'comma';
}

/** For requests without a page size. */
const DEFAULT_PAGE_SIZE = 20;

/** The request, or the reply to one that is not valid. */
export function parseRequest(
  { method, rawPath, query }: ReceivedRequest,
  { pathPrefix = '', listStyle }: RequestOptions,
): ListingRequest | SimulatedReply {
  if (method !== 'GET') return statusReply(405, 'Method Not Allowed', { allow: 'GET' });
  const path = rawPath.startsWith(pathPrefix) ? stationPath(rawPath.slice(pathPrefix.length)) : undefined;
  if (path === undefined) return statusReply(404, 'Not Found');
  const [offset = 0, size = 0] = ['page.offset', 'page.size'].map((name) => Number(query.get(name)));
  if (!(offset >= 0 && size >= 0)) return statusReply(400, 'invalid page');
  const filters = readFilters(query, listStyle);
  return { path, station: path.telemetry_station, filters, offset, size: size || DEFAULT_PAGE_SIZE };
}

const RESOURCES_PATH =
  /^\/monitor\/ts\/data\/v1\/subscriptions\/(?<subscription>[^/]+)\/resourceGroups\/(?<resource_group>[^/]+)\/zones\/(?<zone>[^/]+)\/telemetryStations\/(?<telemetry_station>[^/]+)\/resources$/;

function stationPath(path: string): StationPath | undefined {
  const parts = RESOURCES_PATH.exec(path)?.groups as StationPath | undefined;
  if (parts === undefined) return undefined;
  try {
    const decoded = PATH_PARTS.map((part) => [part, decodeURIComponent(parts[part])]);
    return Object.fromEntries(decoded) as StationPath;
  } catch {
    return undefined;
  }
}

/** As in protobuf, an empty string is unset; `enabled_alert=false` selects all resources. */
function readFilters(query: URLSearchParams, listStyle: RequestOptions['listStyle']): Filters {
  const filters = FILTER_NAMES.map((name) => [
    name,
    query.getAll(name).flatMap((value) => {
      if (REPEATED.has(name)) return listStyle === 'comma' ? value.split(',') : value;
      return value === '' || (name === 'enabled_alert' && value !== 'true') ? [] : value;
    }),
  ]);
  return Object.fromEntries(filters.filter(([, values]) => values?.length));
}
