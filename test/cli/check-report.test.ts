import { describe, expect, it } from 'vitest';
import { checkReport } from '../../src/cli/check-report.ts';
import type { Screen } from '../../src/cli/table.ts';
import type { CheckResult } from '../../src/diagnosis/check-result.ts';
import { checkProblems } from '../../src/diagnosis/diagnosis.ts';
import { checkResultOf, failedStation, listedStation, sessionFor, UPSTREAM } from '../diagnosis/fixtures.ts';
import { listingOf, mismatch, specOf } from '../stations/fixtures.ts';

const reportOf = (result: CheckResult, screen?: Screen) =>
  checkReport(result, checkProblems(result, 10_000), 0, screen);

describe('checkReport', () => {
  it('prints a failure that many stations share once, with the first ten names and the most frequent messages', () => {
    const names = Array.from({ length: 12 }, (_, index) => `s${index}`);
    const report = reportOf(
      checkResultOf([...names.map((name) => failedStation(name)), failedStation('other', 'bad gateway')]),
    );
    expect(report).toContain(
      `
failure: 13 stations of upstream main: The service returned an error status. No refresh has succeeded yet.
  stations: s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, and 3 more
  reported: status: unavailable; status: bad gateway
  what to do: A 5xx is`,
    );
    expect(report).toMatch(/\n\nstations: 13, ok: 0, failed: 13, warnings: 0\n$/);
  });

  it('ends with at most three changes, the most urgent first', () => {
    const { invalidFields } = listingOf([]);
    const listed = listedStation({ size: 0, invalidFields: { ...invalidFields, sku: 1 } }, 7);
    const odd = { ...listed, status: { ...listed.status, durationMs: 11_000 } };
    const report = reportOf(checkResultOf([odd, failedStation('b')]));
    expect(report.match(/^(failure|warning): /gm)).toHaveLength(5);
    const [, changes = ''] = /\n\n(change 1: .*)$/s.exec(report) ?? [];
    expect(changes.replaceAll(/ of upstream main: (A 5xx .*)?/g, ' ').split('\n')).toEqual([
      'change 1: station b ',
      'change 2: station a Set cache.refresh to background, or raise scrape_timeout in Prometheus.',
      'change 3: station a Raise metrics.max_resources if Prometheus can store that many series, or narrow the station with filters.',
      'stations: 2, ok: 1, failed: 1, warnings: 4',
      '',
    ]);
  });

  it.each([
    { result: { session: sessionFor(30.5) }, cell: 'in 3 ms, TLSv1.3, 30 days left, issued by CA' },
    {
      result: {
        options: { ...UPSTREAM.options, tls: { insecure_skip_verify: true } },
        session: sessionFor(-1),
      },
      cell: 'in 3 ms, TLSv1.3, expired 2024-12-31, issued by CA, not verified',
    },
    { result: { error: new TypeError('a bug') }, cell: 'internal error' },
  ])('shows the connection to the service: $cell', ({ result, cell }) => {
    const report = reportOf(checkResultOf([failedStation('a')], { ...UPSTREAM, ...result }));
    expect(report.split('\n')[1]?.split(/ {2,}/)).toEqual(['main', 'monitor.example.com', cell]);
  });

  it('shows the size of a scrape, and what it lacks; a warning names the limit of scrapers that it exceeds', () => {
    const result = checkResultOf([listedStation({}), failedStation('b')]);
    expect(reportOf(result)).toContain(
      "\nscrape: 2 KiB as text, 512 bytes with gzip, without the exporter's own metrics (1 station without data not counted)\n",
    );
    const large = reportOf({ ...result, scrape: { ...result.scrape, plainBytes: 2 ** 24 + 1 } });
    expect(large).toContain('\nwarning: scrape: A scrape of all stations has 16 MiB as text, 512 bytes with gzip. ');
    expect(large).toContain('-promscrape.maxScrapeSize');
    expect(reportOf(checkResultOf([failedStation('b')]))).not.toContain('scrape: ');
  });

  it('notes that refreshes run in the background', () => {
    const spec = specOf({ cache: { ...specOf().cache, refresh: 'background' } });
    expect(reportOf(checkResultOf([{ ...listedStation({}), spec }]))).toContain('\nRefreshes run in the background: ');
  });

  it('prints that the shard has no station', () => {
    expect(reportOf(checkResultOf([]))).toBe('No station belongs to this shard: no request was sent.\n');
  });

  it('counts a kept listing once per ttl, or with every scrape what has none', () => {
    const requestsOf = (ttlMs: number, keptMs: number) => {
      const intervals = [ttlMs, Math.max(ttlMs, keptMs), Math.max(ttlMs, keptMs)];
      const repeated = intervals.map((intervalMs, at) => ({ pages: [25, 20, 15][at] ?? 0, intervalMs }));
      const spec = specOf({ cache: { ...specOf().cache, ttlMs } });
      const report = reportOf(checkResultOf([{ ...listedStation({ pages: 25, repeated }), spec }]));
      return /^all .*$/m.exec(report)?.[0].split(/ {2,}/).at(-1);
    };
    expect(requestsOf(60_000, 0)).toBe('3600/h');
    expect(requestsOf(60_000, 600_000)).toBe('1710/h');
    expect(requestsOf(0, 600_000)).toBe('210/h + 25/scrape');
  });
});

describe('checkReport, on a terminal', () => {
  const failed = failedStation('a');
  const status = { ...failed.status, durationMs: 13_512 };
  const result = checkResultOf([{ ...failed, status }]);

  it('wraps the notes in a pipe too', () => {
    const [, , notes = ''] = reportOf(result).split('\n\n');
    expect(notes).toMatch(/^SERIES: /);
    expect(notes.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('fits in 80 columns with the requests per hour, and names the columns not shown', () => {
    const report = reportOf(result, { columns: 80, hasColours: false });
    expect(report.split('\n').filter((line) => line.length > 80)).toEqual([]);
    expect(report).toMatch(
      /\n\nSTATION .*LISTING.* REQUESTS\na .* 14 s .*failed: error status.*\nColumns not shown: UPSTREAM \(--wide/s,
    );
  });

  it('keeps exact numbers outside of a terminal, and unknown sums when every station failed', () => {
    expect(reportOf(result)).toMatch(/ 13512 ms .* 14 +–\nall +– +14 +–\n/);
    expect(reportOf(result)).not.toContain('\u001b');
  });

  it('shows results in colour, and human units', () => {
    const report = reportOf(result, { columns: 200, hasColours: true });
    expect(report).toMatch(/\na .* 14 s /);
    expect(report).not.toContain('Columns not shown');
    expect(report).toContain('\u001b[31mfailed: error status\u001b[0m');
    expect(report).toContain('\n\u001b[31mfailure\u001b[0m: station a of upstream main: ');
    const incomplete = { complete: false, incompleteReasons: [mismatch('too few')], rejected: 1 };
    const stations = [listedStation({ reportedTotal: undefined }), listedStation(incomplete)];
    const results = reportOf(checkResultOf(stations), { columns: 200, hasColours: true });
    expect(results).toMatch(/ none +0 +\S*complete/);
    expect(results).toContain('\u001b[32mcomplete\u001b[0m');
    expect(results).toContain('\u001b[33mincomplete, 1 rejected\u001b[0m');
    expect(results).toContain(
      '\n\u001b[33mwarning\u001b[0m: station a of upstream main: Resources may be missing: too few.',
    );
  });
});
