import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StationStatus } from '../../../src/inventory/station-status.ts';
import { livePage } from '../../../src/web/pages/browser/live-page.ts';
import { statusTotals } from '../../../src/web/pages/status-page.ts';
import { detailOf, exporterOf, NOW_MS, SNAPSHOT, STATION, UPSTREAM, withRejected } from '../fake-station.ts';
import { parseHtml } from '../html-parser.ts';
import { COMMON_HEADERS, startApp } from '../running-app.ts';
import { contentOf, openPage, rowsOf, shown, textOf } from './opened-page.ts';

/** With 70 % coverage. */
const COVERED = { ...SNAPSHOT, withRules: 7, withoutRules: 3 };
const FAILING: StationStatus = {
  ...{ ...STATION, name: 'a&b <c>', up: false, failure: { reason: 'timeout', message: 'no response\nin 10 s' } },
  snapshot: { ...COVERED, resources: 4200, complete: false },
};
const FRESH: StationStatus = {
  ...{ ...STATION, name: 'new', up: undefined, isRefreshing: true, snapshot: undefined },
  ...{ lastSuccessMs: undefined, lastAttemptMs: undefined },
};
/** Refreshed by scrapes, and no longer scraped. */
const EXPIRED: StationStatus = { ...STATION, dueInMs: -300_000, snapshot: undefined };

const openWith = (stations: readonly StationStatus[], query = '') =>
  openPage({ stations: () => stations }, `/${query}`);

const namesIn = (body: string) => Array.from(body.matchAll(/<tr id="row-([^"]+)"/g), ([, name]) => name);

