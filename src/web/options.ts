import type { AccessRules } from './access/rules.ts';

/** Settings of the web server, from the command line. */
export interface WebOptions {
  /** Begins with a slash. */
  readonly telemetryPath: string;
  /** URL of the exporter as clients see it, for example behind a reverse proxy; its path is served as a prefix too. */
  readonly externalUrl?: URL;
  readonly enableLifecycle: boolean;
  /** Concurrent scrapes; 0: no limit. */
  readonly maxRequests: number;
  readonly scrapeTimeoutMs: number;
  readonly timeoutOffsetMs: number;
  readonly version: string;
  /** The rules in force when a request arrives; default: open access. */
  readonly access?: () => AccessRules;
  /** Wall-clock milliseconds; default: the system clock. */
  readonly now?: () => number;
  /** Called with errors that are exporter bugs. */
  readonly report: (error: unknown) => void;
}
