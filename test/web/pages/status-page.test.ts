import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StationStatus } from '../../../src/inventory/station-status.ts';
import { FAILURE_ADVICE } from '../../../src/model/failure.ts';
import { livePage } from '../../../src/web/pages/browser/live-page.ts';
import { statusTotals } from '../../../src/web/pages/status-page.ts';
import { specOf } from '../../refresh/fixtures.ts';
import { NOW_MS, SNAPSHOT, STATION, UPSTREAM } from '../fake-station.ts';
import { parseHtml } from '../html-parser.ts';
import { COMMON_HEADERS, startApp } from '../running-app.ts';

const FAILING: StationStatus = {
  ...STATION,
  name: 'a&b <c>',
  up: false,
  failure: { reason: 'timeout', message: 'no response\nin 10 s' },
  snapshot: {
    ...{ ...SNAPSHOT, resources: 4200, complete: false, alertable: 10, withoutRules: 3 },
    coverage: { alertable: 10, withRules: 7 },
  },
};
const FRESH: StationStatus = {
  ...STATION,
  name: 'new',
  up: undefined,
  lastSuccessMs: undefined,
  lastAttemptMs: undefined,
  isRefreshing: true,
  snapshot: undefined,
};
/** Refreshed by scrapes, and no longer scraped. */
const EXPIRED: StationStatus = { ...STATION, dueInMs: -300_000, snapshot: undefined };
const now = () => NOW_MS;

