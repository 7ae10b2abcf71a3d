import type { ListingBody } from './faults.ts';
import { FILTER_NAMES, type Filters, fieldOf, isSamePath, type ListingRequest, type SourceEntry } from './listing.ts';
import type { Recording } from './recording.ts';
import type { RecordSource, ServiceOptions } from './service.ts';
import { type ConfiguredService, type ReplayOptions, startConfigured } from './simulation.ts';

type RecordedListing = Recording['listings'][number];

/** Serves a recording, with an exporter configuration that reproduces its requests. */
export function startReplay(
  recording: Recording,
  { faults = [], auth, ...options }: ReplayOptions,
): Promise<ConfiguredService> {
  const [main] = recording.listings;
  return startConfigured(
    { ...options, source: recordedSource(recording), replay: recordedPages(recording), faults: () => faults },
    [recordedStation(recording)],
    // Recorded pages are only found with the recorded page size.
    { pageSize: main?.pages[0]?.size ?? 1, auth },
  );
}

/** Recorded requests get the recorded body. */
function recordedPages({ listings }: Recording): NonNullable<ServiceOptions['replay']> {
  const pages = new Map<string, ListingBody>();
  // Listings with the same filters differ in their fields: the first one has all. Of a repeated request the last reply is the one that was used.
  for (const { filters, pages: recorded } of listings.toReversed()) {
    for (const { offset, size, ...envelope } of recorded) pages.set(requestKey({ filters, offset, size }), envelope);
  }
  return (request) => pages.get(requestKey(request));
}

function requestKey({ filters, offset, size }: Omit<ListingRequest, 'path'>): string {
  return JSON.stringify([FILTER_NAMES.map((name) => filters[name]), offset, size]);
}

/** Other requests are answered from the recorded records. */
function recordedSource({ station, listings: [main, ...further] }: Recording): RecordSource {
  const members = (matches: (filters: Filters) => boolean) =>
    new Set(further.filter(({ filters }) => matches(filters)).flatMap(({ pages }) => recordsOf(pages).map(idOf)));
  const alertable = members(({ enabled_alert }) => enabled_alert !== undefined);
  const products = station.products.map((product) => ({
    product,
    ids: members((filters) => filters.product?.[0] === product),
  }));
  const entries = recordsOf((main as RecordedListing).pages).map((record): SourceEntry => {
    const id = idOf(record);
    const product = products.find(({ ids }) => ids.has(id))?.product ?? '';
    return { record, product, alertable: alertable.has(id) };
  });
  return (path) => (isSamePath(path, station) ? entries : undefined);
}

/** Pages may overlap: a record counts where the first page has it. */
function recordsOf(pages: RecordedListing['pages']): readonly unknown[] {
  let end = 0;
  return pages.flatMap(({ offset, resources }) => {
    const further = (resources ?? []).slice(Math.max(0, end - offset));
    end = Math.max(end, offset + (resources?.length ?? 0));
    return further;
  });
}

const idOf = (record: unknown) => fieldOf(record, 'resource_id');

function recordedStation({ station }: Recording) {
  const { resource_type, product, resource_display_name_prefix, enabled_alert, ...repeated } = station.filters;
  return {
    name: 'recorded',
    upstream: 'recorded',
    ...station,
    filters: {
      ...repeated,
      resource_type: resource_type?.[0],
      product: product?.[0],
      resource_display_name_prefix: resource_display_name_prefix?.[0],
      enabled_alert: enabled_alert && true,
    },
  };
}
