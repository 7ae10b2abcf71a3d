import { describe, expect, it } from 'vitest';
import type { CheckResult, StationResult } from '../../src/diagnosis/check-result.ts';
import { checkProblems } from '../../src/diagnosis/diagnosis.ts';
import type { Snapshot } from '../../src/resources/snapshot.ts';
import { aggregatesOf, listingOf, mismatch, resourceOf, specOf } from '../stations/fixtures.ts';
import { checkResultOf, listedStation, sessionFor, UPSTREAM } from './fixtures.ts';

const lasting = (durationMs: number, station: StationResult) => ({
  ...station,
  status: { ...station.status, durationMs },
});

const warningsOf = (result: CheckResult) =>
  checkProblems(result, 10_000).map(({ category, what }) => {
    expect(category).not.toBe('failing');
    return what;
  });

describe('checkProblems', () => {
  it('warns of a certificate and a capacity of an upstream that will cause failures', () => {
    const upstream = {
      ...UPSTREAM,
      options: {
        ...UPSTREAM.options,
        tls: { insecure_skip_verify: true },
      },
      session: sessionFor(13),
      capacity: { neededPerSecond: 300, possiblePerSecond: 50, roundMs: 360_000, unknownStations: 0 },
    };
    expect(warningsOf(checkResultOf([], upstream))).toEqual([
      '50 requests/s are possible, 300 are needed: data gets up to 6 min old.',
      'The certificate of monitor.example.com is not verified, because insecure_skip_verify is set: an attacker on the network can read the credentials.',
      'The certificate of monitor.example.com expires on 2025-01-14.',
    ]);
  });

  it('warns of stations that together take longer than a scrape, unless they are refreshed in the background', () => {
    const [first, second] = ['a', 'b'].map((name) => listedStation({ size: 1 }, 0, name)) as [
      StationResult,
      StationResult,
    ];
    const refreshing = (refresh: 'scrape' | 'background', roundMs: number) => {
      const capacity = { neededPerSecond: 3, possiblePerSecond: 10, roundMs, unknownStations: 0 };
      const stations = [first, second].map((station) => ({ ...station, status: { ...station.status, refresh } }));
      return warningsOf(checkResultOf(stations, { ...UPSTREAM, capacity }));
    };
    expect(refreshing('scrape', 26_000)).toEqual([
      'To refresh 2 stations takes 26 s, longer than the scrape timeout of 10 s: a scrape waits until its deadline each time, and serves older data of the rest.',
    ]);
    expect(refreshing('scrape', 10_000)).toEqual([]);
    expect(refreshing('background', 26_000)).toEqual([]);
  });

  it('warns of everything that is wrong with a listing', () => {
    const { invalidFields } = listingOf([]);
    const listing = {
      complete: false,
      incompleteReasons: [mismatch('too few')],
      rejected: 4,
      invalidFields: { ...invalidFields, sku: 1, state: 2 },
    };
    const station = lasting(10_100, listedStation(listing, 7));
    expect(warningsOf(checkResultOf([station]))).toEqual([
      'Resources may be missing: too few.',
      'A refresh takes up to 10.1 s, longer than the scrape timeout of 10 s: scrapes serve the previous snapshot.',
      'There are more resources than metrics.max_resources: 7 per-resource series are withheld. Aggregates stay exact.',
      'Invalid field values were dropped: sku (1), state (2).',
    ]);
  });

  it('says that a check was throttled, and takes what connections make possible for no more than a bound', () => {
    const capacity = { neededPerSecond: 3, possiblePerSecond: 96, roundMs: 1000, unknownStations: 0 };
    const upstream = { ...UPSTREAM, capacity, load: { ...UPSTREAM.load, recentRequests: 300, recentThrottled: 12 } };
    expect(warningsOf(checkResultOf([], upstream))).toEqual([
      'The service throttled 12 of the 300 requests of this check, which sends them as fast as it can. Its limit is below 96 requests/s, 3 are needed.',
    ]);
  });

  it('warns of products without resources, unless the listing lacks some', () => {
    const spec = specOf({ products: ['product.a', 'product.b'] });
    const resource = resourceOf('r', { product: 'product.a' });
    const listedWith = (listing: Partial<Snapshot>) => {
      const listed = { snapshot: listingOf([resource], listing), aggregates: aggregatesOf([resource]), withheld: 0 };
      return checkResultOf([{ ...listedStation(listing), listed, spec }]);
    };
    expect(warningsOf(listedWith({}))).toEqual(['No resource is of product.b, unless it is of an earlier one too.']);
    const lacking = { complete: false, incompleteReasons: [mismatch('short')] };
    expect(warningsOf(listedWith(lacking))).toEqual(['Resources may be missing: short.']);
  });

  it('has one warning for one cause, with what differs from station to station', () => {
    const { invalidFields } = listingOf([]);
    const odd = (name: string, sku: number, durationMs: number) => ({
      ...lasting(durationMs, listedStation({ rejected: 1, invalidFields: { ...invalidFields, sku } }, 0, name)),
      spec: specOf({ name }),
    });
    const found = checkProblems(checkResultOf([odd('a', 4, 11_000), odd('b', 1, 20_000)]), 10_000);
    expect(found.map(({ what, stations }) => [what, ...stations])).toEqual([
      [
        'A refresh takes up to 20.0 s, longer than the scrape timeout of 10 s: scrapes serve the previous snapshot.',
        { name: 'b', note: '20.0 s' },
        { name: 'a', note: '11.0 s' },
      ],
      ['Invalid field values were dropped.', { name: 'a', note: 'sku (4)' }, { name: 'b', note: 'sku (1)' }],
    ]);
  });

  it('warns of an empty listing, but not of a long refresh in the background', () => {
    const station = lasting(10_100, listedStation({}));
    station.status = { ...station.status, refresh: 'background' };
    expect(warningsOf(checkResultOf([station]))).toEqual(['The listing is empty.']);
  });
});
