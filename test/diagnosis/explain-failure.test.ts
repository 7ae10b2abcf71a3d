import { describe, expect, it } from 'vitest';
import { explainFailure, failureReason } from '../../src/diagnosis/explain-failure.ts';
import type { UpstreamFacts } from '../../src/diagnosis/facts.ts';
import { FAILURE_ADVICE, FAILURE_REASONS, ListingFailure } from '../../src/station/failure.ts';
import { IDLE_LOAD } from '../station/fixtures.ts';
import { CLIENT_OPTIONS } from '../upstream/support/client.ts';

const upstream: UpstreamFacts = {
  options: { ...CLIENT_OPTIONS, baseUrl: new URL('https://monitor.example.com') },
  connection: { dns: { addresses: ['192.0.2.1'], error: undefined, durationMs: 1 }, error: undefined, durationMs: 1, session: undefined },
  speaksTls: false,
  load: IDLE_LOAD,
  forecast: undefined,
};

const failed = (reason: (typeof FAILURE_REASONS)[number], code?: string) => {
  const cause = code === undefined ? undefined : Object.assign(new Error(code), { code });
  const error = new ListingFailure(reason, 'it failed', { cause });
  return { reason, error, upstream, replies: [{ status: 401 }], clockDifferenceMs: undefined };
};

describe('explainFailure', () => {
  it.each(FAILURE_REASONS.filter((reason) => reason !== 'network'))(
    'gives the general explanation of %s when the cause is unknown',
    (reason) => {
      const { meaning, advice } = FAILURE_ADVICE[reason];
      expect(explainFailure(failed(reason))).toMatchObject({ summary: reason, meaning, advice });
    },
  );

  it.each([
    ['EHOSTUNREACH', 'There is no route from this host to monitor.example.com.'],
    ['ENETUNREACH', 'There is no route from this host to monitor.example.com.'],
    ['EAI_AGAIN', 'The host name of monitor.example.com cannot be resolved.'],
    ['ECONNRESET', 'monitor.example.com closed the connection before the reply was complete.'],
  ])('explains %s', (code, meaning) => {
    expect(explainFailure(failed('network', code))).toMatchObject({ layer: 'connection', meaning });
  });

  it('attributes an unknown TLS error code to TLS', () => {
    expect(explainFailure(failed('tls', 'ERR_SSL_SOMETHING_NEW'))).toMatchObject({ summary: 'tls', layer: 'tls' });
  });
});

describe('failureReason', () => {
  it('is internal for an error of the exporter itself', () => {
    expect(failureReason(new ListingFailure('tls', ''))).toBe('tls');
    expect(failureReason(new TypeError())).toBe('internal');
  });
});
