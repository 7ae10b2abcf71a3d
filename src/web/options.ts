import type { WebLimit } from '../metrics/own-families.ts';
import type { AccessRules } from './access/rules.ts';

/** Settings of the web server, from the command line. */
export interface WebOptions {
  /** Begins with a slash. */
  readonly telemetryPath: string;
  /** URL of the exporter as clients see it, for example behind a reverse proxy; its path is served as a prefix too. */
  readonly externalUrl?: URL;
  /** Names that the Host header may have, besides addresses, localhost and the host of the external URL; empty: any. */
  readonly allowedHosts: readonly string[];
  readonly enableLifecycle: boolean;
  /** Scrapes of /metrics, and of /probe, that wait for refreshes; further ones are answered from the cache. 0: no limit. */
  readonly maxRequests: number;
  /** Bytes held by responses of /metrics, and of /probe, that clients have not read; further scrapes are refused. 0: no limit. */
  readonly maxResponseMemory: number;
  readonly scrapeTimeoutMs: number;
  readonly timeoutOffsetMs: number;
  readonly version: string;
  /** The rules in force when a request arrives. */
  readonly access: () => AccessRules;
  readonly observer: WebObserver;
  /** Wall-clock milliseconds. */
  readonly now: () => number;
  /** Monotonic milliseconds. */
  readonly elapsedMs: () => number;
  /** Called with errors that are exporter bugs. */
  readonly report: (error: unknown) => void;
}

/** Receives what the metrics and the log of the exporter show about the web server. */
export interface WebObserver {
  /** A request or connection was refused, closed or answered without waiting. */
  readonly limitReached: (limit: WebLimit, client?: string) => void;
  /** The number of open connections changed. */
  readonly connections: (open: number) => void;
}
