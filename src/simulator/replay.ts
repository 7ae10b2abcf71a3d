import { stringify } from 'yaml';
import type { Entry, Replay, Source } from './answer.ts';
import type { Call, Filters, StationPath } from './call.ts';
import type { Envelope, Fault } from './faults.ts';
import type { Recording } from './recording.ts';
import { type SimulatedService, startSimulatedService } from './service.ts';

type RecordedListing = Recording['listings'][number];

interface ReplayOptions {
  readonly recording: Recording;
  readonly seed: number;
  readonly now: () => number;
  readonly port: number;
  readonly faults: readonly Fault[];
}

/** The service with what it once answered, and a configuration that publishes that again. */
export async function startReplay({
  recording,
  faults,
  ...options
}: ReplayOptions): Promise<{ service: SimulatedService; config: string }> {
  const service = await startSimulatedService({
    ...options,
    source: recordedSource(recording),
    replay: recordedPages(recording),
    faults: { '*': faults },
    keptRequests: 100,
  });
  return { service, config: replayConfig(recording, service.url) };
}

/** To a question that was asked before, the answer of then. */
function recordedPages({ listings }: Recording): Replay {
  const pages = new Map<string, Envelope>();
  for (const listing of listings) {
    for (const { offset, size, ...envelope } of listing.pages) {
      const key = questionKey({ filters: listing.filters, offset, size });
      if (!pages.has(key)) pages.set(key, envelope);
    }
  }
  return (call) => pages.get(questionKey(call));
}

function questionKey({ filters, offset, size }: Pick<Call, 'filters' | 'offset' | 'size'>): string {
  const given = Object.entries(filters).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([given, offset, size]);
}

/** To any other question, an answer from the same records. */
function recordedSource({ station, listings: [main, ...further] }: Recording): Source {
  const members = (wanted: (filters: Filters) => boolean) =>
    new Set(further.filter(({ filters }) => wanted(filters)).flatMap(({ pages }) => recordsOf(pages).map(idOf)));
  const alertable = members(({ enabled_alert }) => enabled_alert !== undefined);
  const products = station.products.map((product) => ({ product, ids: members((filters) => filters.product?.[0] === product) }));
  const entries = recordsOf((main as RecordedListing).pages).map((record): Entry => {
    const id = idOf(record);
    const product = products.find(({ ids }) => ids.has(id))?.product ?? '';
    return { record, product, alertable: alertable.has(id) };
  });
  return (path) => (isStation(path, station) ? entries : undefined);
}

function recordsOf(pages: RecordedListing['pages']): readonly unknown[] {
  return pages.flatMap(({ resources }) => resources ?? []);
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

function replayConfig({ station, listings }: Recording, baseUrl: string): string {
  const { resource_ids, resource_types, resource_type, product, resource_display_name_prefix, enabled_alert } = station.filters;
  const config = {
    // The same pages are asked for as then.
    upstreams: { recorded: { base_url: baseUrl, page_size: listings[0]?.pages[0]?.size } },
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
  // What looks like a variable of the environment is none.
  return stringify(config, { aliasDuplicateObjects: false }).replaceAll('${', '$${');
}
