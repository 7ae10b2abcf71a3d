import type { AccessRules } from './access/rules.ts';

/** What the operator decides about the web server. */
export interface WebOptions {
  /** Begins with a slash. */
  readonly telemetryPath: string;
  /** How clients reach the exporter, when that is not what they ask for: its path is served as a prefix too. */
  readonly externalUrl?: URL;
  readonly enableLifecycle: boolean;
  /** Scrapes at once; 0: no limit. */
  readonly maxRequests: number;
  readonly scrapeTimeoutMs: number;
  readonly timeoutOffsetMs: number;
  readonly version: string;
  /** The rules in force when a request arrives; left out, everyone may ask. */
  readonly access?: () => AccessRules;
  /** Wall-clock milliseconds; left out, the system's. */
  readonly now?: () => number;
  /** Told of errors that are our own bugs. */
  readonly report: (error: unknown) => void;
}
