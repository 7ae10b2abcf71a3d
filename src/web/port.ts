import type { CapacityForecast, UpstreamLoad } from '../inventory/capacity.ts';
import type { HistoryEntry } from '../inventory/history.ts';
import type { LinkTemplate } from '../inventory/links.ts';
import type { SearchResult } from '../inventory/search.ts';
import type { Order, Selection } from '../inventory/selection.ts';
import type { Aggregates } from '../metrics/aggregates.ts';
import type { Body } from '../metrics/segment.ts';
import type { ExpositionFormat } from '../metrics/text-format.ts';
import type { FailureReason } from '../model/failure.ts';
import type { Resource } from '../model/resource.ts';
import type { StationSpec } from '../model/station-spec.ts';
import type { Snapshot } from '../refresh/snapshot.ts';

/** State of a station as the pages show it. */
export interface StationStatus {
  readonly name: string;
  readonly upstream: string;
  readonly telemetryStation: string;
  /** undefined: not tried yet. */
  readonly up: boolean | undefined;
  readonly failure: { readonly reason: FailureReason; readonly message: string } | undefined;
  readonly lastSuccessMs: number | undefined;
  readonly lastAttemptMs: number | undefined;
  /** Duration of the latest attempt. */
  readonly durationMs: number | undefined;
  /** Time until the next refresh is due; 0 or less: due now. */
  readonly dueInMs: number;
  readonly isRefreshing: boolean;
  /** For how long the refresh has waited for the upstream's capacity; undefined: it does not wait. */
  readonly waitingMs: number | undefined;
  /** The latest request got no reply: the station is limited to one probing request at a time. */
  readonly isHanging: boolean;
  /** What triggers a due refresh: a scrape or the background timer. */
  readonly refresh: 'scrape' | 'background';
  /** undefined: no snapshot is served. */
  readonly snapshot: SnapshotStatus | undefined;
}

/** Aggregates of a snapshot. */
interface SnapshotStatus {
  readonly resources: number;
  readonly complete: boolean;
  readonly pages: number;
  /** Resources that can have alerts; undefined: `alertability` is not enabled. */
  readonly alertable: number | undefined;
  /** Resources without alert rules, with `alertability` among the alertable ones; undefined: the service reported no counts. */
  readonly withoutRules: number | undefined;
}

/** The load of an upstream as the pages show it. */
export interface UpstreamStatus {
  readonly name: string;
  readonly load: UpstreamLoad;
  /** undefined: too little is known. */
  readonly forecast: CapacityForecast | undefined;
}

/** A station as its page shows it. */
export interface StationDetail {
  readonly spec: StationSpec;
  readonly upstream: UpstreamStatus;
  readonly status: StationStatus;
  readonly served: ServedSnapshot | undefined;
  /** Of the configuration. */
  readonly links: readonly LinkTemplate[];
}

interface ServedSnapshot {
  readonly snapshot: Snapshot;
  readonly aggregates: Aggregates;
  /** Per-resource series withheld by `metrics.max_resources`. */
  readonly withheld: number;
}

/** The interface of the running exporter that the web server needs. */
export interface ExporterPort {
  /** Names of all stations; cheaper than `stations`, which aggregates snapshots. */
  names(): readonly string[];
  /** Whether a station has this name; cheaper than `station`, which describes its upstream. */
  has(name: string): boolean;
  stations(): readonly StationStatus[];
  upstreams(): readonly UpstreamStatus[];
  station(name: string): StationDetail | undefined;
  /** The refreshes of the station, the latest first; undefined if no station has this name. */
  history(name: string): readonly HistoryEntry[] | undefined;
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
  /** Searches the resources of all stations; `limit` of those found are returned. Rejects with the reason of the signal once it aborts. */
  search(text: string, limit: number, signal: AbortSignal): Promise<SearchResult>;
  /** The series of a resource as lines of the exposition. */
  seriesOf(spec: StationSpec, resource: Resource): string;
  /** All stations, or only `station`. Does not reject when the service fails. */
  scrape(format: ExpositionFormat, station: string | undefined, signal: AbortSignal): Promise<Body>;
  ready(): boolean;
  /** The problems for which the new configuration was rejected; empty on success. */
  reload(): Promise<readonly string[]>;
  /** The configuration in force as YAML, with secrets redacted. */
  configuration(): string;
}
