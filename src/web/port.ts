import type { Body } from '../metrics/body.ts';
import type { ExpositionFormat } from '../metrics/encoding.ts';
import type { FailureReason } from '../station/failure.ts';

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
  /** undefined: no snapshot is served. */
  readonly resources: number | undefined;
  readonly complete: boolean | undefined;
}

/** What the web needs of the running exporter. */
export interface ExporterPort {
  stations(): readonly StationStatus[];
  /** `station` narrows the exposition to that one. Never rejects because the service fails. */
  scrape(format: ExpositionFormat, station: string | undefined, signal: AbortSignal): Promise<Body>;
  ready(): boolean;
  /** The problems that kept the old configuration in force; none: the new one is. */
  reload(): Promise<readonly string[]>;
  /** The configuration in force as YAML, secrets hidden. */
  configuration(): string;
}
