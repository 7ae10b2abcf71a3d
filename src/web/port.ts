import type { Aggregates } from '../metrics/aggregates.ts';
import type { Body } from '../metrics/segment.ts';
import type { ExpositionFormat } from '../metrics/text-format.ts';
import type { FailureReason } from '../station/failure.ts';
import type { Resource } from '../station/resource.ts';
import type { Order, Selection } from '../station/selection.ts';
import type { Snapshot } from '../station/snapshot.ts';
import type { StationSpec } from '../station/station-spec.ts';

/** What the status page shows of one station. */
export interface StationStatus {
  readonly name: string;
  readonly upstream: string;
  readonly telemetryStation: string;
  /** undefined: not tried yet. */
  readonly up: boolean | undefined;
  readonly failure: { readonly reason: FailureReason; readonly message: string } | undefined;
  readonly lastSuccessMs: number | undefined;
  readonly lastAttemptMs: number | undefined;
  /** Of the latest attempt. */
  readonly durationMs: number | undefined;
  /** How long until the service may be asked again; 0 or less: by the next scrape, or now where the exporter asks by itself. */
  readonly dueInMs: number;
  readonly isRefreshing: boolean;
  /** Who asks for the next refresh: whichever scrape finds it due, or the exporter by itself. */
  readonly refresh: 'scrape' | 'background';
  /** undefined: no snapshot is served. */
  readonly snapshot: SnapshotStatus | undefined;
}

/** What is told of a snapshot without looking into it. */
interface SnapshotStatus {
  readonly resources: number;
  readonly complete: boolean;
  readonly pages: number;
  /** Resources that can have alerts; undefined: nobody asked. */
  readonly alertable: number | undefined;
  /** Resources that have no alert rule, among the alertable ones where those are known; undefined: the service gave no numbers. */
  readonly withoutRules: number | undefined;
}

/** All that the web shows of one station. */
export interface StationDetail {
  readonly spec: StationSpec;
  readonly status: StationStatus;
  readonly served: ServedSnapshot | undefined;
}

interface ServedSnapshot {
  readonly snapshot: Snapshot;
  readonly aggregates: Aggregates;
  /** Series of single resources that are left out because there are too many. */
  readonly withheld: number;
}

/** What the web needs of the running exporter. */
export interface ExporterPort {
  /** Of all stations: cheaper than `stations` by what is added up there. */
  names(): readonly string[];
  stations(): readonly StationStatus[];
  station(name: string): StationDetail | undefined;
  select(snapshot: Snapshot, selection: Selection, order: Order | undefined): Promise<readonly Resource[]>;
  /** The lines that a resource has in the exposition. */
  linesOf(spec: StationSpec, resource: Resource): string;
  /** `station` narrows the exposition to that one. Never rejects because the service fails. */
  scrape(format: ExpositionFormat, station: string | undefined, signal: AbortSignal): Promise<Body>;
  ready(): boolean;
  /** The problems that kept the old configuration in force; none: the new one is. */
  reload(): Promise<readonly string[]>;
  /** The configuration in force as YAML, secrets hidden. */
  configuration(): string;
}
