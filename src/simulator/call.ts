import type { IncomingHttpHeaders } from 'node:http';

/** Where a station lives in the service, decoded. */
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

/** The filters in force with their values; one that is left out does not narrow. */
export type Filters = Readonly<Partial<Record<FilterName, readonly string[]>>>;

/** A request as it came over the wire. */
export interface Message {
  readonly method: string;
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
}

/** What a request asks for. */
export interface Call {
  readonly path: StationPath;
  readonly filters: Filters;
  readonly offset: number;
  /** 0: as many as the service pleases. */
  readonly size: number;
}

/** Why a request asks for nothing that the service has. */
export interface Refusal {
  readonly status: 400 | 404 | 405;
  readonly message: string;
}

export interface CallRules {
  readonly pathPrefix: string;
  /** Whether a comma separates values; a gRPC gateway takes repeated parameters alone. */
  readonly listStyle: 'repeat' | 'comma';
}

export function readCall({ method, target }: Message, rules: CallRules): Call | Refusal {
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

/** The path stays as it came, not decoded. */
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
  const twice = [...SCALAR_FILTERS, ...NUMBERS].find((name) => parameters.getAll(name).length > 1);
  if (twice !== undefined) return `too many values for field ${JSON.stringify(twice)}`;
  const noNumber = NUMBERS.find((name) => parameters.getAll(name).some((value) => !isCount(value)));
  if (noNumber !== undefined) return `parsing field ${JSON.stringify(noNumber)}: invalid syntax`;
  const noBoolean = parameters.getAll('enabled_alert').some((value) => value !== 'true' && value !== 'false');
  return noBoolean ? 'parsing field "enabled_alert": invalid syntax' : undefined;
}

function isCount(text: string): boolean {
  return /^\d+$/.test(text) && Number(text) < 2 ** 31;
}

function readFilters(parameters: URLSearchParams, listStyle: CallRules['listStyle']): Filters {
  const scalars = SCALAR_FILTERS.map((name) => [name, parameters.getAll(name).filter((value) => narrows(name, value))] as const);
  const repeated = REPEATED_FILTERS.map((name) => {
    const values = parameters.getAll(name);
    return [name, listStyle === 'comma' ? values.flatMap((value) => value.split(',')) : values] as const;
  });
  return Object.fromEntries([...scalars, ...repeated].filter(([, values]) => values.length > 0));
}

/** An empty text is an unset one, and `enabled_alert=false` asks for everything. */
function narrows(name: FilterName, value: string): boolean {
  return name === 'enabled_alert' ? value === 'true' : value !== '';
}
