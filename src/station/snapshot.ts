import type { Listing, ListingContext, ListingFilters, ListResources } from './listing.ts';
import type { Resource } from './resource.ts';
import type { StationSpec } from './spec.ts';

/** A station's resources as they were once; never changed, only replaced. */
export interface Snapshot extends Omit<Listing, 'records'> {
  readonly resources: ReadonlyMap<string, Resource>;
}

/** Lists the station, its products and its alertable resources side by side, and joins them by id. */
export async function takeSnapshot(spec: StationSpec, list: ListResources, context: ListingContext): Promise<Snapshot> {
  const ask = (filters: ListingFilters) => list({ path: spec.path, filters: { ...spec.filters, ...filters } }, context);
  const main = ask({});
  const alertable = spec.alertability ? alertableListing(spec, main, ask) : undefined;
  const products = spec.products.map((product) => ask({ product }));
  const listings = await Promise.all([...new Set([main, ...(alertable ? [alertable] : []), ...products])]);
  const whole = await main;
  return {
    ...whole,
    resources: join(whole, spec.products, await Promise.all(products), await alertable),
    complete: listings.every((listing) => listing.complete),
    pages: listings.reduce((sum, listing) => sum + listing.pages, 0),
  };
}

/** A station that lists alertable resources alone needs no second listing to know them. */
function alertableListing(spec: StationSpec, main: Promise<Listing>, ask: (filters: ListingFilters) => Promise<Listing>): Promise<Listing> {
  return spec.filters.enabledAlert === true ? main : ask({ enabledAlert: true });
}

function join(
  main: Listing,
  names: readonly string[],
  products: readonly Listing[],
  alertable: Listing | undefined,
): Snapshot['resources'] {
  const resources = new Map<string, Resource>();
  for (const [id, record] of main.records) {
    const product = names[products.findIndex((listing) => listing.records.has(id))] ?? '';
    resources.set(id, { ...record, product, alertable: isAlertable(id, alertable) });
  }
  return resources;
}

/** Only a listing that is proven whole can say of a resource which it lacks that it cannot have alerts. */
function isAlertable(id: string, alertable: Listing | undefined): boolean | undefined {
  if (alertable?.records.has(id)) return true;
  return alertable?.complete ? false : undefined;
}
