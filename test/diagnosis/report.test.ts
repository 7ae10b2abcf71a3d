import { describe, expect, it } from 'vitest';
import { diagnose } from '../../src/diagnosis/diagnosis.ts';
import type { Facts, StationFacts } from '../../src/diagnosis/facts.ts';
import { reportText } from '../../src/diagnosis/report.ts';
import { warningsOf } from '../../src/diagnosis/warnings.ts';
import { ListingFailure } from '../../src/station/failure.ts';
import { specOf } from '../station/fixtures.ts';
import { CLIENT_OPTIONS } from '../upstream/support/client.ts';

const NOW_MS = Date.UTC(2025, 0, 1);
const SIZE = { series: 14, plainBytes: 1600, gzipBytes: 700 };

const stationThat = (name: string, message: string): StationFacts => ({
  ...SIZE,
  spec: specOf({ name, upstream: 'main' }),
  durationMs: 12.3,
  result: { reason: 'status', message, error: new ListingFailure('status', message) },
  reducedPageSize: undefined,
  answers: [],
});

const factsOf = (stations: readonly StationFacts[], connection: Partial<Facts['upstreams'][number]['connection']> = {}): Facts => ({
  upstreams: [
    {
      options: {
        ...CLIENT_OPTIONS,
        baseUrl: new URL('https://monitor.example.com'),
        proxyUrl: new URL('http://user:pass@proxy.example:3128'),
      },
      connection: {
        name: { addresses: ['192.0.2.1', '192.0.2.2'], error: undefined, ms: 1.6 },
        error: undefined,
        ms: 3,
        session: { protocol: 'TLSv1.3', issuer: 'CA', names: [], validToMs: NOW_MS + 30.5 * 86_400_000 },
        ...connection,
      },
      speaksTls: false,
    },
  ],
  stations,
  total: SIZE,
});

const reportOf = (facts: Facts) => {
  const diagnosis = diagnose(facts);
  return reportText(diagnosis, warningsOf(diagnosis, { nowMs: NOW_MS, scrapeTimeoutMs: 10_000 }), NOW_MS);
};

describe('reportText', () => {
  it('tells once what many stations have in common, and names some of them', () => {
    const names = Array.from({ length: 12 }, (_, index) => `s${index}`);
    const report = reportOf(factsOf([...names.map((name) => stationThat(name, 'no luck')), stationThat('other', 'worse luck')]));
    expect(report.match(/^failure: /gm)).toHaveLength(2);
    expect(report).toContain(
      '\nfailure: stations s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, and 2 more of upstream main: The service answered',
    );
    expect(report).toContain('\nfailure: station other of upstream main: The service answered');
    expect(report).toMatch(/\nstations: 13, well: 0, failed: 13, warnings: 0\n$/);
  });

  it('tells the way to a service behind a proxy, and no password', () => {
    const [, line = ''] = reportOf(factsOf([stationThat('a', 'no luck')])).split('\n');
    expect(line.split(/ {2,}/)).toEqual([
      'main',
      'monitor.example.com',
      'behind a proxy (192.0.2.1, 192.0.2.2 in 2 ms)',
      'in 3 ms',
      'TLSv1.3, 30 days left, issued by CA',
      '-',
    ]);
  });

  it('tells a connection that could not be made for a reason of its own', () => {
    const [, line = ''] = reportOf(factsOf([stationThat('a', 'no luck')], { error: new TypeError('a bug'), session: undefined })).split(
      '\n',
    );
    expect(line.split(/ {2,}/).slice(3)).toEqual(['internal', '-', '-']);
  });
});
