import type { Recording } from '../simulator/recording.ts';
import type { ListingFilters } from '../station/listing.ts';
import { labelText } from '../station/resource.ts';
import type { StationSpec } from '../station/station-spec.ts';
import type { ListedPage } from '../upstream/observer.ts';
import { anonymousId, anonymousPage, anonymousRecord, Pseudonyms } from './anonymous-record.ts';

type RecordedListing = Recording['listings'][number];
type RecordedPage = RecordedListing['pages'][number];

interface KeptListing extends Pick<ListedPage, 'rows'> {
  readonly filters: ListingFilters;
  readonly pages: RecordedPage[];
}

/** Keeps the pages of a station's listings as they come, and nothing in them that tells whose they are. */
export class StationRecorder {
  readonly #pseudonyms: Pseudonyms;
  readonly #listings = new Map<string, KeptListing>();

  constructor(pseudonyms: Pseudonyms = new Pseudonyms()) {
    this.#pseudonyms = pseudonyms;
  }

  add({ rows, query: { filters }, offset, size, body }: ListedPage): void {
    const key = JSON.stringify([rows, filters]);
    // A listing that is begun again replaces what came before.
    const known = offset === 0 ? undefined : this.#listings.get(key);
    const listing = known ?? { rows, filters, pages: [] };
    const envelope = JSON.parse(new TextDecoder().decode(body)) as {
      readonly resources: readonly unknown[] | null;
      readonly page?: unknown;
    };
    const anonymous = rows === 'ids' ? anonymousId : anonymousRecord;
    const resources = envelope.resources?.map((record) => anonymous(record, this.#pseudonyms)) ?? null;
    const page = Object.hasOwn(envelope, 'page') ? { page: anonymousPage(envelope.page, this.#pseudonyms) } : {};
    listing.pages.push({ offset, size, ...page, resources });
    this.#listings.set(key, listing);
  }

  recording({ path, filters, products, alertability }: StationSpec): Recording {
    const anonymous = (text: string) => this.#pseudonyms.of(labelText(text));
    const all = [...this.#listings.values()];
    const listings = [...all.filter(({ rows }) => rows === 'resources'), ...all.filter(({ rows }) => rows === 'ids')].map((listing) => ({
      filters: wireFilters(listing.filters, anonymous),
      pages: listing.pages.toSorted((a, b) => a.offset - b.offset),
    }));
    return {
      version: 1,
      station: {
        subscription: anonymous(path.subscription),
        resource_group: anonymous(path.resourceGroup),
        zone: anonymous(path.zone),
        telemetry_station: anonymous(path.telemetryStation),
        filters: wireFilters(filters, anonymous),
        products: [...products],
        alertability,
      },
      listings,
    };
  }
}

/** As they are sent; one that narrows nothing is left out. */
function wireFilters(filters: ListingFilters, anonymous: (text: string) => string): RecordedListing['filters'] {
  const { resourceIds, resourceType, resourceTypes, product, displayNamePrefix, enabledAlert } = filters;
  return {
    ...(resourceIds && { resource_ids: resourceIds.map(anonymous) }),
    ...(resourceType && { resource_type: [resourceType] }),
    ...(resourceTypes && { resource_types: [...resourceTypes] }),
    ...(product && { product: [product] }),
    ...(displayNamePrefix && { resource_display_name_prefix: [anonymous(displayNamePrefix)] }),
    ...(enabledAlert && { enabled_alert: ['true'] }),
  };
}

/** A recording as JSON, a page per line: a large one never is one text. */
export function* recordingPieces({ listings, ...recording }: Recording): Iterable<string> {
  yield `${JSON.stringify(recording).slice(0, -1)},"listings":[`;
  for (const [at, { filters, pages }] of listings.entries()) {
    yield `${at === 0 ? '' : ','}\n{"filters":${JSON.stringify(filters)},"pages":[`;
    for (const [index, page] of pages.entries()) yield `${index === 0 ? '' : ','}\n${JSON.stringify(page)}`;
    yield '\n]}';
  }
  yield '\n]}\n';
}
