import type { IncomingMessage } from 'node:http';
import { type SimulatedReply, statusReply } from './reply.ts';

/** The path parts of a station, decoded, under the names of the exporter configuration. */
export interface SimulatedPath {
  readonly subscription: string;
  readonly resource_group: string;
  readonly zone: string;
  readonly telemetry_station: string;
}

export function isSamePath(one: SimulatedPath, other: SimulatedPath): boolean {
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

/** The filters with a list of values. */
export const REPEATED: ReadonlySet<string> = new Set(['resource_ids', 'resource_types']);

type FilterName = (typeof FILTER_NAMES)[number];

/** The filters of a request; empty values are left out. */
export type Filters = Readonly<Partial<Record<FilterName, readonly string[]>>>;

type RequestHead = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

/** A valid request for a page of a station's listing. */
export interface ListingRequest {
  readonly path: SimulatedPath;
  readonly filters: Filters;
  readonly offset: number;
  readonly size: number;
}

/** Applies to requests without a page size. */
const DEFAULT_PAGE_SIZE = 20;

/** The request, or the reply to one that is not valid. */
export function parseRequest({ method, url = '' }: RequestHead): ListingRequest | SimulatedReply {
  if (method !== 'GET') return statusReply(405, 'Method Not Allowed', { allow: 'GET' });
  const rawPath = url.replace(/\?.*$/s, '');
  const path = parsedPath(rawPath);
  if (path === undefined) return statusReply(404, 'Not Found');
  const query = new URLSearchParams(url.slice(rawPath.length));
  const [offset = 0, size = 0] = ['page.offset', 'page.size'].map((name) => Number(query.get(name)));
  if (!(offset >= 0 && size >= 0)) return statusReply(400, 'invalid page');
  return { path, filters: readFilters(query), offset, size: size || DEFAULT_PAGE_SIZE };
}

const RESOURCES_PATH =
  '/monitor/ts/data/v1/subscriptions/{subscription}/resourceGroups/{resource_group}/zones/{zone}/telemetryStations/{telemetry_station}/resources';
const PATH_PATTERN = new RegExp(`^${RESOURCES_PATH.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);

function parsedPath(path: string): SimulatedPath | undefined {
  const parts = PATH_PATTERN.exec(path)?.groups as SimulatedPath | undefined;
  if (parts === undefined) return undefined;
  try {
    const decoded = PATH_PARTS.map((part) => [part, decodeURIComponent(parts[part])]);
    return Object.fromEntries(decoded) as SimulatedPath;
  } catch {
    return undefined;
  }
}

/** As a gRPC gateway, accepts lists as repeated parameters only. As in protobuf, an empty string is unset; `enabled_alert=false` selects all resources. */
function readFilters(query: URLSearchParams): Filters {
  const filters = FILTER_NAMES.map((name) => [
    name,
    query
      .getAll(name)
      .filter((value) => REPEATED.has(name) || (name === 'enabled_alert' ? value === 'true' : value !== '')),
  ]);
  return Object.fromEntries(filters.filter(([, values]) => values?.length));
}

/** A record (any JSON value), and the properties the service filters by without sending them. */
export interface SourceEntry {
  readonly record: unknown;
  readonly product?: string;
  readonly alertable?: boolean;
}

/** The records that match the filters. */
export function selectRecords(entries: readonly SourceEntry[], filters: Filters): readonly unknown[] {
  const wanted = Object.entries(filters);
  return entries
    .filter((entry) => wanted.every(([name, values]) => FILTERS[name as FilterName](entry, values)))
    .map(({ record }) => record);
}

const FILTERS: Readonly<Record<FilterName, (entry: SourceEntry, values: readonly unknown[]) => boolean>> = {
  resource_ids: ({ record }, ids) => ids.includes(fieldOf(record, 'resource_id')),
  resource_type: hasType,
  resource_types: hasType,
  product: ({ product }, products) => products.includes(product),
  resource_display_name_prefix: ({ record }, prefixes) => {
    const displayName = fieldOf(record, 'display_name');
    return typeof displayName === 'string' && prefixes.every((prefix) => displayName.startsWith(`${prefix}`));
  },
  enabled_alert: ({ alertable }) => alertable === true,
};

function hasType({ record }: SourceEntry, types: readonly unknown[]): boolean {
  return types.includes(fieldOf(fieldOf(record, 'resource_type'), 'key'));
}

/** undefined if the value has no fields. */
export function fieldOf(value: unknown, name: string): unknown {
  return Reflect.get(Object(value), name);
}
