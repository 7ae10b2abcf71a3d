import { describe, expect, it } from 'vitest';
import { checkMessages } from '../../src/diagnosis/diagnosis.ts';
import type { Facts } from '../../src/diagnosis/facts.ts';
import { schemeOf } from '../service/support/client.ts';
import { IDLE_LOAD, listingOf, mismatch, specOf } from '../stations/fixtures.ts';
import { factsOf, failedStation, listedStation, sessionFor, UPSTREAM } from './fixtures.ts';

const reply = (status: number, retryAfterMs?: number) => ({
  station: 'a',
  status,
  sentMs: 0,
  receivedMs: 0,
  dateMs: undefined,
  retryAfterMs,
});

const warningsOf = (facts: Facts) =>
  checkMessages(facts, 10_000).map(({ severity, meaning }) => {
    expect(severity).toBe('warning');
    return meaning;
  });

describe('checkMessages', () => {
  it('warns of a certificate, a clock, throttling and a capacity of an upstream that will cause failures', () => {
    const upstream = {
      ...UPSTREAM,
      options: {
        ...UPSTREAM.options,
        auth: schemeOf({ hmac: { access_key_id: 'a', secret_access_key: 's' } }),
        tls: { insecure_skip_verify: true },
      },
      connection: { ...UPSTREAM.connection, session: sessionFor(13) },
      clockDifferenceMs: -120_000,
      replies: [reply(429, 500), reply(200)],
      load: { ...IDLE_LOAD, requestsPerSecond: 2.5 },
      capacity: { neededPerSecond: 300, possiblePerSecond: 50, roundMs: 360_000, unknownStations: 0 },
    };
    expect(warningsOf(factsOf([], upstream))).toEqual([
      'The certificate of monitor.example.com is not verified, because insecure_skip_verify is set: an attacker on the network can read the credentials.',
      'The certificate of monitor.example.com expires on 2025-01-14.',
      'The local clock is 120 s behind that of monitor.example.com.',
      'The service throttled 1 of 2 requests (429) and requested a pause of up to 1 s (Retry-After). The limit is now 2.5 requests/s.',
      '50 requests/s are possible, 300 are needed: data gets up to 6 min old.',
    ]);
  });

  it('warns of everything that is wrong with a listing', () => {
    const { invalidFields } = listingOf([]);
    const listing = {
      complete: false,
      incompleteReasons: [mismatch('too few')],
      rejected: 4,
      invalidFields: { ...invalidFields, sku: 1, state: 2 },
    };
    const station = { ...listedStation(listing, 7), reducedPageSize: 40, replies: [reply(413)], durationMs: 10_100 };
    expect(warningsOf(factsOf([station]))).toEqual([
      'The listing is incomplete: resources may be missing, or may no longer exist.',
      'Records were rejected because they have no usable resource_id.',
      'Invalid field values were dropped.',
      'The station has more resources than metrics.max_resources: 7 per-resource series are withheld. Aggregates stay exact.',
      'The service rejected the page size: the refresh continued with 40 resources per page.',
      'A refresh takes 10.1 s, longer than the scrape timeout of 10 s: scrapes serve the previous snapshot.',
    ]);
  });

  it('groups equal warnings of stations whose numbers differ, and says what each of them reported', () => {
    const rejecting = (name: string, rejected: number) => ({
      ...listedStation({ complete: false, addsUp: true, rejected }),
      spec: specOf({ name }),
    });
    const [warning, ...others] = checkMessages(factsOf([rejecting('a', 4), rejecting('b', 1)]), 10_000);
    expect(others).toEqual([]);
    expect(warning).toMatchObject({ stations: ['a', 'b'], reported: 'a: 4 records; b: 1 record' });
  });

  it('says of a station without a reply that the service answers for others, and where to ask', () => {
    const silent = { ...failedStation('a'), upstream: { ...UPSTREAM, replies: [reply(200)] } };
    const timeout = { ...silent.result, reason: 'timeout' as const, replies: [] };
    const [failure, ...others] = checkMessages(factsOf([{ ...silent, result: timeout } as typeof silent]), 10_000);
    expect(others).toEqual([]);
    expect(failure?.meaning).toBe('The service does not answer for this station, but does for others of the upstream.');
    expect(failure?.advice).toMatch(/^Report the station to the operators of the service/);
  });

  it('warns of an empty listing, but not of a long refresh in the background', () => {
    const cache = { ...specOf().cache, refresh: 'background' } as const;
    const station = { ...listedStation({}), spec: specOf({ cache }), durationMs: 10_100 };
    expect(warningsOf(factsOf([station]))).toEqual(['The listing is empty.']);
  });
});
