import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ResourceLabels } from '../../../src/resources/resource-labels.ts';
import type { StationStatus } from '../../../src/status/station-status.ts';
import { statusTiles } from '../../../src/web/pages/status-page.ts';
import {
  detailOf,
  exporterOf,
  FAILURE_STREAK,
  NO_CHANGES,
  NOW_MS,
  SNAPSHOT,
  STATION,
  withRejected,
} from '../fake-station.ts';
import { openPage, rowsOf, shown, textOf } from './opened-page.ts';

/** With 70 % coverage. */
const COVERED = { ...SNAPSHOT, withRules: 7, withoutRules: 3 };
const FAILING: StationStatus = {
  ...STATION,
  name: 'a&b <c>',
  up: false,
  failureStreak: FAILURE_STREAK,
  failure: { reason: 'timeout', message: 'no response\nin 10 s' },
  snapshot: { ...COVERED, resources: 4200, complete: false },
};
const FRESH: StationStatus = {
  ...STATION,
  name: 'new',
  up: undefined,
  isRefreshing: true,
  snapshot: undefined,
  lastSuccessMs: undefined,
  lastAttemptMs: undefined,
};
/** Refreshed by scrapes, and no longer scraped. */
const EXPIRED: StationStatus = { ...STATION, dueInMs: -300_000, snapshot: undefined };

const openWith = (stations: readonly StationStatus[], query = '') =>
  openPage({ stations: () => stations }, `/${query}`);

const namesIn = (body: string) => Array.from(body.matchAll(/<tr id="row-([^"]+)"/g), ([, name]) => name);

