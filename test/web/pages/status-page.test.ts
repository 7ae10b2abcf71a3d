import { createHash } from 'node:crypto';
import { Script } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecentChanges } from '../../../src/inventory/recent-changes.ts';
import type { StationStatus } from '../../../src/inventory/station-status.ts';
import { ResourceLabels } from '../../../src/model/resource-labels.ts';
import { livePage } from '../../../src/web/pages/browser/live-page.ts';
import { statusTiles } from '../../../src/web/pages/status-page.ts';
import { resourceOf } from '../../refresh/fixtures.ts';
import { detailOf, exporterOf, NOW_MS, SNAPSHOT, STATION, withRejected } from '../fake-station.ts';
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
  lastSuccessMs: undefined,
  lastAttemptMs: undefined,
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
      ['?sort=-firing', 'b-10 b-9 a new old'],
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
        '<a href="?filter=%22%3Cb&#38;state=up&#38;sort=-firing#stations">Firing</a>',
        '<a href="?filter=%22%3Cb&#38;state=up&#38;sort=state#stations">State</a>',
        'name="filter" type="search" value="&#34;&#60;b"',
        '<option value="up" selected>up</option>',
        '<option value="resources" selected>Resources, ascending</option>',
      ])
        expect(body).toContain(markup);
      const descending = await openWith(stations, '?sort=-pending');
      expect(descending.body).toContain('aria-sort="descending"><a href="?sort=pending#stations"');
    });
  });

  it('has the state of all stations as one line on top, and what needs attention below', async () => {
    const { body } = await openWith([STATION, { ...FAILING, name: '<edge>', snapshot: SNAPSHOT }]);
    expect(body).toMatch(
      /<main id="content" tabindex="-1">\n<div class="headline">\n<p id="summary" class="summary bad">/,
    );
    expect(textOf(body, 'summary')).toBe('1 of 2 stations up; <edge>: timeout since 03:04 UTC');
    expect(textOf(body, 'attention')).toContain('<edge> main since 03:04 UTC, 55 s');
    const shard = await openPage({ stations: () => [], isSharded: true });
    expect(textOf(shard.body, 'summary')).toBe('No stations are configured on this shard');
    expect((await openPage()).body).toContain('<div id="attention"></div>');
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
      './config',
      './search?without_rules=yes',
      ...Array(4).fill('./stations/a%26b%2F%3Cc%3E'),
      './stations/a%26b%2F%3Cc%3E#history',
      './stations/a%26b%2F%3Cc%3E#resources',
      './stations/a%26b%2F%3Cc%3E?without_rules=yes#resources',
      './deep/metrics',
      './sd',
      './-/healthy',
      './-/ready',
    ]);
    for (const link of links) expect((await request(link.slice(1).replace(/#.*/, ''))).status, link).toBe(200);
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

describe('statusTiles', () => {
  const tilesOf = (stations: readonly StationStatus[], changes = new Map<string, RecentChanges>()) =>
    shown(statusTiles(stations, changes, NOW_MS).text);

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
      'Stations up3 of 61 failing, 2 no data, 2 incomplete, 1 not tried Resources4,252unchanged in the last hour Firing5in 1 station Pending0 Coverage85 % Oldest data55 sprod; expires after 15 min',
    );
    expect(hrefs).toEqual([
      ...['up', 'failing', 'no-data', 'incomplete', 'not-tried'].map((state) => `?state=${state}#stations`),
      '?sort=-resources#stations',
      './search?alert_state=firing',
      './search?without_rules=yes',
      './stations/prod',
    ]);
  });

  it('has no number that nothing is known of', () => {
    const failed = { ...FAILING, snapshot: undefined };
    expect(tilesOf([failed, failed]).text).toBe(
      'Stations up0 of 22 failing, 2 no data Resources– no dataunchanged in the last hour Firing– no data Pending– no data Coverage– no data',
    );
  });

  it('shows what changed within the last hour, and how many resources are in which unknown states', () => {
    const states = [
      { state: 'ESCALATED', resources: 6 },
      { state: '', resources: 1 },
    ];
    const station = { ...STATION, snapshot: { ...SNAPSHOT, unknown: 7, unknownStates: states } };
    const some = { added: 12, removed: 1, sinceMs: NOW_MS, loss: undefined };
    const many = { added: 0, removed: 1220, sinceMs: NOW_MS, loss: { lost: 1220, before: 1500, sinceMs: NOW_MS } };
    const changes = new Map([...Object.entries({ a: some, b: many })]);
    const { text, tags } = tilesOf([station], changes);
    expect(text).toContain('−1,221 +12 in the last hour');
    expect(text).toContain('Unknown state7ESCALATED and 1 other');
    expect(tags.filter(({ attributes }) => attributes['class'] === 'no')).toHaveLength(1);
    expect(tilesOf([station], new Map([['a', { ...some, removed: 0 }]])).text).toContain('+12 in the last hour');
    const calm = tilesOf([station], new Map([['a', some]]));
    expect(calm.tags.filter(({ attributes }) => attributes['class'] === 'no')).toHaveLength(0);
  });
});

describe('statusPage with bad news', () => {
  const MINUTE_MS = 60_000;

  it('is not green while a file is rejected, or data may be missing resources', async () => {
    const stations = () => [STATION];
    const rejected = () => ({ atMs: NOW_MS - MINUTE_MS, problems: ['config.yaml:1:2: <x>: unknown key'] });
    for (const port of [{ rejectedReload: rejected }, { rejectedWebReload: rejected }]) {
      const { body } = await openPage({ stations, ...port });
      expect(body).toContain('class="summary warning">');
      expect(textOf(body, 'attention')).toContain('config.yaml:1:2: <x>: unknown key');
    }
    const reasons = [{ reason: 'total_mismatch' as const, text: 'total 500, 494 listed' }];
    const snapshot = { ...SNAPSHOT, addsUp: false, complete: false, incompleteReasons: reasons };
    const { body } = await openWith([{ ...STATION, snapshot }]);
    expect(body).not.toMatch(/class="state up"|summary good/);
    expect((await openPage({ stations })).body).toContain('class="summary good">1 of 1 station up</p>');
  });

  it('says that 220 of 400 resources vanished, which and whose, although every station is up', async () => {
    const resource = resourceOf('a', { labels: { team: 'web' } });
    const removed = { atMs: NOW_MS - MINUTE_MS, change: 'removed' as const, resource, from: 'x', to: undefined };
    const older = { ...removed, atMs: NOW_MS - 2 * MINUTE_MS };
    const entry = { atMs: NOW_MS - MINUTE_MS, refreshes: 1, failed: 0, outcome: 'succeeded' as const, waitedMs: 0 };
    const entries = [{ ...entry, resources: 180, added: 0, removed: 220 }];
    const labels = new ResourceLabels([{ match: {}, labels: { team: 'web' } }]);
    const status = { refreshesSince: (fromMs: number) => entries.filter(({ atMs }) => atMs >= fromMs) };
    const changes = { newestFirst: [removed, older], dropped: 0 };
    const { body } = await openPage(exporterOf(detailOf([], { spec: { resourceLabels: labels }, status, changes })));
    expect(textOf(body, 'summary')).toBe('1 of 1 station up; prod: 220 of 400 resources are gone since 03:04 UTC');
    expect(textOf(body, 'attention')).toContain('See which, by team: web 1.');
    expect(textOf(body, 'totals')).toContain('−220 in the last hour');
    const [row = ''] = rowsOf(body, 'stations');
    expect(row).toContain('0 −220 since 03:04 UTC');
    expect(body).toContain(
      '<a href="./stations/prod/changes?change=removed&#38;since=2026-01-02T03%3A04%3A00.000Z">−220</a>',
    );
  });
});

describe('the row of a station', () => {
  const NONE = '– no data – no data – no data – no data';
  const QUIET = 'Last hour: 0 refreshes, none failed';

  it.each<[string, StationStatus, string]>([
    ['is up', STATION, `prod main · ts up ${QUIET} 42 5 1 83 % 55 s ago`],
    [
      'misses records',
      { ...STATION, snapshot: { ...SNAPSHOT, ...withRejected(3) }, incompleteSinceMs: NOW_MS - 3_600_000 },
      `prod main · ts up: 3 rejected since 02:05 UTC ${QUIET} – no data – no data – no data – no listed resource can have alerts 55 s ago`,
    ],
    [
      'has states of unknown meaning',
      { ...STATION, snapshot: { ...COVERED, resources: 9, unknown: 7 }, unknownSinceMs: NOW_MS },
      `prod main · ts up: 7 in an unknown state since 03:05 UTC ${QUIET} 9 0 0 7 70 % 55 s ago`,
    ],
    [
      'waits',
      { ...STATION, isRefreshing: true, waitingMs: 8600 },
      `prod main · ts up: has waited 8.6 s for capacity ${QUIET} 42 5 1 83 % 55 s ago`,
    ],
    [
      'fails',
      FAILING,
      `a&b <c> main · ts failing: timeout since 03:04 UTC: incomplete ${QUIET} 4,200 0 0 70 % 55 s ago`,
    ],
    ['was not tried yet', FRESH, `new main · ts not tried ${QUIET} ${NONE} – none yet`],
    ['has no data', EXPIRED, `prod main · ts no data: not scraped for 5 min ${QUIET} ${NONE} 55 s ago`],
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
