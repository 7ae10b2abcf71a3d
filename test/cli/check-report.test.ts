import { describe, expect, it } from 'vitest';
import { checkReport } from '../../src/cli/check-report.ts';
import type { Screen } from '../../src/cli/table.ts';
import { checkMessages } from '../../src/diagnosis/diagnosis.ts';
import type { Facts, StationFacts, UpstreamFacts } from '../../src/diagnosis/facts.ts';
import { ListingFailure } from '../../src/model/failure.ts';
import { IDLE_LOAD, listingOf, mismatch, specOf } from '../refresh/fixtures.ts';
import { CLIENT_OPTIONS } from '../upstream/support/client.ts';

const NOW_MS = Date.UTC(2025, 0, 1);
const SIZE = { series: 14, plainBytes: 1600, gzipBytes: 700 };

const upstream: UpstreamFacts = {
  name: 'main',
  options: {
    ...CLIENT_OPTIONS,
    baseUrl: new URL('https://monitor.example.com'),
    proxyUrl: new URL('http://user:pass@proxy.example:3128'),
  },
  connection: {
    dns: { addresses: ['192.0.2.1', '192.0.2.2'], error: undefined, durationMs: 1.6 },
    error: undefined,
    durationMs: 3,
    session: { protocol: 'TLSv1.3', issuer: 'CA', names: [], validToMs: NOW_MS + 30.5 * 86_400_000 },
  },
  speaksTls: false,
  load: IDLE_LOAD,
  capacity: undefined,
  clockDifferenceMs: undefined,
  pageSize: undefined,
  replies: [],
  failures: [],
};

const failedStation = (name: string, message: string): StationFacts => ({
  ...SIZE,
  spec: specOf({ name, upstream: 'main' }),
  upstream,
  durationMs: 12.3,
  result: { ok: false, reason: 'status', message, error: new ListingFailure('status', message), replies: [] },
  reducedPageSize: undefined,
  isHanging: false,
  replies: [],
});

const factsOf = (stations: readonly StationFacts[], connection: Partial<UpstreamFacts['connection']> = {}): Facts => ({
  nowMs: NOW_MS,
  total: SIZE,
  upstreams: [{ ...upstream, connection: { ...upstream.connection, ...connection } }],
  stations,
});

const reportOf = (facts: Facts, screen?: Screen) => checkReport(facts, checkMessages(facts, 10_000), 0, screen);

describe('checkReport', () => {
  it('prints a failure that many stations share once, with the first ten names', () => {
    const names = Array.from({ length: 12 }, (_, index) => `s${index}`);
    const report = reportOf(
      factsOf([...names.map((name) => failedStation(name, 'unavailable')), failedStation('other', 'bad gateway')]),
    );
    expect(report.match(/^failure: /gm)).toHaveLength(2);
    expect(report).toContain(
      '\nfailure: each of the stations s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, and 2 more of upstream main: The service returned',
    );
    expect(report).toContain('\nfailure: station other of upstream main: The service returned');
    expect(report).toMatch(/\nstations: 13, ok: 0, failed: 13, warnings: 0\n$/);
  });

  it('shows the addresses of the proxy, but not its password', () => {
    const [, line = ''] = reportOf(factsOf([failedStation('a', 'unavailable')])).split('\n');
    expect(line.split(/ {2,}/)).toEqual([
      'main',
      'monitor.example.com',
      'of the proxy: 192.0.2.1, 192.0.2.2 in 2 ms',
      'in 3 ms',
      'TLSv1.3, 30 days left, issued by CA',
      '–',
    ]);
  });

  it('counts a kept listing once per ttl, or with every scrape what has none', () => {
    const listings = [undefined, 'alertabilityTtlMs', 'productsTtlMs'].map((ttl, at) => ({
      name: `${at}`,
      pages: [25, 20, 15][at] ?? 0,
      takenAtMs: undefined,
      failure: undefined,
      ttl: ttl as 'productsTtlMs' | undefined,
    }));
    const requestsOf = (ttlMs: number, keptMs: number) => {
      const spec = specOf({
        cache: { ...specOf().cache, ttlMs },
        productsTtlMs: keptMs,
        alertabilityTtlMs: keptMs,
      });
      const snapshot = { ...listingOf([]), pages: 25, listings };
      const result = { ok: true as const, snapshot, aggregates: { groups: [] }, withheld: 0 };
      const report = reportOf(factsOf([{ ...failedStation('a', ''), spec, result }]));
      return /^all .*$/m.exec(report)?.[0].split(/ {2,}/).at(-1);
    };
    expect(requestsOf(60_000, 0)).toBe('3600/h');
    expect(requestsOf(60_000, 600_000)).toBe('1710/h');
    expect(requestsOf(60_000, 30_000)).toBe('3600/h');
    expect(requestsOf(0, 600_000)).toBe('210/h + 25/scrape');
  });

  it('shows an internal error while connecting', () => {
    const [, line = ''] = reportOf(
      factsOf([failedStation('a', 'unavailable')], { error: new TypeError('a bug'), session: undefined }),
    ).split('\n');
    expect(line.split(/ {2,}/).slice(3)).toEqual(['internal', '–', '–']);
  });
});

describe('checkReport, on a terminal', () => {
  const station: StationFacts = {
    ...failedStation('a', 'unavailable'),
    durationMs: 13_512,
    plainBytes: 842_300,
    gzipBytes: 1_688_111,
  };
  const facts = factsOf([station]);

  it('wraps the notes in a pipe too', () => {
    const [, , notes = ''] = reportOf(facts).split('\n\n');
    expect(notes).toMatch(/^SERIES, BYTES and GZIP: /);
    expect(notes.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('fits in 80 columns with the requests per hour, and names the columns not shown', () => {
    const report = reportOf(facts, { columns: 80, hasColours: false });
    expect(report.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(report).toMatch(
      /\n\nSTATION .*LISTING.* REQUESTS\na .* 14 s .*failed: status.*\nColumns not shown: UPSTREAM, /s,
    );
  });

  it('keeps exact numbers outside of a terminal, and unknown sums when every station failed', () => {
    expect(reportOf(facts)).toMatch(/ 13512 ms .* 842300 +1688111 .*\nall +– +14 +1600 +700 +–\n/);
    expect(reportOf(facts)).not.toContain('\u001b');
  });

  it('shows results in colour, and human units', () => {
    const report = reportOf(facts, { columns: 200, hasColours: true });
    expect(report).toMatch(/\na .* 14 s .* 842 KB +1\.7 MB/);
    expect(report).not.toContain('Columns not shown');
    expect(report).toContain('\u001b[31mfailed: status\u001b[0m');
    expect(report).toContain('\n\u001b[31mfailure\u001b[0m: station a of upstream main: ');
    const listed = (name: string, complete: boolean) => ({
      ...station,
      spec: specOf({ name, upstream: 'main' }),
      result: {
        ok: true as const,
        snapshot: { ...listingOf([]), complete, incompleteReasons: complete ? [] : [mismatch('too few')] },
        aggregates: { groups: [] },
        withheld: 0,
      },
    });
    const results = reportOf(factsOf([listed('b', true), listed('c', false)]), { columns: 200, hasColours: true });
    expect(results).toContain('\u001b[32mcomplete\u001b[0m');
    expect(results).toContain('\u001b[33mincomplete\u001b[0m');
    expect(results).toContain('\n\u001b[33mwarning\u001b[0m: station c of upstream main: ');
  });
});
