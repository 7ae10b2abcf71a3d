import type { StationChanges } from '../inventory/changes.ts';
import type { HistoryEntry } from '../inventory/history.ts';
import type { SearchResult } from '../inventory/search.ts';
import type { Order, Selection } from '../inventory/selection.ts';
import type { StationDetail, StationStatus, UpstreamStatus } from '../inventory/station-status.ts';
import type { OwnerCount } from '../inventory/totals.ts';
import type { Body } from '../metrics/exposition.ts';
import type { ExpositionFormat } from '../metrics/text-format.ts';
import type { Resource } from '../model/resource.ts';
import type { StationSpec } from '../model/station-spec.ts';
import type { Snapshot } from '../refresh/snapshot.ts';

/** The interface of the running exporter that the web server needs. */
export interface ExporterPort {
  /** Resolves once the stations exist; until then only `ready` can be used. */
  readonly started: Promise<void>;
  /** For all stations; cheaper than `stations`, which aggregates snapshots. */
  specs(): readonly StationSpec[];
  /** Whether a station has this name; cheaper than `station`, which describes its upstream. */
  has(name: string): boolean;
  stations(): readonly StationStatus[];
  upstreams(): readonly UpstreamStatus[];
  /** The resources of all stations, or only of one, by the labels of `resource_labels`. */
  owners(station?: string): Promise<readonly OwnerCount[]>;
  station(name: string): StationDetail | undefined;
  /** The refreshes of the station, the latest first; undefined if no station has this name. */
  history(name: string): readonly HistoryEntry[] | undefined;
  /** The latest changes of the resources of the station; none if no station has this name. */
  changes(name: string): StationChanges;
  /**
   * Refreshes the station although it is not due, or joins its running refresh. Resolves with its outcome, undefined if a reload ended it.
   * A number: the milliseconds until this is possible again; undefined: no station has this name.
   */
  refresh(name: string): Promise<HistoryEntry | undefined> | number | undefined;
  /** Rejects with the reason of the signal once it aborts. */
  select(
    snapshot: Snapshot,
    selection: Selection,
    order: Order | undefined,
    signal: AbortSignal,
  ): Promise<readonly Resource[]>;
  /** Like `select`, in the resources of all stations. */
  search(selection: Selection, order: Order | undefined, signal: AbortSignal): Promise<SearchResult>;
  /** The series of a resource as lines of the exposition. */
  seriesOf(spec: StationSpec, resource: Resource): string;
  /** All stations, or only `station`. Does not reject when the service fails. */
  scrape(format: ExpositionFormat, station: string | undefined, signal: AbortSignal): Promise<Body>;
  /** The exporter's own metrics alone. */
  scrapeOwn(format: ExpositionFormat): Promise<Body>;
  ready(): boolean;
  /** The problems for which the new configuration was rejected; empty on success. */
  reload(): Promise<readonly string[]>;
  /** The latest reload, if it was rejected. */
  rejectedReload(): RejectedReload | undefined;
  /** The configuration in force as YAML, with secrets redacted. */
  configuration(): string;
}

export interface RejectedReload {
  readonly atMs: number;
  readonly problems: readonly string[];
}
