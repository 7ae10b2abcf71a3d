import type { FailureReason } from '../station/failure.ts';
import type { ReplyInfo } from '../upstream/observer.ts';
import type { UpstreamFacts } from './facts.ts';

/** What is wrong in plain words. */
export interface Explanation {
  /** Fits a cell of a table. */
  readonly short: string;
  /** What of a connection it concerns; undefined: what was said over it. */
  readonly place: 'connection' | 'tls' | undefined;
  readonly what: string;
  readonly advice: string;
}

/** A failure with what else was seen where it happened. */
export interface FailureCase {
  readonly reason: FailureReason;
  readonly error: unknown;
  readonly upstream: UpstreamFacts;
  /** Of the service to the station that failed. */
  readonly answers: readonly Pick<ReplyInfo, 'status'>[];
  /** How far our clock is ahead of the service's. */
  readonly clockMs: number | undefined;
}

/** Who takes part in a connection, as messages call them. */
export function endsOf({ options: { baseUrl, proxyUrl, tls } }: UpstreamFacts) {
  return {
    service: baseUrl.host,
    proxy: proxyUrl?.host,
    isSecure: baseUrl.protocol === 'https:',
    hasClientCertificate: tls?.certFile !== undefined,
  };
}

/** The codes that an error and what caused it carry, the outermost first. */
export function codesOf(error: unknown): readonly string[] {
  const codes: string[] = [];
  for (let link = error; link instanceof Error; link = link.cause) {
    if ('code' in link && typeof link.code === 'string') codes.push(link.code);
  }
  return codes;
}