describe('statusPage', () => {
  it('shows all of many stations in their order', async () => {
    const names = Array.from({ length: 1234 }, (_, index) => `station ${index}`);
    const { body } = await openWith(names.map((name) => ({ ...STATION, name })));
    expect(namesIn(body)).toEqual(names.map(encodeURIComponent));
  });

  it('allows in its policy only its own style and script, by hash', async () => {
    const { status, headers, body } = await openPage();
    const sourceOf = (element: string) => {
      const [, text = ''] = new RegExp(`<${element}>([\\s\\S]*?)</${element}>`).exec(body) ?? [];
      return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    };
    expect({ status, headers }).toEqual({
      status: 200,
      headers: {
        ...COMMON_HEADERS,
        'content-type': 'text/html; charset=utf-8',
        'content-length': String(Buffer.byteLength(body)),
        vary: 'Accept, Accept-Encoding',
        'content-security-policy': `default-src 'none'; style-src ${sourceOf('style')}; img-src 'self'; script-src ${sourceOf('script')}; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
      },
    });
    expect(body.match(/<(?:script|style)\b/g)).toEqual(['<style', '<script']);
    expect(body.replace(/<(script|style)>[\s\S]*?<\/\1>/g, '')).not.toMatch(/\sstyle=|\son\w+=/i);
  });

  describe('its table', () => {
    const stations = [
      { ...STATION, name: 'b-10', telemetryStation: 'Edge' },
      { ...STATION, name: 'b-9', upstream: 'second', dueInMs: -5, snapshot: { ...SNAPSHOT, resources: 9 } },
      { ...FAILING, name: 'a', snapshot: { ...COVERED, resources: 42, complete: false } },
      { ...FRESH, name: 'new' },
      { ...EXPIRED, name: 'old' },
    ];

    it.each([
      ['', 'b-10 b-9 a new old'],
      ['?filter=EDGE', 'b-10'],
      ['?filter=second+B-', 'b-9'],
      ['?filter=failing+timeout', 'a'],
      ['?filter=%20%20', 'b-10 b-9 a new old'],
      ['?state=up', 'b-10 b-9'],
      ['?state=no-data', 'new old'],
      ['?state=incomplete', 'a'],
      ['?state=failing&upstream=main&filter=timeout', 'a'],
      ['?upstream=second', 'b-9'],
      ['?upstream=seco', ''],
      ['?sort=station', 'a b-9 b-10 new old'],
      ['?sort=-station', 'old new b-10 b-9 a'],
      ['?sort=state', 'a old new b-10 b-9'],
      ['?sort=resources', 'b-9 b-10 a new old'],
      ['?sort=-resources', 'b-10 a b-9 new old'],
      ['?sort=coverage', 'a b-10 b-9 new old'],
      ['?sort=last_success', 'b-10 b-9 a old new'],
      ['?sort=complete', 'a b-10 b-9 new old'],
      ['?sort=-firing', 'b-10 b-9 a new old'],
      ['?sort=next_refresh', 'old b-9 new b-10 a'],
      ['?state=toString&sort=-constructor', 'b-10 b-9 a new old'],
      ['?filter=nothing', ''],
    ])('of the query %j has the stations %s', async (query, expected) => {
      const { body } = await openWith(stations, query);
      const names = namesIn(body);
      expect(names).toEqual(expected.split(' ').filter(Boolean));
      expect(body).toContain(`<p id="shown" role="status">${names.length} of 5 stations shown</p>`);
      expect(body.includes('No station matches.')).toBe(names.length === 0);
      expect(body.includes(' aria-sort="')).toBe(query.startsWith('?sort='));
    });

    it('has a choice of upstreams if there are several', async () => {
      const { body } = await openWith(stations, '?upstream=second');
      expect(contentOf(body, 'filter-upstream')).toMatch(/<option value="second" selected>second<\/option>$/);
      expect((await openWith([STATION])).body).not.toContain('filter-upstream');
    });

    it('has headings and a form that keep the rest of the query', async () => {
      const { body } = await openWith(stations, '?filter=%22%3Cb&state=up&sort=resources');
      for (const markup of [
        '<th scope="col" class="number" aria-sort="ascending"><a href="?filter=%22%3Cb&#38;state=up&#38;sort=-resources#stations">Resources</a></th>',
        '<a href="?filter=%22%3Cb&#38;state=up&#38;sort=pending#stations">Pending</a>',
        'name="filter" type="search" value="&#34;&#60;b"',
        '<option value="up" selected>up</option>',
        '<option value="resources" selected>Resources, ascending</option>',
      ])
        expect(body).toContain(markup);
      const descending = await openWith(stations, '?sort=-pending');
      expect(descending.body).toContain('aria-sort="descending"><a href="?sort=pending#stations"');
    });
  });

  it('has the state of all stations as one sentence on top', async () => {
    const { body } = await openWith([STATION, { ...FAILING, name: '<edge>', snapshot: SNAPSHOT }]);
    expect(body).toContain(
      '<main id="content" tabindex="-1">\n<p id="summary" class="summary bad">1 of 2 stations up; 1 failing: &#60;edge&#62; (timeout).</p>',
    );
    expect(textOf(body, 'failures')).toContain('<edge> of upstream main');
    expect((await openWith([])).body).toContain('>No stations are configured on this shard.</p>');
  });

  it('shows the upstreams whose limits are reached above the stations, and none otherwise', async () => {
    const load = { ...UPSTREAM.load, recentThrottled: 36, requestsPerSecond: 4.2 };
    const { body } = await openPage({ upstreams: () => [UPSTREAM, { ...UPSTREAM, name: '<b>', load }] });
    expect(textOf(body, 'load')).toBe('Upstreams <b>throttled: 36 of 180 requests in 5 min, now 4.2 requests/s');
    expect((await openPage()).body).toContain('<div id="load"></div>');
  });

  it('hides every control that needs the script until it runs', async () => {
    const { body } = await openPage();
    const { tags } = parseHtml(
      body.replace(/<form[\s\S]*?<\/form>|<div id="live" data-keep hidden>[\s\S]*?<\/div>/g, ''),
    );
    expect(tags.filter(({ name }) => ['input', 'select', 'button'].includes(name))).toEqual([]);
  });

  it('links to every readable endpoint, and each link works', async () => {
    const name = 'a&b/<c>';
    const { request } = await startApp(exporterOf(detailOf([], { spec: { name }, status: { ...FAILING, name } })), {
      telemetryPath: '/deep/metrics',
    });
    const { hrefs } = shown((await request('/')).body);
    const links = hrefs.filter((href) => !/^[?#]/.test(href));
    expect(links).toEqual([
      './favicon.ico',
      './',
      './reference',
      './sd',
      './config',
      './stations/a%26b%2F%3Cc%3E',
      './stations/a%26b%2F%3Cc%3E',
      './stations/a%26b%2F%3Cc%3E#resources',
      './deep/metrics',
      './-/healthy',
      './-/ready',
    ]);
    for (const link of links) expect((await request(link.slice(1))).status, link).toBe(200);
  });
});

describe('livePage', () => {
  it('is inlined as a script that parses, refers to no import and creates no markup from text', async () => {
    const [, script = ''] = /<script>([\s\S]*?)<\/script>/.exec((await openPage()).body) ?? [];
    expect(() => new Script(script)).not.toThrow();
    expect(script).not.toMatch(/<!--|\bimport\b|__vi|_live/);
    expect(script).toContain(String(livePage));
    expect(String(livePage)).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|eval/);
  });
});

describe('statusTotals', () => {
  const totalsOf = (stations: readonly StationStatus[]) => shown(statusTotals(stations).text);

  it('sums up stations, resources and known coverage, and links to the stations and resources it counts', () => {
    const { text, hrefs } = totalsOf([
      { ...STATION, snapshot: { ...SNAPSHOT, resources: 42, firing: 5 } },
      FAILING,
      FRESH,
      { ...STATION, snapshot: { ...COVERED, resources: 10, ...withRejected(1), withRules: 10, withoutRules: 0 } },
      EXPIRED,
      { ...STATION, snapshot: SNAPSHOT },
    ]);
    expect(text).toBe(
      'Stations6 Up3 Failing1 Not tried1 No data2 Incomplete2 Resources4,252 Firing5 Pending0 Coverage85 %',
    );
    expect(hrefs).toEqual([
      ...['up', 'failing', 'not-tried', 'no-data', 'incomplete'].map((state) => `?state=${state}#stations`),
      './search?alert_state=firing',
    ]);
  });

  it('has no number that nothing is known of', () => {
    const failed = { ...FAILING, snapshot: undefined };
    expect(totalsOf([failed, failed]).text).toBe(
      'Stations2 Up0 Failing2 Not tried0 No data2 Incomplete– no data Resources– no data Firing– no data Pending– no data Coverage– no data',
    );
  });
});

describe('statusPage with bad news', () => {
  const MINUTE_MS = 60_000;

  it('shows the outages of the last hour, also those that ended, with a length that does not change', async () => {
    const outage = (fromMin: number, toMin: number | undefined) => ({
      ...{ fromMs: NOW_MS - fromMin * MINUTE_MS, failed: 3, reasons: ['timeout' as const, 'auth' as const] },
      toMs: toMin === undefined ? undefined : NOW_MS - toMin * MINUTE_MS,
    });
    const { body } = await openWith([
      { ...STATION, name: 'a', outages: [outage(200, 61), outage(70, 59)] },
      { ...FAILING, name: '<b>', outages: [outage(5, undefined)] },
    ]);
    expect(textOf(body, 'outages')).toBe(
      'Outages of the last hour <b> 03:00–now (5 min) 3 failed: timeout, auth a 01:55–02:06 (11 min) 3 failed: timeout, auth',
    );
    const many = await openWith(Array(25).fill({ ...STATION, outages: [outage(9, 1)] }));
    expect(many.text).toContain('5 more');
    expect((await openWith([STATION])).body).toContain('<div id="outages"></div>');
  });

  it('shows a rejected reload with its problems, and is not green then', async () => {
    const problems = ['config.yaml:1:2: <x>: unknown key', 'more'];
    const stations = () => [STATION];
    const { body, text } = await openPage({ stations, rejectedReload: () => ({ atMs: NOW_MS - MINUTE_MS, problems }) });
    expect(text).toContain(
      'The configuration reload failed 1 min ago: the previous configuration remains in use. config.yaml:1:2: <x>: unknown keymore',
    );
    expect(body).toContain('class="summary warning">1 of 1 station up.</p>');
    expect((await openPage({ stations })).body).toContain('class="summary good">1 of 1 station up.</p>');
  });

  it('is not green while data may be missing resources, and says why', async () => {
    const snapshot = { ...SNAPSHOT, complete: false, incompleteReasons: ['total 500, 494 listed'] };
    const { body } = await openWith([{ ...STATION, snapshot }]);
    expect(body).toContain(
      'class="summary warning">1 of 1 station up; prod may be missing resources: listing incomplete: total 500, 494 listed.</p>',
    );
    expect(body).not.toMatch(/class="state up"|summary good/);
  });
});

describe('the row of a station', () => {
  const NONE = '– no data – no data – no data – no data – no data';

  it.each<[string, StationStatus, string]>([
    ['is up', STATION, 'prod main · ts up 42 5 1 83 % yes 55 s ago on the first scrape after 30 s'],
    [
      'misses records',
      { ...STATION, snapshot: { ...SNAPSHOT, ...withRejected(3) } },
      'prod main · ts up: 3 rejected – no data – no data – no data – no listed resource can have alerts 3 rejected 55 s ago on the first scrape after 30 s',
    ],
    [
      'fails',
      FAILING,
      'a&b <c> main · ts failing: timeout 4,200 0 0 70 % incomplete 55 s ago on the first scrape after 30 s',
    ],
    ['was not tried yet', FRESH, `new main · ts not tried ${NONE} – none yet refreshing now`],
    ['has no data', EXPIRED, `prod main · ts no data: not scraped for 5 min ${NONE} 55 s ago on the next scrape`],
  ])('that %s shows state, numbers and times', async (_state, station, row) => {
    expect(rowsOf((await openWith([station])).body, 'stations')).toEqual([row]);
  });

  it('has the headings for a narrow screen, and is a number where its column is', async () => {
    const { body } = await openWith([STATION, { ...STATION, name: '..' }]);
    for (const cell of [
      '<th scope="row"><a href="./stations/prod">prod</a> <span class="sub">main · ts</span></th>',
      '<td data-label="State"><span><span class="state up">up</span></span></td>',
      '<td class="number" data-label="Resources"><span><a href="./stations/prod#resources">42</a></span></td>',
      '<th scope="row">.. <span',
    ])
      expect(body).toContain(cell);
  });

  it('escapes markup in every text of a station', async () => {
    const parts = ['<script>', '</td>', '<!--', '"', "'", '>', '<', '&lt;', '&#60;', '&', '=', 'javascript:'];
    const hostile = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.constantFrom(...parts, '\r', '\n', '\0', '\uD800')).map((pieces) => pieces.join('')),
    );
    let station = FAILING;
    const { request } = await startApp({ stations: () => [station] });
    const row = async () => {
      const [markup = ''] = /<tr id="row-[\s\S]*?<\/tr>/.exec((await request('/')).body) ?? [];
      const { text, tags } = parseHtml(markup);
      return { text, tags: tags.map(({ name }) => name), hrefs: shown(markup).hrefs };
    };
    const plain = await row();
    await fc.assert(
      fc.asyncProperty(hostile, hostile, hostile, hostile, async (name, upstream, telemetryStation, message) => {
        fc.pre(name !== '.' && name !== '..');
        station = { ...FAILING, name, upstream, telemetryStation, failure: { reason: 'forbidden', message } };
        const { text, tags, hrefs } = await row();
        expect(text).toContain(`${name} ${upstream} · ${telemetryStation}`.toWellFormed().replaceAll('\0', '\uFFFD'));
        expect(tags).toEqual(plain.tags);
        const { pathname } = new URL(`${hrefs[0]}`, 'http://exporter/');
        expect(decodeURIComponent(pathname)).toBe(`/stations/${name.toWellFormed()}`);
      }),
      { numRuns: 50 },
    );
  });
});
