import { stringify } from 'yaml';
import { authConfig, SIMULATED_CREDENTIALS, type SimulatedScheme } from './auth.ts';
import type { Fault, ListingBody } from './faults.ts';
import type { RecordedPages, RecordSource, SourceEntry } from './listing-reply.ts';
import type { Filters, ListingRequest, StationPath } from './listing-request.ts';
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
    requestLogSize: 100,
    ...(auth && { auth: SIMULATED_CREDENTIALS[auth] }),
  });
  return { service, config: replayConfig(recording, service.url, auth) };
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
  return (path) => (isStation(path, station) ? entries : undefined);
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

function idOf(record: unknown): unknown {
  return typeof record === 'object' && record !== null ? Reflect.get(record, 'resource_id') : undefined;
}

function isStation(path: StationPath, station: Recording['station']): boolean {
  return (
    path.subscription === station.subscription &&
    path.resourceGroup === station.resource_group &&
    path.zone === station.zone &&
    path.telemetryStation === station.telemetry_station
  );
}

function replayConfig({ station, listings }: Recording, baseUrl: string, auth: SimulatedScheme | undefined): string {
  const { resource_ids, resource_types, resource_type, product, resource_display_name_prefix, enabled_alert } =
    station.filters;
  const config = {
    // Recorded pages are only found with the recorded page size.
    upstreams: {
      recorded: { base_url: baseUrl, page_size: listings[0]?.pages[0]?.size, ...authConfig(auth, baseUrl) },
    },
    stations: [
      {
        name: 'recorded',
        ...station,
        filters: {
          resource_ids,
          resource_types,
          resource_type: resource_type?.[0],
          product: product?.[0],
          resource_display_name_prefix: resource_display_name_prefix?.[0],
          enabled_alert: enabled_alert && true,
        },
      },
    ],
    cache: { ttl: '15s', max_stale: '5m', error_ttl: '5s' },
  };
  // Recorded text must not be expanded as an environment variable.
  return stringify(config, { aliasDuplicateObjects: false }).replaceAll('${', '$${');
}
