import type { Body } from '../exposition/exposition.ts';
import type { WebLimit } from '../exposition/own-families.ts';
import type { ExpositionFormat } from '../exposition/text-format.ts';
import type { Deadline } from '../model/clock.ts';
import type { RejectedReload } from '../problems/problems.ts';
import type { RemovedStations } from '../problems/removed-stations.ts';
import type { SearchResult, Selection } from '../query/selection.ts';
import type { StationChanges } from '../resources/changes.ts';
import type { ResourceSpec } from '../resources/spec.ts';
import type { OwnerCount } from '../status/owners.ts';
import type { ScrapeSize } from '../status/scrape-size.ts';
import type { StationDetail, StationStatus, UpstreamStatus } from '../status/station-status.ts';
import type { AccessRules } from './access/rules.ts';

/** The interface of the running exporter that the web server needs. */
export interface ExporterPort {
  /** Resolves once the stations exist; until then only `ready` can be used. */
  readonly started: Promise<void>;
  /** Whether other exporters have further stations of the same configuration. */
  readonly isSharded: boolean;
  /** For all stations; cheaper than `stations`, which aggregates snapshots. */
  specs(): readonly ResourceSpec[];
  /** Whether a station has this name; cheaper than `station`, which describes its upstream. */
  has(name: string): boolean;
  stations(): readonly StationStatus[];
  upstreams(): readonly UpstreamStatus[];
  /** The resources of all stations, or only of one, by the labels of `resource_labels`, or by type as well. */
  owners(station?: string, types?: 'with types'): Promise<readonly OwnerCount[]>;
  station(name: string): StationDetail | undefined;
  /** The latest changes of the station; cheaper than `station`. */
  changes(name: string): StationChanges;
  /** Searches the resources of all stations; rejects with the reason of the signal once it aborts. */
  search(selection: Selection, sort: string, signal: AbortSignal): Promise<SearchResult>;
  /** All stations, or only `station`: waits for those that may answer before the deadline. Does not reject when the service fails. */
  scrape(format: ExpositionFormat, station: string | undefined, deadline: Deadline): Promise<Body>;
  /** Of the last scrape of all stations; undefined before the first one. */
  scrapeSize(): ScrapeSize | undefined;
  /** The exporter's own metrics alone. */
  scrapeOwn(format: ExpositionFormat): Promise<Body>;
  ready(): boolean;
  /** The problems for which the new configuration was rejected; empty on success. */
  reload(): Promise<readonly string[]>;
  /** Since when which problems have kept an older configuration in force. */
  rejectedReload(): RejectedReload | undefined;
  /** Since when which problems have kept an older web configuration in force. */
  rejectedWebReload(): RejectedReload | undefined;
  /** Many stations that a reload removed, and that are not configured again. */
  removedStations(): RemovedStations | undefined;
  /** The configuration in force as YAML, with secrets redacted. */
  configuration(): string;
  /** Its file, and since when it is in force. */
  configurationFile(): { readonly file: string; readonly loadedMs: number };
}

/** Settings of the web server, from the command line. */
export interface WebOptions {
  /** Begins with a slash. */
  readonly telemetryPath: string;
  /** URL of the exporter as clients see it, for example behind a reverse proxy; its path is served as a prefix too. */
  readonly externalUrl?: URL;
  readonly enableLifecycle: boolean;
  /** Scrapes of /metrics, and of /probe, that wait for refreshes; further ones are answered from the cache. 0: no limit. */
  readonly maxRequests: number;
  readonly scrapeTimeoutMs: number;
  readonly timeoutOffsetMs: number;
  readonly version: string;
  /** The rules in force when a request arrives. */
  readonly access: () => AccessRules;
  readonly observer: WebObserver;
  /** Wall-clock milliseconds. */
  readonly now: () => number;
  /** Called with errors that are exporter bugs. */
  readonly report: (error: unknown) => void;
}

/** Receives what the metrics and the log of the exporter show about the web server. */
export interface WebObserver {
  /** A request or connection was refused, closed or answered without waiting. */
  readonly limitReached: (limit: WebLimit, client?: string) => void;
}
