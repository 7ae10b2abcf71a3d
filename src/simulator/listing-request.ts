import type { IncomingHttpHeaders } from 'node:http';

/** The path parts of a station, decoded. */
export interface StationPath {
  readonly subscription: string;
  readonly resourceGroup: string;
  readonly zone: string;
  readonly telemetryStation: string;
}

const REPEATED_FILTERS = ['resource_ids', 'resource_types'] as const;
const SCALAR_FILTERS = ['resource_type', 'product', 'resource_display_name_prefix', 'enabled_alert'] as const;
const NUMBERS = ['page.offset', 'page.size', 'page.total'] as const;

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
  const { path: rawPath, query: parameters } = splitTarget(target);
  const path = rawPath.startsWith(rules.pathPrefix) ? stationPath(rawPath.slice(rules.pathPrefix.length)) : undefined;
  if (path === undefined) return { status: 404, message: 'Not Found' };
  const message = parameterProblem(parameters);
  if (message !== undefined) return { status: 400, message };
  return {
    path,
    filters: readFilters(parameters, rules.listStyle),
    offset: Number(parameters.get('page.offset')),
    size: Number(parameters.get('page.size')),
  };
}

/** The path is not decoded. */
export function splitTarget(target: string): { readonly path: string; readonly query: URLSearchParams } {
  const path = target.replace(/\?.*$/s, '');
  return { path, query: new URLSearchParams(target.slice(path.length)) };
}

const RESOURCES_PATH =
  /^\/monitor\/ts\/data\/v1\/subscriptions\/(?<subscription>[^/]+)\/resourceGroups\/(?<resourceGroup>[^/]+)\/zones\/(?<zone>[^/]+)\/telemetryStations\/(?<telemetryStation>[^/]+)\/resources$/;

function stationPath(path: string): StationPath | undefined {
  const parts = RESOURCES_PATH.exec(path)?.groups as StationPath | undefined;
  if (parts === undefined) return undefined;
  try {
    return {
      subscription: decodeURIComponent(parts.subscription),
      resourceGroup: decodeURIComponent(parts.resourceGroup),
      zone: decodeURIComponent(parts.zone),
      telemetryStation: decodeURIComponent(parts.telemetryStation),
    };
  } catch {
    return undefined;
  }
}

function parameterProblem(parameters: URLSearchParams): string | undefined {
  const repeated = [...SCALAR_FILTERS, ...NUMBERS].find((name) => parameters.getAll(name).length > 1);
  if (repeated !== undefined) return `too many values for field ${JSON.stringify(repeated)}`;
  const invalidNumber = NUMBERS.find((name) => parameters.getAll(name).some((value) => !isCount(value)));
  if (invalidNumber !== undefined) return `parsing field ${JSON.stringify(invalidNumber)}: invalid syntax`;
  const hasInvalidBoolean = parameters.getAll('enabled_alert').some((value) => value !== 'true' && value !== 'false');
  return hasInvalidBoolean ? 'parsing field "enabled_alert": invalid syntax' : undefined;
}

function isCount(text: string): boolean {
  return /^\d+$/.test(text) && Number(text) < 2 ** 31;
}

function readFilters(parameters: URLSearchParams, listStyle: RequestOptions['listStyle']): Filters {
  const scalars = SCALAR_FILTERS.map(
    (name) => [name, parameters.getAll(name).filter((value) => isSet(name, value))] as const,
  );
  const repeated = REPEATED_FILTERS.map((name) => {
    const values = parameters.getAll(name);
    return [name, listStyle === 'comma' ? values.flatMap((value) => value.split(',')) : values] as const;
  });
  return Object.fromEntries([...scalars, ...repeated].filter(([, values]) => values.length > 0));
}

/** As in protobuf, an empty string is unset; `enabled_alert=false` selects all resources. */
function isSet(name: FilterName, value: string): boolean {
  return name === 'enabled_alert' ? value === 'true' : value !== '';
}
