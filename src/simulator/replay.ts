import { SIMULATED_CREDENTIALS, type SimulatedScheme } from './auth.ts';
import { exporterConfig } from './exporter-config.ts';
import type { Fault, ListingBody } from './faults.ts';
import { fieldOf, type RecordedPages, type RecordSource, type SourceEntry } from './listing-reply.ts';
import { type Filters, isSamePath, type ListingRequest } from './listing-request.ts';
import type { Recording } from './recording.ts';
import { type SimulatedService, startSimulatedService } from './service.ts';

type RecordedListing = Recording['listings'][number];

interface ReplayOptions {
  readonly recording: Recording;
  readonly seed: number;
  readonly now: () => number;
  readonly port: number;
  readonly faults: readonly Fault[];
  readonly auth: SimulatedScheme | undefined;
}

/** Serves a recording, with an exporter configuration that reproduces its requests. */
export async function startReplay({
  recording,
  faults,
  auth,
  ...options
}: ReplayOptions): Promise<{ service: SimulatedService; config: string }> {
  const service = await startSimulatedService({
    ...options,
    source: recordedSource(recording),
    replay: recordedPages(recording),
    faults: { '*': faults },
    auth: auth && SIMULATED_CREDENTIALS[auth],
  });
  const [main] = recording.listings;
  const config = exporterConfig(service.url, {
    stations: [recordedStation(recording)],
    // Recorded pages are only found with the recorded page size.
    pageSize: main?.pages[0]?.size ?? 1,
    refresh: 'scrape',
    auth,
  });
  return { service, config };
}

/** Recorded requests get the recorded body. */
function recordedPages({ listings }: Recording): RecordedPages {
  const pages = new Map<string, ListingBody>();
  // Listings with the same filters differ in their fields: the first one has all. Of a repeated request the last reply is the one that was used.
  for (const { filters, pages: recorded } of listings.toReversed()) {
    for (const { offset, size, ...envelope } of recorded) pages.set(requestKey({ filters, offset, size }), envelope);
  }
  return (request) => pages.get(requestKey(request));
}

function requestKey({ filters, offset, size }: Pick<ListingRequest, 'filters' | 'offset' | 'size'>): string {
  const sorted = Object.entries(filters).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([sorted, offset, size]);
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
