import type { SegmentsByFamily } from '../exposition/segment.ts';
import { hasSameElements, type ListingContext, type RepeatedListing } from '../model/listing.ts';
import type { StationSpec } from '../model/station-spec.ts';

/** The types of a collector: how a station is configured, what is served of it for pages, and what a refresh reports. */
export interface Kind {
  readonly spec: StationSpec;
  readonly data: unknown;
  readonly report: unknown;
}

export interface MetricsKind extends Kind {
  readonly data: undefined;
  readonly report: undefined;
}

/** What scrapes and pages get of a station. */
export interface Served<Data> {
  readonly data: Data;
  /** The same object while nothing changed, so that scrapes reuse what they have joined. */
  readonly families: SegmentsByFamily;
  /** Series left out because of a limit. */
  readonly withheld: number;
  /** What it costs to read all listings again. */
  readonly repeated: readonly RepeatedListing[];
}

export interface Collected<K extends Kind> {
  readonly served: Served<K['data']>;
  /** For the journal; not kept. */
  readonly report: K['report'];
  /** Makes it the base of the next refresh; not called when the station was closed meanwhile. */
  readonly commit: () => void;
}

/** Collects the data of one station from the service, and encodes it. */
export interface StationCollector<K extends Kind> {
  /**
   * Rejects with a ListingFailure. The signal of the context aborts when the refresh times out, which ends listings but not the encoding of
   * what they have read.
   */
  collect(context: ListingContext): Promise<Collected<K>>;
  /** Called before the first refresh after a reload, with what is served until then, of the same service or of another one. */
  adopt(served: K['data'], isSameService: boolean): void;
}

/** Several collectors that share refreshes: if one fails, the refresh fails. Pages read the data of the first. */
export function allOf<K extends Kind>(
  main: StationCollector<K>,
  others: readonly StationCollector<MetricsKind>[],
): StationCollector<K> {
  if (others.length === 0) return main;
  let latest: { readonly parts: readonly SegmentsByFamily[]; readonly families: SegmentsByFamily } | undefined;
  return {
    collect: async (context) => {
      const [first, ...further] = await Promise.all([
        main.collect(context),
        ...others.map((other) => other.collect(context)),
      ]);
      const collected = [first, ...further];
      const parts = collected.map(({ served }) => served.families);
      const isSame = latest && hasSameElements(latest.parts, parts);
      const families = isSame && latest ? latest.families : new Map(parts.flatMap((part) => [...part]));
      const served = {
        ...first.served,
        families,
        withheld: collected.reduce((sum, { served: { withheld } }) => sum + withheld, 0),
        repeated: collected.flatMap(({ served: { repeated } }) => repeated),
      };
      const commit = () => {
        latest = { parts, families };
        for (const one of collected) one.commit();
      };
      return { served, report: first.report, commit };
    },
    adopt: (served, isSameService) => main.adopt(served, isSameService),
  };
}