describe('statusPage', () => {
  it('allows in its policy only its own style and script, by hash', async () => {
    const { headers, body } = await openPage();
    const sourceOf = (element: string) => {
      const [, text = ''] = new RegExp(`<${element}>([\\s\\S]*?)</${element}>`).exec(body) ?? [];
      return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    };
    expect(headers['content-security-policy']).toBe(
      `default-src 'none'; style-src ${sourceOf('style')}; img-src 'self'; script-src ${sourceOf('script')}; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
    );
    expect(body.match(/<(?:script|style)\b/g)).toEqual(['<style', '<script']);
    expect(body.replace(/<(script|style)>[\s\S]*?<\/\1>/g, '')).not.toMatch(/\sstyle=|\son\w+=/i);
  });

  it('shows how large the last scrape was, and the limit of scrapers that it exceeds', async () => {
    const textWith = async (plainBytes: number) => {
      const size = { plainBytes, gzipBytes: 3_300_000, families: new Map([['telemetry_station_resource_info', 9e6]]) };
      return (await openPage({ scrapeSize: () => size })).body;
    };
    expect(await textWith(2 ** 24)).toContain('Last scrape of all stations: 16 MiB as text, 3.1 MiB with gzip.');
    const large = await textWith(17_800_000);
    expect(large).toContain('17 MiB as text, 3.1 MiB with gzip. vmagent and VictoriaMetrics store nothing');
    expect(large).toContain('telemetry_station_resource_info (8.6 MiB)');
    expect((await openPage()).body).not.toContain('with gzip');
  });

  describe('its table', () => {
    const stations = [
      { ...STATION, name: 'b-10', telemetryStation: 'Edge' },
      {
        ...STATION,
        name: 'b-9',
        upstream: 'second',
        dueInMs: -5,
        snapshot: { ...SNAPSHOT, resources: 9, complete: false },
      },
      { ...FAILING, name: 'a', snapshot: { ...COVERED, resources: 42, complete: false } },
      { ...FRESH, name: 'new' },
      { ...EXPIRED, name: 'old' },
    ];

    it.each([
      ['', 'b-10 b-9 a new old'],
      ['?filter=EDGE', 'b-10'],
      ['?filter=second+B-', 'b-9'],
      ['?filter=failing+timeout', 'a'],
      ['?state=no-data', 'old'],
      ['?state=not-tried', 'new'],
      ['?state=incomplete', 'b-9'],
      ['?filter=incomplete', 'b-9 a'],
      ['?state=failing&upstream=main&filter=timeout', 'a'],
      ['?upstream=second', 'b-9'],
      ['?sort=station', 'a b-9 b-10 new old'],
      ['?sort=state', 'a old new b-10 b-9'],
      ['?sort=-resources', 'b-10 a b-9 new old'],
      ['?sort=coverage', 'a b-10 b-9 new old'],
      ['?sort=last_success', 'b-10 b-9 a old new'],
      ['?owners=-constructor', 'b-10 b-9 a new old'],
      ['?filter=nothing', ''],
    ])('of the query %j has the stations %s', async (query, expected) => {
      const { body } = await openWith(stations, query);
      const names = namesIn(body);
      expect(names).toEqual(expected.split(' ').filter(Boolean));
      expect(body).toContain(`${Math.min(names.length, 1)}–${names.length} of ${names.length}</span>`);
      expect(body.includes('No station matches.')).toBe(names.length === 0);
      expect(body.includes(' aria-sort="')).toBe(query.startsWith('?sort='));
    });

    it('has pages of 100 stations, which keep the rest of the query', async () => {
      const many = Array.from({ length: 250 }, (_, index) => ({ ...STATION, name: `s${1000 + index}` }));
      const { body, text, hrefs } = await openWith(many, '?filter=s&sort=-station&page=3');
      expect(namesIn(body)).toEqual(Array.from({ length: 50 }, (_, index) => `s${1049 - index}`));
      expect(text).toContain('201–250 of 250FirstPreviousNextLast');
      expect(hrefs).toContain('?filter=s&sort=-station&page=2#stations');
      expect(hrefs).toContain('?filter=s&sort=station#stations');
    });

    it('has headings and a form that keep the rest of the query', async () => {
      const { body } = await openWith(stations, '?filter=%22%3Cb&state=up&sort=resources');
      for (const markup of [
        '<a href="?filter=%22%3Cb&#38;state=up&#38;sort=-resources#stations">Resources</a>',
        'name="filter" type="search" value="&#34;&#60;b"',
        '<option value="up" selected>up</option>',
        '<option value="resources" selected>Resources, ascending</option>',
        '<option value="second">second</option>',
      ])
        expect(body).toContain(markup);
    });
  });

  it('has the state of all stations as one line on top, in the colour of its tone, and what needs attention below', async () => {
    const { body } = await openWith([STATION, { ...FAILING, name: '<edge>', snapshot: SNAPSHOT }]);
    expect(body).toMatch(
      /<main id="content" tabindex="-1">\n<div class="headline">\n<p id="summary" class="summary warning">/,
    );
    expect(textOf(body, 'summary')).toBe('1 of 2 stations up; <edge>: timeout since 03:04 UTC');
    expect(textOf(body, 'attention')).toContain('<edge> main since 03:04 UTC, 55 s');
    expect((await openPage()).body).toContain('class="summary good">1 of 1 station up</p>');
    expect(textOf((await openWith([])).body, 'summary')).toBe('No stations are configured');
  });

  it('says that 220 of 400 resources vanished, which and whose, although every station is up', async () => {
    const atMs = NOW_MS - 60_000;
    const removals = [atMs, atMs - 1].map((at) => ({ atMs: at, owners: [{ labels: { team: 'web' }, total: 220 }] }));
    const lossAt = () => ({ lost: 220, before: 400, sinceMs: atMs });
    const status = { numberChanges: [{ atMs, added: 0, removed: 220 }], lossAt };
    const spec = { resourceLabels: new ResourceLabels([], ['team']) };
    const { body } = await openPage(exporterOf(detailOf([], { spec, status, changes: { ...NO_CHANGES, removals } })));
    expect(textOf(body, 'summary')).toBe('1 of 1 station up; prod: 220 of 400 resources are gone since 03:04 UTC');
    expect(textOf(body, 'attention')).toContain('See which, by team: web 220.');
    expect(textOf(body, 'totals')).toContain('Resources0−220 since 03:04 UTC');
    expect(rowsOf(body, 'stations')[0]).toContain('0 −220 since 03:04 UTC');
    expect(body).toContain(
      '<a href="./stations/prod/changes?change=removed&#38;since=2026-01-02T03%3A04%3A00.000Z">−220</a>',
    );
  });
});

describe('the totals', () => {
  it('name the number of stations that they do not count', async () => {
    expect((await openWith([STATION, EXPIRED])).text).toContain(
      'The numbers of resources exclude 1 station without data.',
    );
    expect((await openWith([STATION])).text).not.toContain('exclude');
  });
});

describe('statusTiles', () => {
  const tilesOf = (stations: readonly StationStatus[]) => shown(statusTiles(stations, NOW_MS).text);

  it('sums up stations, resources and known coverage, and links to the stations and resources it counts', () => {
    const { text, hrefs } = tilesOf([
      { ...STATION, snapshot: { ...SNAPSHOT, resources: 42, firing: 5 } },
      FAILING,
      FRESH,
      { ...STATION, snapshot: { ...COVERED, resources: 10, ...withRejected(1), withRules: 10, withoutRules: 0 } },
      EXPIRED,
      { ...STATION, snapshot: SNAPSHOT },
    ]);
    expect(text).toBe(
      'Stations up3 of 61 failing, 1 no data, 1 not tried, 1 up but incomplete Resources4,252 Firing5in 1 station Pending0 Coverage85 %by owner and type Oldest data55 sprod',
    );
    expect(hrefs).toEqual([
      ...['up', 'failing', 'no-data', 'not-tried', 'incomplete'].map((state) => `?state=${state}#stations`),
      '?sort=-resources#stations',
      './search?alert_state=firing',
      './search?without_rules=yes',
      './coverage',
      './stations/prod',
    ]);
  });

  it('has no number that nothing is known of', () => {
    const failed = { ...FAILING, snapshot: undefined };
    expect(tilesOf([failed, failed]).text).toBe(
      'Stations up0 of 22 failing Resources– no data Firing– no data Pending– no data Coverage– no data Oldest data55 sa&b <c>, has expired',
    );
  });

  it.each([
    { what: 'a ttl of more than an hour', dueInMs: 60_000, tone: '' },
    { what: 'a ttl of an hour, while it is refreshed', dueInMs: -60_000, tone: '' },
    { what: 'a refresh that is long overdue', dueInMs: -300_000, tone: 'bad' },
  ])('mark the oldest data, of an hour, with $what as “$tone”', ({ dueInMs, tone }) => {
    const { text } = statusTiles([{ ...STATION, dueInMs }], Number(STATION.lastSuccessMs) + 3_600_000);
    expect(text).toContain(`<dt>Oldest data</dt><dd class="value ${tone}">1 h`);
  });

  const changed = (atMs: number, added: number, removed: number) => ({
    ...STATION,
    numberChanges: [{ atMs, added, removed }],
  });
  const loss = { lost: 1220, before: 1500, sinceMs: NOW_MS };

  it.each<[note: string, ...stations: StationStatus[]]>([
    ['', changed(NOW_MS - 3_600_001, 7, 7)],
    ['+12 since 03:05 UTC', changed(NOW_MS, 12, 0), changed(NOW_MS - 3_600_001, 7, 7)],
    ['−1 +12 since 03:03 UTC', changed(NOW_MS, 12, 0), changed(NOW_MS - 120_000, 0, 1)],
    [
      '−1 +12 since 03:03 UTC, with a gap',
      { ...changed(NOW_MS, 12, 0), gapEndMs: NOW_MS - 60_000 },
      changed(NOW_MS - 120_000, 0, 1),
    ],
    ['+12 since 03:05 UTC', { ...changed(NOW_MS, 12, 0), gapEndMs: NOW_MS - 60_000 }],
    ['−1,221 since 03:05 UTC', changed(NOW_MS, 0, 1), { ...changed(NOW_MS, 0, 1220), lossAt: () => loss }],
  ])('shows what changed within the last hour: "%s"', (note, ...stations) => {
    expect(tilesOf(stations).text).toContain(`Resources${stations.length * 42}${note} Firing`);
    const isMarked = statusTiles(stations, NOW_MS).text.includes('<span class="failing">');
    expect(isMarked).toBe(note.includes('1,221'));
  });

  it('links to the changes of all stations', () => {
    for (const change of ['added', 'removed'])
      expect(tilesOf([changed(NOW_MS, 12, 1)]).hrefs).toContain(
        `./changes?change=${change}&since=2026-01-02T03%3A05%3A00.000Z`,
      );
  });
});

