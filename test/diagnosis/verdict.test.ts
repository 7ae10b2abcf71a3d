import { describe, expect, it } from 'vitest';
import { explainFailure, failureReason } from '../../src/diagnosis/explain-failure.ts';
import type { UpstreamFacts } from '../../src/diagnosis/facts.ts';
import { FAILURE_ADVICE, FAILURE_REASONS, ListingFailure } from '../../src/station/failure.ts';
import { CLIENT_OPTIONS } from '../upstream/support/client.ts';

const upstream: UpstreamFacts = {
  options: { ...CLIENT_OPTIONS, baseUrl: new URL('https://monitor.example.com') },
  connection: { name: { addresses: ['192.0.2.1'], error: undefined, ms: 1 }, error: undefined, ms: 1, session: undefined },
  speaksTls: false,
};

const failed = (reason: (typeof FAILURE_REASONS)[number], code?: string) => {
  const cause = code === undefined ? undefined : Object.assign(new Error(code), { code });
  const error = new ListingFailure(reason, 'it failed', { cause });
  return { reason, error, upstream, answers: [{ status: 401 }], clockMs: undefined };
};

describe('troubleOf', () => {
  it.each(FAILURE_REASONS.filter((reason) => reason !== 'network'))(
    'tells the general meaning of %s when nothing more is known',
    (reason) => {
      const { meaning, advice } = FAILURE_ADVICE[reason];
      expect(explainFailure(failed(reason))).toMatchObject({ short: reason, what: meaning, advice });
    },
  );

  it.each([
    ['EHOSTUNREACH', 'There is no way from this machine to monitor.example.com.'],
    ['ENETUNREACH', 'There is no way from this machine to monitor.example.com.'],
    ['EAI_AGAIN', 'The name of monitor.example.com cannot be resolved to an address.'],
    ['ECONNRESET', 'monitor.example.com breaks the connection off before its reply is complete.'],
  ])('knows %s', (code, what) => {
    expect(explainFailure(failed('network', code))).toMatchObject({ place: 'connection', what });
  });

  it('takes an unknown trouble of TLS for one of TLS', () => {
    expect(explainFailure(failed('tls', 'ERR_SSL_SOMETHING_NEW'))).toMatchObject({ short: 'tls', place: 'tls' });
  });
});

describe('failureReason', () => {
  it('is internal for what nothing outside explains', () => {
    expect(failureReason(new ListingFailure('tls', ''))).toBe('tls');
    expect(failureReason(new TypeError())).toBe('internal');
  });
});
