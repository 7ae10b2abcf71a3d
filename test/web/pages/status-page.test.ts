import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StationStatus } from '../../../src/inventory/station-status.ts';
import { FAILURE_ADVICE } from '../../../src/model/failure.ts';
import { livePage } from '../../../src/web/pages/browser/live-page.ts';
import { stationRow, statusTotals } from '../../../src/web/pages/status-page.ts';
import { specOf } from '../../refresh/fixtures.ts';
import { NOW_MS, STATION, UPSTREAM } from '../fake-station.ts';
import { parseHtml } from '../html-parser.ts';
import { COMMON_HEADERS, startApp } from '../running-app.ts';

const FAILING: StationStatus = {
  ...STATION,
  name: 'a&b <c>',
  up: false,
  failure: { reason: 'timeout', message: 'no response\nin 10 s' },
  snapshot: { resources: 4200, complete: false, pages: 3, alertable: 10, withoutRules: 3 },
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
const SNAPSHOT = { resources: 42, complete: true, pages: 3, alertable: undefined, withoutRules: 7 };
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
      { ...FAILING, name: 'a', snapshot: { ...SNAPSHOT, alertable: 10, withoutRules: 5, complete: false } },
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
      ['?sort=station', 'a b-9 b-10 new old'],
      ['?sort=-station', 'old new b-10 b-9 a'],
      ['?sort=state', 'a old new b-10 b-9'],
      ['?sort=resources', 'b-9 b-10 a new old'],
      ['?sort=-resources', 'b-10 a b-9 new old'],
      ['?sort=coverage', 'a b-10 b-9 new old'],
      ['?sort=complete', 'a b-10 b-9 new old'],
      ['?sort=-pages', 'b-10 b-9 a new old'],
      ['?sort=next_refresh', 'old b-9 new b-10 a'],
      ['?sort=-constructor&state=toString', 'b-10 b-9 a new old'],
      ['?filter=nothing', ''],
    ])('of the query %j has the stations %s', async (query, expected) => {
      const { body, names } = await open(query);
      expect(names).toEqual(expected.split(' ').filter(Boolean));
      expect(body).toContain(`<p id="shown" role="status">${names.length} of 5 stations shown</p>`);
      expect(body.includes('No station matches.')).toBe(names.length === 0);
    });

    it('has headings and a form that keep the rest of the query', async () => {
      const { body } = await open('?filter=%22%3Cb&state=up&sort=resources');
      expect(body).toContain(
        '<th scope="col" class="number" aria-sort="ascending"><a href="?filter=%22%3Cb&#38;state=up&#38;sort=-resources" data-live>Resources</a></th>',
      );
      expect(body).toContain('<a href="?filter=%22%3Cb&#38;state=up&#38;sort=pages" data-live>Pages</a>');
      expect(body).toContain('name="filter" type="search" value="&#34;&#60;b"');
      expect(body).toContain('<option value="up" selected>up</option>');
      expect(body).toContain('<option value="resources" selected>Resources, ascending</option>');
      expect((await open('?sort=-pages')).body).toContain('aria-sort="descending"><a href="?sort=pages"');
    });
  });

  it('has the state of all stations as one sentence on top', async () => {
    const { request } = await startApp({ stations: () => [STATION, { ...FAILING, name: '<edge>' }] }, { now });
    expect((await request('/')).body).toContain(
      '<main id="content" tabindex="-1">\n<p id="summary" class="summary bad">1 of 2 stations fresh; 1 failing: &#60;edge&#62; (timeout).</p>',
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
      './probe?station=a%26b%2F%3Cc%3E',
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

  it('sums up stations, resources and known coverage', () => {
    const covered = {
      ...STATION,
      snapshot: { resources: 10, complete: true, pages: 1, alertable: 10, withoutRules: 0 },
    };
    expect(textOf([STATION, FAILING, FRESH, covered, EXPIRED])).toEqual([
      'Stations5',
      'Up2',
      'Failing1',
      'No data1',
      'Not tried1',
      'Resources4,252',
      'Coverage85 %',
    ]);
  });

  it('has no coverage when it is unknown for every station', () => {
    expect(textOf([STATION]).at(-1)).toBe('Coverage– unknown for every station');
  });
});

describe('stationRow', () => {
  it('shows a station that is up', () => {
    const iso = '2026-01-02T03:04:05.000Z';
    const disabled = 'alertability is not enabled';
    expect(stationRow(STATION, NOW_MS).row.text).toBe(`<tr id="row-prod">
<th scope="row"><a href="./stations/prod">prod</a> <span class="sub">main · ts-1</span></th>
<td data-label="State"><span><span class="state up">up</span></span></td>
<td class="number" data-label="Resources">42</td>
<td class="number" data-label="Coverage"><span class="unknown" title="${disabled}">–<span class="hidden-text"> ${disabled}</span></span></td>
<td data-label="Complete">yes</td>
<td class="number" data-label="Pages">3</td>
<td data-label="Snapshot"><time datetime="${iso}" title="${iso}">55 s ago</time></td>
<td data-label="Next refresh">on a scrape after 30 s</td>
<td data-label="Metrics"><a href="./probe?station=prod">metrics<span class="hidden-text"> of prod</span></a></td>
</tr>
`);
  });

  it('shows the reason of a failure in a few words', () => {
    expect(cells(FAILING)).toEqual([
      'a&b <c> main · ts-1',
      'failing: timeout',
      '4,200',
      '70 %',
      'no',
      '3',
      '55 s ago',
      'on a scrape after 30 s',
      'metrics of a&b <c>',
    ]);
  });

  it('shows a station that was not tried yet', () => {
    const none = '– no snapshot is served';
    expect(cells(FRESH)).toEqual([
      'new main · ts-1',
      'not tried',
      none,
      none,
      none,
      none,
      none,
      'refreshing now',
      'metrics of new',
    ]);
  });

  it('shows a station without data as such, although its latest refresh succeeded', () => {
    const none = '– no snapshot is served';
    const state = 'no data: not scraped for 5 min';
    expect(cells(EXPIRED)).toEqual([
      'prod main · ts-1',
      state,
      none,
      none,
      none,
      none,
      none,
      'on the next scrape',
      'metrics of prod',
    ]);
  });

  it('has no link to a station called ..', () => {
    expect(stationRow({ ...STATION, name: '..' }, NOW_MS).row.text).toContain('<th scope="row">.. <span');
  });

  it('escapes markup in every text of a station', () => {
    const hostile = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc
        .array(
          fc.constantFrom(
            '<script>',
            '</td>',
            '<!--',
            '"',
            "'",
            '>',
            '<',
            '&lt;',
            '&#60;',
            '&',
            '=',
            'javascript:',
            '\r',
            '\n',
            '\0',
            '\uD800',
          ),
        )
        .map((pieces) => pieces.join('')),
    );
    const tagsOf = (station: StationStatus) =>
      parseHtml(stationRow(station, NOW_MS).row.text).tags.map(({ name }) => name);
    fc.assert(
      fc.property(hostile, hostile, hostile, hostile, (name, upstream, telemetryStation, message) => {
        fc.pre(name !== '.' && name !== '..');
        const station: StationStatus = {
          ...FAILING,
          name,
          upstream,
          telemetryStation,
          failure: { reason: 'forbidden', message },
        };
        const seen = (text: string) => text.toWellFormed().replaceAll('\0', '\uFFFD');
        expect(cells(station)[0]).toBe(seen(`${name} ${upstream} · ${telemetryStation}`));
        expect(cells(station)[1]).toBe('failing: 403 Forbidden');
        expect(tagsOf(station)).toEqual(tagsOf({ ...FAILING, failure: { reason: 'forbidden', message: '' } }));
        const [page = '', probe = ''] = parseHtml(stationRow(station, NOW_MS).row.text).tags.flatMap(
          ({ attributes }) => attributes['href'] ?? [],
        );
        expect(decodeURIComponent(new URL(page, 'http://exporter/').pathname)).toBe(`/stations/${name.toWellFormed()}`);
        expect(new URL(probe, 'http://exporter/').searchParams.get('station')).toBe(name.toWellFormed());
      }),
    );
  });
});

/** The text of each cell of the station's rows. */
function cells(station: StationStatus): string[] {
  const matches = stationRow(station, NOW_MS).row.text.matchAll(/<(?:td|th)\b[^>]*>([\s\S]*?)<\/(?:td|th)>/g);
  return [...matches].map(([, cell]) => parseHtml(cell ?? '').text);
}
