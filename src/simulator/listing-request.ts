import type { IncomingHttpHeaders } from 'node:http';

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

const REPEATED_FILTERS = ['resource_ids', 'resource_types'] as const;
const SCALAR_FILTERS = ['resource_type', 'product', 'resource_display_name_prefix', 'enabled_alert'] as const;

export const FILTER_NAMES = [...REPEATED_FILTERS, ...SCALAR_FILTERS] as const;

export type FilterName = (typeof FILTER_NAMES)[number];

/** The filters of a request; empty values are left out. */
export type Filters = Readonly<Partial<Record<FilterName, readonly string[]>>>;

export interface RequestHead {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

/** A valid request for a page of a station's listing. */
export interface ListingRequest {
  readonly path: StationPath;
  /** The name of the telemetry station. */
  readonly station: string;
  readonly filters: Filters;
  readonly offset: number;
  /** 0: the default page size. */
  readonly size: number;
}

export interface RejectedRequest {
  readonly status: 400 | 404 | 405;
  readonly message: string;
}

export interface RequestOptions {
  readonly pathPrefix: string;
  /** A gRPC gateway accepts repeated parameters only. */
  readonly listStyle: 'repeat' | 'comma';
}

export function parseRequest({ method, target }: RequestHead, rules: RequestOptions): ListingRequest | RejectedRequest {
  if (method !== 'GET') return { status: 405, message: 'Method Not Allowed' };
  const { rawPath, query: parameters } = splitTarget(target);
  const path = rawPath.startsWith(rules.pathPrefix) ? stationPath(rawPath.slice(rules.pathPrefix.length)) : undefined;
  if (path === undefined) return { status: 404, message: 'Not Found' };
  const [offset = 0, size = 0] = ['page.offset', 'page.size'].map((name) => Number(parameters.get(name)));
  if (!(offset >= 0 && size >= 0)) return { status: 400, message: 'invalid page' };
  return {
    path,
    station: path.telemetry_station,
    filters: readFilters(parameters, rules.listStyle),
    offset,
    size,
  };
}

/** The path is not decoded. */
export function splitTarget(target: string): { readonly rawPath: string; readonly query: URLSearchParams } {
  const rawPath = target.replace(/\?.*$/s, '');
  return { rawPath, query: new URLSearchParams(target.slice(rawPath.length)) };
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
function readFilters(parameters: URLSearchParams, listStyle: RequestOptions['listStyle']): Filters {
  const scalars = SCALAR_FILTERS.map((name) => [
    name,
    parameters.getAll(name).filter((value) => (name === 'enabled_alert' ? value === 'true' : value !== '')),
  ]);
  const repeated = REPEATED_FILTERS.map((name) => [
    name,
    parameters.getAll(name).flatMap((value) => (listStyle === 'comma' ? value.split(',') : [value])),
  ]);
  return Object.fromEntries([...scalars, ...repeated].filter(([, values]) => values?.length));
}
