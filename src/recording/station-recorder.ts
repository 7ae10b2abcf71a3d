import { PATH_KEYS, type QueryFilters, type StationPath } from '../model/listing.ts';
import { labelText } from '../model/values.ts';
import type { ResourceSpec } from '../resources/spec.ts';
import { LISTING_FILTERS } from '../resources/station-keys.ts';
import type { ListedPage } from '../service/request-observer.ts';
import { anonymized, ENVELOPE, ID_RECORD, Pseudonyms, RECORD } from './anonymous-record.ts';
import type { RecordedListing, Recording } from './recording.ts';

type RecordedPage = RecordedListing['pages'][number];

interface CollectedListing extends Pick<ListedPage, 'kind'> {
  readonly filters: QueryFilters;
  readonly pages: RecordedPage[];
}

export class StationRecorder {
  readonly #pseudonyms = new Pseudonyms();
  readonly #listings = new Map<string, CollectedListing>();

  add({ kind, query: { filters }, offset, size, body }: ListedPage): void {
    const key = JSON.stringify([kind, filters]);
    // Offset 0 starts a listing again and replaces the previous attempt.
    const started = offset === 0 ? undefined : this.#listings.get(key);
    const listing = started ?? { kind, filters, pages: [] };
    const listed = JSON.parse(new TextDecoder().decode(body)) as Pick<RecordedPage, 'resources'>;
    const how = kind === 'ids' ? ID_RECORD : RECORD;
    const resources = listed.resources?.map((record) => anonymized(record, how, this.#pseudonyms));
    const envelope = anonymized(listed, ENVELOPE, this.#pseudonyms) as Pick<RecordedPage, 'page'>;
    // A list that is left out, or null, stays so.
    listing.pages.push({ offset, size, ...envelope, ...('resources' in listed && { resources: resources ?? null }) });
    this.#listings.set(key, listing);
  }

  recording({ path, filters, products, alertability }: ResourceSpec): Recording {
    const anonymous = (text: string) => this.#pseudonyms.of(labelText(text));
    // The listing of the resources first.
    const sorted = [...this.#listings.values()].toSorted((a, b) => b.kind.localeCompare(a.kind));
    const listings = sorted.map((listing) => ({
      filters: recordedFilters(listing.filters, anonymous),
      pages: listing.pages.toSorted((a, b) => a.offset - b.offset),
    }));
    return {
      version: 1,
      station: {
        ...(Object.fromEntries(PATH_KEYS.map((key) => [key, anonymous(path[key])])) as StationPath),
        filters: recordedFilters(filters, anonymous),
        products: [...products],
        alertability,
      },
      listings,
    };
  }
}

/** As the service reads the parameters: without those that do not filter. */
function recordedFilters(filters: QueryFilters, anonymous: (text: string) => string): RecordedListing['filters'] {
  const filtering = Object.entries(filters).filter(([, value]) => Boolean(value));
  return Object.fromEntries(
    filtering.map(([name, value]) => {
      const texts = [value].flat().map(String);
      return [name, KEPT_FILTERS.includes(name) ? texts : texts.map(anonymous)];
    }),
  );
}

/** All others may contain IDs or names. */
const KEPT_FILTERS = Object.entries(LISTING_FILTERS).flatMap(([name, { recorded }]) =>
  recorded === 'kept' ? name : [],
);

/** A recording as JSON, a page per line, so that a large one never becomes one string. */
export function* recordingPieces({ listings, ...recording }: Recording): Iterable<string> {
  yield `${JSON.stringify(recording).slice(0, -1)},"listings":[`;
  for (const [at, { filters, pages }] of listings.entries()) {
    yield `${at === 0 ? '' : ','}\n{"filters":${JSON.stringify(filters)},"pages":[`;
    for (const [index, page] of pages.entries()) yield `${index === 0 ? '' : ','}\n${JSON.stringify(page)}`;
    yield '\n]}';
  }
  yield '\n]}\n';
}
