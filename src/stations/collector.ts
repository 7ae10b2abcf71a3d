import type { SegmentsByFamily } from '../exposition/segment.ts';
import type { PagesPerInterval, RefreshContext } from '../model/listing.ts';
import type { StationSpec } from '../model/station-spec.ts';

/** The types of a collector: how a station is configured, what is served of it for pages, and what a refresh reports. */
export interface CollectorTypes {
  readonly spec: StationSpec;
  readonly data: unknown;
  readonly report: unknown;
}

export interface MetricsOnly extends CollectorTypes {
  readonly data: undefined;
  readonly report: undefined;
}

/** What scrapes and pages get of a station. */
export interface StationOutput<Data> {
  readonly data: Data;
  /** The same object while nothing changed, so that scrapes reuse what they have joined. */
  readonly families: SegmentsByFamily;
  /** Series left out because of a limit. */
  readonly withheld: number;
  /** What it costs to read all listings again. */
  readonly repeated: readonly PagesPerInterval[];
}

export interface Collected<T extends CollectorTypes> {
  readonly served: StationOutput<T['data']>;
  /** For the journal; not kept. */
  readonly report: T['report'];
  /** Makes it the base of the next refresh; not called when the station was closed meanwhile. */
  readonly commit: () => void;
}

/** Collects the data of one station from the service, and encodes it. */
export interface StationCollector<T extends CollectorTypes> {
  /** The value of the label `collector`. */
  readonly name: string;
  /**
   * Rejects with a ListingFailure. The signal of the context aborts when the refresh times out, which ends listings but not the encoding of
   * what they have read.
   */
  collect(context: RefreshContext): Promise<Collected<T>>;
  /** Called before the first refresh after a reload, with what is served until then, of the same service or of another one. */
  adopt(served: T['data'], isSameService: boolean): void;
}