describe('statusPage', () => {
  it('is rendered at most once per second, for all requests together', async () => {
    let elapsedMs = 1_000_000;
    let rendered = 0;
    const stations = () => {
      rendered += 1;
      return [{ ...STATION, name: `rendering ${rendered}` }];
    };
    const { request } = await startApp({ stations }, { elapsedMs: () => elapsedMs });
    const shown = async () => /rendering \d+/.exec((await request('/')).body)?.[0];
    expect(await Promise.all([shown(), shown(), shown()])).toEqual(Array(3).fill('rendering 1'));
    elapsedMs += 999;
    expect(await shown()).toBe('rendering 1');
    elapsedMs += 1;
    expect(await Promise.all([shown(), shown()])).toEqual(Array(2).fill('rendering 2'));
  });

  it('is rendered again after an error', async () => {
    let isBroken = true;
    const stations = () => (isBroken ? JSON.parse('{') : [STATION]);
    let elapsedMs = 0;
    const { request, reported } = await startApp({ stations }, { elapsedMs: () => elapsedMs });
    expect((await request('/')).status).toBe(500);
    isBroken = false;
    elapsedMs += 1000;
    expect((await request('/')).status).toBe(200);
    expect(reported).toHaveLength(1);
  });

  it('shows all of many stations in their order', async () => {
    const names = Array.from({ length: 1234 }, (_, index) => `station ${index}`);
    const { request } = await startApp({ stations: () => names.map((name) => ({ ...STATION, name })) });
    const { body } = await request('/');
    expect(Array.from(body.matchAll(/<tr id="row-([^"]+)"/g), ([, name]) => name)).toEqual(
      names.map(encodeURIComponent),
    );
  });

  it('allows in its policy only its own style and script, by hash', async () => {
    const { request } = await startApp();
    const { status, headers, body } = await request('/');
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

  it('shows the version', async () => {
    const { request } = await startApp();
    expect((await request('/')).body).toContain('<p>Version 1.2.3</p>');
  });

  describe('its table', () => {
    const stations = [
      { ...STATION, name: 'b-10', telemetryStation: 'Edge' },
      { ...STATION, name: 'b-9', upstream: 'second', dueInMs: -5, snapshot: { ...SNAPSHOT, resources: 9 } },
      {
        ...FAILING,
        name: 'a',
        snapshot: {
          ...SNAPSHOT,
          resources: 42,
          withoutRules: 5,
          coverage: { alertable: 10, withRules: 5 },
          complete: false,
        },
      },
      { ...FRESH, name: 'new' },
      { ...EXPIRED, name: 'old' },
    ];

    async function open(query: string) {
      const { request } = await startApp({ stations: () => stations }, { now });
      const { body } = await request(`/${query}`);
      return { body, names: Array.from(body.matchAll(/<tr id="row-([^"]+)"/g), ([, name]) => name) };
    }

    it.each([
      ['', 'b-10 b-9 a new old'],
      ['?filter=EDGE', 'b-10'],
      ['?filter=second+B-', 'b-9'],
      ['?filter=failing+timeout', 'a'],
      ['?filter=%20%20', 'b-10 b-9 a new old'],
      ['?state=up', 'b-10 b-9'],
      ['?state=no-data', 'old'],
      ['?state=up&filter=10', 'b-10'],
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
      ['?sort=-constructor&state=toString', 'b-10 b-9 a new old'],
      ['?filter=nothing', ''],
    ])('of the query %j has the stations %s', async (query, expected) => {
      const { body, names } = await open(query);
      expect(names).toEqual(expected.split(' ').filter(Boolean));
      expect(body).toContain(`<p id="shown" role="status">${names.length} of 5 stations shown</p>`);
      expect(body.includes('No station matches.')).toBe(names.length === 0);
    });

    it('has a choice of upstreams if there are several', async () => {
      const { body } = await open('?upstream=second');
      expect(body).toMatch(
        /<select id="filter-upstream"[\s\S]*?<option value="second" selected>second<\/option><\/select>/,
      );
      const single = await startApp({ stations: () => [STATION] });
      expect((await single.request('/')).body).not.toContain('filter-upstream');
    });

    it('has headings and a form that keep the rest of the query', async () => {
      const { body } = await open('?filter=%22%3Cb&state=up&sort=resources');
      expect(body).toContain(
        '<th scope="col" class="number" aria-sort="ascending"><a href="?filter=%22%3Cb&#38;state=up&#38;sort=-resources#stations">Resources</a></th>',
      );
      expect(body).toContain('<a href="?filter=%22%3Cb&#38;state=up&#38;sort=pending#stations">Pending</a>');
      expect(body).toContain('name="filter" type="search" value="&#34;&#60;b"');
      expect(body).toContain('<option value="up" selected>up</option>');
      expect(body).toContain('<option value="resources" selected>Resources, ascending</option>');
      expect((await open('?sort=-pending')).body).toContain('aria-sort="descending"><a href="?sort=pending#stations"');
    });
  });

  it('has the state of all stations as one sentence on top', async () => {
    const { request } = await startApp(
      { stations: () => [STATION, { ...FAILING, name: '<edge>', snapshot: SNAPSHOT }] },
      { now },
    );
    expect((await request('/')).body).toContain(
      '<main id="content" tabindex="-1">\n<p id="summary" class="summary bad">1 of 2 stations up; 1 failing: &#60;edge&#62; (timeout).</p>',
    );
    const { request: empty } = await startApp({ stations: () => [] });
    expect((await empty('/')).body).toContain('>No stations are configured on this shard.</p>');
  });

  it('shows a failure once for all stations that have it', async () => {
    const { request } = await startApp({ stations: () => [FAILING, { ...FAILING, name: 'b' }, STATION] }, { now });
    const { body } = await request('/');
    expect(body.split(FAILURE_ADVICE.timeout.meaning)).toHaveLength(2);
    expect(parseHtml(body).text).toContain('2 stations of upstream main');
  });

  it('shows the upstreams whose limits are reached above the stations, and none otherwise', async () => {
    const throttled = {
      ...UPSTREAM,
      name: '<b>',
      load: { ...UPSTREAM.load, recentThrottled: 36, requestsPerSecond: 4.2 },
    };
    const { request } = await startApp({ upstreams: () => [UPSTREAM, throttled] });
    expect((await request('/')).body).toContain(`<div id="load"><section aria-labelledby="upstreams">
<h2 id="upstreams">Upstreams</h2>
<dl class="facts" id="upstream-loads">
<dt>&#60;b&#62;</dt><dd><ul><li>throttled (429): 36 of 180 requests in 5 min, now 4.2 requests/s</li></ul></dd>
</dl>
</section></div>`);
    const { request: idle } = await startApp({ upstreams: () => [UPSTREAM] });
    expect((await idle('/')).body).toContain('<div id="load"></div>');
  });

  it('hides every control that needs the script until it runs', async () => {
    const { body } = await (await startApp()).request('/');
    const { tags } = parseHtml(
      body.replace(/<form[\s\S]*?<\/form>|<div id="live" data-keep hidden>[\s\S]*?<\/div>/g, ''),
    );
    expect(tags.filter(({ name }) => ['input', 'select', 'button'].includes(name))).toEqual([]);
  });

  it('links to every readable endpoint, and each link works', async () => {
    const station = { ...FAILING, name: 'a&b/<c>' };
    const { request } = await startApp(
      {
        stations: () => [station],
        has: () => true,
        station: () => ({
          spec: specOf({ name: station.name }),
          upstream: UPSTREAM,
          status: station,
          served: undefined,
          links: [],
        }),
      },
      { telemetryPath: '/deep/metrics' },
    );
    const { tags } = parseHtml((await request('/')).body);
    const links = tags.flatMap(({ name, attributes }) =>
      name === 'a' && !attributes['href']?.startsWith('?') ? [attributes['href'] ?? ''] : [],
    );
    expect(links).toEqual([
      '#content',
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
    for (const link of links.slice(1)) expect((await request(link.slice(1))).status, link).toBe(200);
  });
});

describe('livePage', () => {
  const inlined = async () => {
    const { request } = await startApp();
    const [, script = ''] = /<script>([\s\S]*?)<\/script>/.exec((await request('/')).body) ?? [];
    return script;
  };

  it('is inlined as a script that parses and refers to no import', async () => {
    const script = await inlined();
    expect(() => new Script(script)).not.toThrow();
    expect(script).not.toMatch(/<!--|\bimport\b|__vi|_live/);
  });

  it('creates no markup from text', async () => {
    expect(await inlined()).toContain(String(livePage));
    expect(String(livePage)).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|eval/);
  });
});

describe('statusTotals', () => {
  const textOf = (stations: readonly StationStatus[]) => parseHtml(statusTotals(stations).text).text.trim().split('\n');

  it('sums up stations, resources and known coverage, and links to firing and pending resources', () => {
    const covered = {
      ...STATION,
      snapshot: {
        ...SNAPSHOT,
        resources: 10,
        rejected: 1,
        withoutRules: 0,
        coverage: { alertable: 10, withRules: 10 },
      },
    };
    const unknown = { ...STATION, snapshot: SNAPSHOT };
    const stations = [{ ...STATION, snapshot: { ...SNAPSHOT, resources: 42, firing: 5 } }, FAILING, FRESH, covered];
    expect(textOf([...stations, EXPIRED, unknown])).toEqual([
      'Stations6',
      'Up3',
      'Failing1',
      'Not tried1',
      'No data2',
      'Incomplete2',
      'Resources4,252',
      'Firing5',
      'Pending0',
      'Coverage85 %',
    ]);
    expect(statusTotals(stations).text).toContain('<dd><a href="./search?state=firing">5</a></dd>');
  });

  it('has no number that nothing is known of', () => {
    const failed = { ...FAILING, snapshot: undefined };
    expect(textOf([failed, failed]).slice(-6)).toEqual([
      'No data2',
      'Incomplete– no data',
      'Resources– no data',
      'Firing– no data',
      'Pending– no data',
      'Coverage– unknown for every station',
    ]);
  });
});

describe('statusPage with bad news', () => {
  const MINUTE_MS = 60_000;
  const page = async (exporter: Parameters<typeof startApp>[0]) => {
    const { request } = await startApp(exporter, { now });
    return (await request('/')).body;
  };

  it('shows the outages of the last hour, also those that ended, with a length that does not change', async () => {
    const outage = (fromMin: number, toMin: number | undefined) => ({
      ...{ fromMs: NOW_MS - fromMin * MINUTE_MS, failed: 3, reasons: ['timeout' as const, 'auth' as const] },
      toMs: toMin === undefined ? undefined : NOW_MS - toMin * MINUTE_MS,
    });
    const stations = () => [
      { ...STATION, name: 'a', outages: [outage(200, 61), outage(70, 59)] },
      { ...FAILING, name: '<b>', outages: [outage(5, undefined)] },
    ];
    const [, section = ''] = /<div id="outages">([\s\S]*?)<\/div>/.exec(await page({ stations })) ?? [];
    expect(parseHtml(section).text.replaceAll(/\s+/g, ' ').trim()).toBe(
      'Outages of the last hour <b> 03:00–now (5 min) 3 failed: timeout, auth a 01:55–02:06 (11 min) 3 failed: timeout, auth',
    );
    const many = Array.from({ length: 25 }, (_, at) => ({ ...STATION, name: `s${at}`, outages: [outage(9, 1)] }));
    expect(parseHtml(await page({ stations: () => many })).text).toContain('5 more');
    expect(await page({ stations: () => [STATION] })).toContain('<div id="outages"></div>');
  });

  it('shows a rejected reload with its problems, and is not green then', async () => {
    const rejectedReload = () => ({
      atMs: NOW_MS - MINUTE_MS,
      problems: ['config.yaml:1:2: <x>: unknown key', 'more'],
    });
    const body = await page({ stations: () => [STATION], rejectedReload });
    const { text } = parseHtml(body);
    expect(text).toContain('The configuration was not reloaded (1 min ago): the one before is in force.');
    expect(text).toContain('config.yaml:1:2: <x>: unknown keymore');
    expect(body).toContain('class="summary warning">1 of 1 station up.</p>');
    expect(await page({ stations: () => [STATION] })).toContain('class="summary good">1 of 1 station up.</p>');
  });

  it('is not green while data may miss resources, and says why', async () => {
    const snapshot = { ...SNAPSHOT, complete: false, incompleteReasons: ['total 500, 494 listed'] };
    const body = await page({ stations: () => [{ ...STATION, snapshot }] });
    expect(body).toContain(
      'class="summary warning">1 of 1 station up; prod may miss resources: listing incomplete: total 500, 494 listed.</p>',
    );
    expect(body).not.toMatch(/class="state up"|summary good/);
  });
});

/** The row of the station in the page, and the text of its cells. */
async function rowOf(station: StationStatus) {
  const { request } = await startApp({ stations: () => [station] }, { now });
  const [row = ''] = /<tr id="row-[\s\S]*?<\/tr>/.exec((await request('/')).body) ?? [];
  const cells = [...row.matchAll(/<(?:td|th)\b[^>]*>([\s\S]*?)<\/(?:td|th)>/g)];
  return { row, cells: cells.map(([, cell = '']) => parseHtml(cell).text) };
}

describe('the row of a station', () => {
  const NONE = '– no data';

  it.each<[string, StationStatus, readonly string[]]>([
    ['is up', STATION, ['up', '42', '5', '1', '83 %', 'yes', '55 s ago', 'on a scrape after 30 s']],
    [
      'misses records',
      { ...STATION, snapshot: { ...SNAPSHOT, rejected: 3 } },
      [
        'up: 3 rejected',
        '0',
        '0',
        '0',
        '– alert rules are not reported',
        '3 rejected',
        '55 s ago',
        'on a scrape after 30 s',
      ],
    ],
    [
      'fails',
      FAILING,
      ['failing: timeout', '4,200', '0', '0', '70 %', 'incomplete', '55 s ago', 'on a scrape after 30 s'],
    ],
    ['was not tried yet', FRESH, ['not tried', ...Array(5).fill(NONE), '– none yet', 'refreshing now']],
    [
      'has no data',
      EXPIRED,
      ['no data: not scraped for 5 min', ...Array(5).fill(NONE), '55 s ago', 'on the next scrape'],
    ],
  ])('that %s shows state, numbers and times', async (_state, station, shown) => {
    const { name } = station;
    expect((await rowOf(station)).cells).toEqual([`${name} main · ts-1`, ...shown]);
  });

  it('has the headings for a narrow screen, and is a number where its column is', async () => {
    const { row } = await rowOf(STATION);
    expect(row).toContain(
      '<th scope="row"><a href="./stations/prod">prod</a> <span class="sub">main · ts-1</span></th>',
    );
    expect(row).toContain('<td data-label="State"><span><span class="state up">up</span></span></td>');
    expect(row).toContain(
      '<td class="number" data-label="Resources"><span><a href="./stations/prod#resources">42</a></span></td>',
    );
    expect((await rowOf({ ...STATION, name: '..' })).row).toContain('<th scope="row">.. <span');
  });

  it('escapes markup in every text of a station', async () => {
    const parts = ['<script>', '</td>', '<!--', '"', "'", '>', '<', '&lt;', '&#60;', '&', '=', 'javascript:'];
    const hostile = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.array(fc.constantFrom(...parts, '\r', '\n', '\0', '\uD800')).map((pieces) => pieces.join('')),
    );
    let station = FAILING;
    const { request } = await startApp({ stations: () => [station] }, { now, elapsedMs: everLater() });
    const shown = async () => /<tr id="row-[\s\S]*?<\/tr>/.exec((await request('/')).body)?.[0] ?? '';
    const tagsOf = (row: string) => parseHtml(row).tags.map(({ name }) => name);
    const plain = tagsOf(await shown());
    await fc.assert(
      fc.asyncProperty(hostile, hostile, hostile, hostile, async (name, upstream, telemetryStation, message) => {
        fc.pre(name !== '.' && name !== '..');
        station = { ...FAILING, name, upstream, telemetryStation, failure: { reason: 'forbidden', message } };
        const row = await shown();
        const seen = (text: string) => text.toWellFormed().replaceAll('\0', '\uFFFD');
        expect(parseHtml(row).text).toContain(seen(`${name} ${upstream} · ${telemetryStation}`));
        expect(tagsOf(row)).toEqual(plain);
        const links = parseHtml(row).tags.flatMap(({ attributes }) => attributes['href'] ?? []);
        const { pathname } = new URL(links[0] ?? '', 'http://exporter/');
        expect(decodeURIComponent(pathname)).toBe(`/stations/${name.toWellFormed()}`);
      }),
      { numRuns: 50 },
    );
  });
});

/** A clock that makes every request render the page again. */
function everLater(): () => number {
  let elapsedMs = 0;
  return () => {
    elapsedMs += 10_000;
    return elapsedMs;
  };
}
