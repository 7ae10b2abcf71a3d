import type { ListingFilters, ListingQuery } from '../station/listing.ts';

interface PathStyle {
  readonly baseUrl: URL;
  readonly listStyle: 'repeat' | 'comma';
}

/** A listing's path and query without its paging, encoded as it goes over the wire: signatures cover these very characters. */
export function listingPath({ path, filters }: ListingQuery, { baseUrl, listStyle }: PathStyle): string {
  const parts = [
    ...['monitor', 'ts', 'data', 'v1'],
    ...['subscriptions', path.subscription],
    ...['resourceGroups', path.resourceGroup],
    ...['zones', path.zone],
    ...['telemetryStations', path.telemetryStation],
    'resources',
  ];
  const query = [...filterParameters(filters, listStyle)].map(([name, value]) => `${name}=${value}&`).join('');
  return `${baseUrl.pathname.replace(/\/+$/, '')}/${parts.map(encoded).join('/')}?${query}`;
}

export function pagePath(listing: string, offset: number, size: number): string {
  return `${listing}page.offset=${offset}&page.size=${size}`;
}

function* filterParameters(filters: ListingFilters, listStyle: PathStyle['listStyle']): Iterable<[string, string]> {
  yield* list('resource_ids', filters.resourceIds, listStyle);
  if (filters.resourceType !== undefined) yield ['resource_type', encoded(filters.resourceType)];
  yield* list('resource_types', filters.resourceTypes, listStyle);
  if (filters.product !== undefined) yield ['product', encoded(filters.product)];
  if (filters.displayNamePrefix !== undefined) yield ['resource_display_name_prefix', encoded(filters.displayNamePrefix)];
  if (filters.enabledAlert !== undefined) yield ['enabled_alert', String(filters.enabledAlert)];
}

function* list(name: string, values: readonly string[] = [], style: PathStyle['listStyle']): Iterable<[string, string]> {
  if (style === 'repeat') for (const value of values) yield [name, encoded(value)];
  else if (values.length > 0) yield [name, values.map(encoded).join(',')];
}

function encoded(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}
