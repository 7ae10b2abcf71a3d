import type { Snapshot } from '../station/snapshot.ts';
import type { Health } from '../station/station-cache.ts';
import type { StationSpec } from '../station/station-spec.ts';
import type { ReplyInfo } from '../upstream/observer.ts';
import type { UpstreamOptions } from '../upstream/options.ts';

/** All that was found out about a configuration by trying it. */
export interface Facts {
  readonly upstreams: readonly UpstreamFacts[];
  readonly stations: readonly StationFacts[];
  /** Of the stations together, as they stand in one exposition. */
  readonly total: Size;
}

export interface UpstreamFacts {
  readonly options: UpstreamOptions;
  readonly connection: ConnectionFacts;
  /** On the port of an http URL that gave no answer. */
  readonly speaksTls: boolean;
}

export interface ConnectionFacts {
  readonly name: NameFacts;
  /** undefined: made. */
  readonly error: unknown;
  readonly ms: number;
  /** Of a connection that could be encrypted, be it under conditions that the configuration does not allow. */
  readonly session: Session | undefined;
}

/** How the host was found that is connected to first: the proxy, if there is one. */
export interface NameFacts {
  readonly addresses: readonly string[];
  readonly error: unknown;
  readonly ms: number;
}

export interface Session {
  readonly protocol: string;
  readonly issuer: string;
  /** Whom the certificate is made out to. */
  readonly names: readonly string[];
  readonly validToMs: number;
}

export interface StationFacts<Failed = Failure> extends Size {
  readonly spec: StationSpec;
  readonly durationMs: number;
  readonly result: Listed | Failed;
  /** What the pages had to be reduced to, if they had. */
  readonly reducedPageSize: number | undefined;
  /** In the order in which they came. */
  readonly answers: readonly ReplyInfo[];
}

export interface Listed {
  readonly snapshot: Snapshot;
  /** Series left out because there are more resources than may be published one by one. */
  readonly withheld: number;
}

export type Failure = NonNullable<Health['failure']>;

/** Of what is published. */
export interface Size {
  readonly series: number;
  readonly plainBytes: number;
  readonly gzipBytes: number;
}
