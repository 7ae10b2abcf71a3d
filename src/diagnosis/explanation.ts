import type { FailureReason } from '../model/failure.ts';
import type { ReplyInfo } from '../upstream/http/observer.ts';
import type { UpstreamFacts } from './facts.ts';

/** What a failure means and what to do about it. */
export interface Explanation {
  /** Fits a table cell. */
  readonly summary: string;
  /** undefined: the connection works. */
  readonly layer: 'connection' | 'tls' | undefined;
  readonly meaning: string;
  readonly advice: string;
}

/** A failure and what was observed around it. */
export interface FailureContext {
  readonly reason: FailureReason;
  readonly error: unknown;
  readonly upstream: UpstreamFacts;
  /** To requests of the failed station. */
  readonly replies: readonly Pick<ReplyInfo, 'status'>[];
  /** How far the local clock is ahead of the service's. */
  readonly clockDifferenceMs: number | undefined;
}

/** The hosts and TLS settings of a connection, as messages name them. */
export function endpointsOf({ options: { baseUrl, proxyUrl, tls } }: UpstreamFacts) {
  return {
    service: baseUrl.host,
    proxy: proxyUrl?.host,
    isTls: baseUrl.protocol === 'https:',
    hasClientCertificate: tls?.certFile !== undefined,
  };
}

/** The codes of an error and its causes, outermost first. */
export function codesOf(error: unknown): readonly string[] {
  const codes: string[] = [];
  for (let link = error; link instanceof Error; link = link.cause) {
    if ('code' in link && typeof link.code === 'string') codes.push(link.code);
  }
  return codes;
}