describe('the table of stations', () => {
  it('has links to the list for programs', async () => {
    const { hrefs } = await openPage(exporterOf(detailOf([])), '/');
    for (const format of ['csv', 'json']) expect(hrefs).toContain(`?format=${format}`);
  });
});

describe('the row of a station', () => {
  it.each<[string, StationStatus, string]>([
    ['is up', STATION, 'prod main · ts up 42 5 1 83 % 55 s ago'],
    [
      'misses records',
      { ...STATION, snapshot: { ...SNAPSHOT, ...withRejected(3) }, incompleteSinceMs: NOW_MS - 3_600_000 },
      'prod main · ts up: incomplete (3 rejected) – no data – no data – no data – no data 55 s ago',
    ],
    [
      'has states of unknown meaning',
      { ...STATION, snapshot: { ...COVERED, resources: 9, unknown: 7 }, unknownSinceMs: NOW_MS },
      'prod main · ts up: 7 unknown 9 0 0 7 70 % 55 s ago',
    ],
    ['waits', { ...STATION, isRefreshing: true, waitingMs: 8600 }, 'prod main · ts up 42 5 1 83 % 55 s ago'],
    ['fails', FAILING, 'a&b <c> main · ts failing: timeout, incomplete 4,200 0 0 70 % 55 s ago'],
    ['was not tried yet', FRESH, 'new main · ts not tried – no data – no data – no data – no data – none yet'],
    [
      'has no data',
      // A browser would resolve this name as a path, so that it has no links.
      { ...EXPIRED, name: '..' },
      '.. main · ts no data: not scraped for 5 min – no data – no data – no data – no data 55 s ago',
    ],
  ])('that %s shows state, numbers and times', async (_state, station, text) => {
    const columns = ['Station', 'State', 'Resources', 'Firing', 'Pending', 'Unknown state', 'Coverage', 'Last success'];
    const [row] = rowsOf((await openWith([station])).body, 'stations', columns);
    expect(row).toBe(text);
  });
});
