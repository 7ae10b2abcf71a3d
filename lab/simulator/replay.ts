import { type RecordedListing, type Recording, recordingSchema } from '../../src/recording/recording.ts';
import type { ListingBody } from './faults.ts';
import {
  FILTER_NAMES,
  type Filters,
  fieldOf,
  isSamePath,
  type ListingRequest,
  REPEATED,
  type SourceEntry,
} from './listing.ts';
import type { RecordSource, ServiceOptions } from './service.ts';
import { type ConfiguredService, type ReplayOptions, startConfigured } from './simulation.ts';

type ParsedRecording =
  | { readonly ok: true; readonly recording: Recording }
  | { readonly ok: false; readonly problems: readonly string[] };

/** Reports the first problems only: a file of another kind has many. */
export function parseRecording(text: string): ParsedRecording {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { ok: false, problems: [`expected JSON: ${(error as Error).message}`] };
  }
  const read = recordingSchema.safeParse(value);
  if (read.success) return { ok: true, recording: read.data };
  const problems = read.error.issues.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')}: ${message}`,
  );
  return { ok: false, problems: problems.slice(0, MAX_PROBLEMS) };
}

const MAX_PROBLEMS = 5;

/** Serves a recording, with an exporter configuration that reproduces its requests. */
export function startReplay(
  recording: Recording,
  { faults = [], ...options }: ReplayOptions,
): Promise<ConfiguredService> {
  const [main] = recording.listings;
  return startConfigured(
    { ...options, source: recordedSource(recording), replay: recordedPages(recording), faults: () => faults },
    [recordedStation(recording)],
    // Recorded pages are only found with the recorded page size.
    { pageSize: main?.pages[0]?.size ?? 1 },
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
    new Set(further.filter(({ filters }) => matches(filters)).flatMap(({ pages }) => replayedRecords(pages).map(idOf)));
  const alertable = members(({ enabled_alert }) => enabled_alert !== undefined);
  const products = station.products.map((product) => ({
    product,
    ids: members((filters) => filters.product?.[0] === product),
  }));
  const entries = replayedRecords((main as RecordedListing).pages).map((record): SourceEntry => {
    const id = idOf(record);
    const product = products.find(({ ids }) => ids.has(id))?.product ?? '';
    return { record, product, alertable: alertable.has(id) };
  });
  return (path) => (isSamePath(path, station) ? entries : undefined);
}

/** Pages may overlap: a record counts where the first page has it. */
function replayedRecords(pages: RecordedListing['pages']): readonly unknown[] {
  let end = 0;
  return pages.flatMap(({ offset, resources }) => {
    const further = (resources ?? []).slice(Math.max(0, end - offset));
    end = Math.max(end, offset + (resources?.length ?? 0));
    return further;
  });
}

/** In either spelling of protobuf's mapping to JSON. */
const idOf = (record: unknown) => fieldOf(record, 'resource_id') ?? fieldOf(record, 'resourceId');

/** With its filters as in the exporter configuration. */
function recordedStation({ station }: Recording) {
  const { enabled_alert, ...texts } = station.filters;
  const configured = Object.entries(texts).map(([name, values]) => [name, REPEATED.has(name) ? values : values[0]]);
  const filters = { ...Object.fromEntries(configured), enabled_alert: enabled_alert && true };
  return { name: 'recorded', upstream: 'recorded', ...station, filters };
}
