import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HistoryEntry, Outage } from '../../../src/inventory/history.ts';
import { historySection, refreshesSection } from '../../../src/web/pages/history-page.ts';
import { hourStrip, numbersSection } from '../../../src/web/pages/timeline.ts';
import { detailOf, exporterOf, NOW_MS, STATION } from '../fake-station.ts';
import { openPage, rowsOf, shown } from './opened-page.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function entryAt(agoMs: number, changes: Partial<HistoryEntry> = {}): HistoryEntry {
  return {
    atMs: NOW_MS - agoMs,
    refreshes: 1,
    failed: 0,
    outcome: 'succeeded',
    waitedMs: 0,
    durationMs: 250,
    pages: 3,
    resources: 42,
    firing: 2,
    added: 0,
    removed: 0,
    stateChanges: 0,
    ...changes,
  };
}

function failureAt(agoMs: number, changes: Partial<HistoryEntry> = {}): HistoryEntry {
  return {
    atMs: NOW_MS - agoMs,
    refreshes: 1,
    failed: 1,
    outcome: 'failed',
    waitedMs: 0,
    durationMs: 10_000,
    failure: { reason: 'timeout', message: 'no reply' },
    ...changes,
  };
}

function section(history: readonly HistoryEntry[], status: Partial<typeof STATION> = {}, ttlMs = MINUTE_MS): string {
  const station = { ...detailOf([], { history, status: { ttlMs, ...status } }), nowMs: NOW_MS };
  return [historySection(station), numbersSection(station), refreshesSection(station)].map(({ text }) => text).join('');
}

/** One per minute, the latest first, from `agoMs` on. */
function minutes(count: number, entry: (agoMs: number) => HistoryEntry = entryAt, agoMs = 0): HistoryEntry[] {
  return Array.from({ length: count }, (_, index) => entry(agoMs + index * MINUTE_MS));
}

/** State, first and last cell of each bar of the timeline. */
function bars(markup: string): string[] {
  const paths = [...markup.matchAll(/<path class="(\w+)" d="([^"]*)"/g)];
  const found = paths.flatMap(([, state = '', path = '']) =>
    Array.from(path.matchAll(/M(\d+) \d+h(\d+)/g), ([, from, cells]) => ({
      state,
      from: Number(from),
      cells: Number(cells),
    })),
  );
  return found.sort((a, b) => a.from - b.from).map(({ state, from, cells }) => `${state} ${from}–${from + cells - 1}`);
}

/** The states of the bars. */
function states(markup: string): string[] {
  return bars(markup).map((bar) => bar.replace(/ .*/, ''));
}

function outage(fromMs: number, toMs: number | undefined, changes: Partial<Outage> = {}): Outage {
  return { fromMs, toMs, failed: 1, reasons: ['timeout'], statuses: [], ...changes };
}

/** The lines of the resources, firing resources and durations. */
function paths(markup: string): string[] {
  return Array.from(markup.matchAll(/<path d="([^"]*)"/g), ([, path = '']) => path);
}

describe('historySection', () => {
  it.each<[what: string, history: readonly HistoryEntry[], ...texts: string[]]>([
    ['that no refresh has ended yet', [], 'No refresh has ended yet.'],
    [
      'the sum of the refreshes',
      [...minutes(20), ...minutes(10, failureAt, 20 * MINUTE_MS), entryAt(200 * MINUTE_MS, { outcome: 'incomplete' })],
      'Last 6 h: 31 refreshes, 10 failed (timeout), some incomplete. The history begins 3 h 20 min ago.',
    ],
    [
      'the latest, smallest and largest number beside each line',
      [
        entryAt(0, { resources: 1234, firing: 0, durationMs: 90_000 }),
        entryAt(MINUTE_MS, { resources: 7 }),
        entryAt(2 * MINUTE_MS, { resources: 2000 }),
      ],
      'Resources: 1,234 min 7, max 2,000',
      'Firing resources: 0 min 0, max 2',
      'Refresh duration: 1 min 30 s min 250 ms, max 1 min 30 s',
    ],
    [
      'the status where that is why refreshes failed',
      [failureAt(0, { failure: { reason: 'status', message: 'm', status: 503 } })],
      'Last 1 h: 1 refresh, 1 failed (503 Service Unavailable).',
    ],
    [
      'time, duration, wait, pages, counts and changes of a refresh',
      [
        entryAt(0, { waitedMs: 90_000, added: 1200, removed: 1, stateChanges: 3, rulesChanges: 2 }),
        entryAt(24 * HOUR_MS),
      ],
      '03:05:00 succeeded 250 ms waited 1 min 30 s 3 42 2 1,200 added, 1 removed, 3 changed state, 2 changed rules 01 Jan 03:05:00 succeeded 250 ms 3 42 2 none',
    ],
    [
      'how many refreshes of a minute failed',
      [failureAt(0, { refreshes: 12, failed: 5 }), entryAt(MINUTE_MS, { refreshes: 12 })],
      '5 of 12 failed timeout: no reply',
      '12 refreshes, succeeded',
    ],
    [
      'no times in the future, and the others sorted, where the wall clock was set',
      [
        entryAt(10 * MINUTE_MS, { resources: 1 }),
        entryAt(0, { resources: 3 }),
        failureAt(5 * MINUTE_MS),
        failureAt(-HOUR_MS, { failure: { reason: 'tls', message: 'm' } }),
        entryAt(30 * HOUR_MS),
      ],
      'Last 24 h: 3 refreshes, 1 failed (timeout).',
      'Resources: 3 min 1, max 3',
    ],
  ])('shows %s', (_what, history, ...texts) => {
    const { text } = shown(section(history));
    for (const expected of texts) expect(text).toContain(expected);
  });

  it('says that numbers are the last known ones once the data has expired', () => {
    const { text } = shown(section([failureAt(0), entryAt(MINUTE_MS)], { snapshot: undefined }));
    expect(text).toContain('Resources: last known 42 min 42, max 42 Firing resources: last known 2');
  });

  it('draws no line without a number, and interrupts the lines where there was no refresh', () => {
    const markup = section([failureAt(0)]);
    expect(shown(markup).text).toContain('Resources: – no refresh has succeeded');
    expect(paths(markup)).toHaveLength(1);
    expect(paths(section([...minutes(2), entryAt(30 * MINUTE_MS)]))[0]?.match(/M/g)).toHaveLength(2);
  });

  it('says how many resources may be firing besides, of several refreshes the most', () => {
    const unknown = { firing: 2, unknown: 7 };
    const { text } = shown(section([entryAt(0, unknown), entryAt(MINUTE_MS, { ...unknown, refreshes: 12 })]));
    expect(text).toContain('2 7 unknown');
    expect(text).toContain('2 up to 7 unknown');
  });

  it('lists the latest 60 refreshes, and the others in a part to open', () => {
    const markup = section(minutes(100));
    const [listed = '', opened = ''] = markup.slice(markup.indexOf('refreshes-title')).split('<details>');
    expect(listed.match(/<tr>\n/g)).toHaveLength(60);
    expect(opened.match(/<tr>\n/g)).toHaveLength(40);
    expect(shown(opened).text).toMatch(/^40 more.*Download CSV JSON$/);
    expect(shown(opened).hrefs).toContain('?format=csv');
  });

  it('links to the changes of a refresh, or of all refreshes of an entry', () => {
    const linksOf = (changes: Partial<HistoryEntry>) =>
      shown(section([entryAt(0, { removed: 1, ...changes })])).hrefs.filter((href) => href.includes('since'));
    const until = '2026-01-02T03%3A05%3A00.000Z';
    expect(linksOf({})).toEqual([`../../stations/prod/changes?since=${until}&until=${until}`]);
    expect(linksOf({ refreshes: 6, firstMs: NOW_MS - 5 * MINUTE_MS })).toEqual([
      `../../stations/prod/changes?since=2026-01-02T03%3A00%3A00.000Z&until=${until}`,
    ]);
  });

  it('lists outages as their history has them, the latest first, and more than five in a part to open', () => {
    const outages = Array.from({ length: 7 }, (_, at) => {
      const fromMs = NOW_MS - (7 - at) * HOUR_MS;
      return outage(fromMs, fromMs + 610_000, { failed: 10, reasons: ['tls', 'status'], statuses: [503] });
    });
    const current = outage(NOW_MS - 30_000, undefined);
    const [listed = '', opened = ''] = section([failureAt(0)], { outages: [...outages, current] }).split('<details>');
    expect(shown(listed).text).toContain(
      'Outages 03:04 UTC–now (30 s) 1 failed: timeout 02:05–02:15 UTC (10 min 10 s) 10 failed: tls, 503 Service Unavailable 01:05–01:15 UTC',
    );
    expect(opened.match(/<li>/g)).toHaveLength(3);
    expect(section([entryAt(0)])).not.toContain('Outages');
  });

  it('draws 895 to 900 resources nearly level, and firing resources from zero', () => {
    const history = [entryAt(0, { resources: 900, firing: 6 }), entryAt(30 * MINUTE_MS, { resources: 895, firing: 5 })];
    const heights = paths(section(history)).map((path) => Array.from(path.matchAll(/M\d+ ([\d.]+)/g), ([, y]) => y));
    expect(heights.slice(0, 2)).toEqual([
      ['2.6', '1'],
      ['5.7', '1'],
    ]);
  });

  it.each([
    [10 * MINUTE_MS, 1],
    [HOUR_MS, 3],
    [5 * HOUR_MS, 6],
    [23 * HOUR_MS, 24],
    [40 * HOUR_MS, 24],
  ])('shows a history of %i ms in a timeline of %i hours', (agoMs, hours) => {
    const { text } = shown(section([entryAt(0), entryAt(agoMs)]));
    expect(text).toContain(`Last ${hours} h: `);
    expect(text.includes('The history begins')).toBe(agoMs < 24 * HOUR_MS);
  });

  it('shows a failure among successes of the same cell', () => {
    const history = minutes(1441).with(720, failureAt(720 * MINUTE_MS));
    expect(bars(section(history))).toEqual(['succeeded 0–118', 'failed 119–120', 'succeeded 121–239']);
  });

  it('begins the bar of merged refreshes with the first of them', () => {
    const merged = failureAt(31 * MINUTE_MS, { refreshes: 6, failed: 6, firstMs: NOW_MS - 34 * MINUTE_MS });
    // 02:30:50 to 02:35:30 in cells of 15 seconds since 02:05.
    expect(bars(section([entryAt(0), merged]))[0]).toBe('failed 103–121');
  });

  it('has the beginning and the extremes of refreshes that were merged', () => {
    const merged = entryAt(0, {
      refreshes: 77,
      firstMs: NOW_MS - 456_000,
      leastResources: 403,
      mostResources: 407,
      resources: 405,
      leastFiring: 0,
      mostFiring: 9,
    });
    const { text } = shown(section([merged]));
    expect(text).toContain('77 refreshes, none failed. The history begins 7 min 36 s ago.');
    expect(text).toContain('Resources: 405 min 403, max 407 Firing resources: 2 min 0, max 9');
  });

  it('shows where refreshes are missing, and nothing before the first one', () => {
    expect(bars(section([...minutes(10), ...minutes(5, entryAt, 40 * MINUTE_MS)]))).toEqual([
      'succeeded 63–85',
      'none 86–202',
      'succeeded 203–239',
    ]);
    expect(states(section([entryAt(0), entryAt(5 * HOUR_MS)], {}, 4 * HOUR_MS))).toEqual(['succeeded']);
  });

  it('shows that a refresh was postponed, and that one waits now', () => {
    const postponed = failureAt(10 * MINUTE_MS, { failed: 0, outcome: 'postponed' });
    const markup = section([postponed], { waitingMs: 5 * MINUTE_MS });
    expect(shown(markup).text).toContain('1 refresh, none failed, some postponed.');
    expect(states(markup)).toEqual(['postponed', 'none', 'waiting']);
  });

  it('shows that a refresh waited for capacity, from a second on', () => {
    const waited = (waitedMs: number) => [entryAt(10 * MINUTE_MS, { waitedMs }), entryAt(26 * MINUTE_MS)];
    expect(states(section(waited(999), { waitingMs: 999 }))).toEqual(['succeeded', 'none', 'succeeded', 'none']);
    expect(states(section(waited(15 * MINUTE_MS)))).toEqual(['succeeded', 'waiting', 'succeeded', 'none']);
  });

  it('covers the time from the first refresh until now without gaps, whatever the entries are', () => {
    const ms = fc.integer({ min: -HOUR_MS, max: 30 * HOUR_MS });
    const length = ms.map(Math.abs);
    const refreshes = fc.integer({ min: 1, max: 255 });
    const entry = fc.record({ agoMs: ms, durationMs: length, waitedMs: length, refreshes });
    fc.assert(
      fc.property(fc.array(entry), length, length, (entries, ttlMs, waitingMs) => {
        const history = entries.map(({ agoMs, ...rest }) => entryAt(agoMs, rest));
        const drawn = bars(section(history, { waitingMs }, ttlMs));
        const cells = drawn.map((bar) => bar.split(/[ –]/).slice(1).map(Number));
        expect(cells.slice(1).map(([from]) => from)).toEqual(cells.slice(0, -1).map(([, to]) => Number(to) + 1));
        const isShown = history.some(({ atMs }) => atMs <= NOW_MS && atMs >= NOW_MS - 24 * HOUR_MS);
        expect(cells.at(-1)?.[1]).toBe(isShown ? 239 : undefined);
      }),
    );
  });
});

describe('hourStrip', () => {
  const stripOf = (entries: readonly HistoryEntry[], status: Partial<typeof STATION> = {}) => {
    const refreshesSince = (fromMs: number) => entries.toReversed().filter(({ atMs }) => atMs >= fromMs);
    return hourStrip({ ...STATION, refreshesSince, ...status }, NOW_MS).text;
  };
  const pathsOf = (markup: string) =>
    Array.from(markup.matchAll(/<path class="(\w+)" d="([^"]*)"/g), ([, state, path]) => `${state} ${path}`);

  it('shows the minutes of the last hour by outcome, with a link to the history', () => {
    const markup = stripOf(minutes(80, (agoMs) => (agoMs < 10 * MINUTE_MS ? failureAt(agoMs) : entryAt(agoMs))));
    expect(pathsOf(markup)).toEqual(['succeeded M0 6h50v4H0z', 'failed M50 0h10v10H50z']);
    expect(shown(markup)).toMatchObject({
      text: 'Last hour: 61 refreshes, 10 failed (timeout)',
      hrefs: ['./stations/prod#history'],
    });
  });

  it('says when refreshes failed, also in outages that have ended', () => {
    const minutesAgo = (count: number) => NOW_MS - count * MINUTE_MS;
    const outages = [
      outage(minutesAgo(200), minutesAgo(61)),
      outage(minutesAgo(40), minutesAgo(35)),
      outage(minutesAgo(5), undefined),
    ];
    expect(shown(stripOf(minutes(3), { outages })).text).toBe(
      'Last hour: 3 refreshes, none failed: 02:25–02:30, 03:00–now UTC',
    );
  });

  it('begins with a refresh before the hour that is still current, and shows what is missing', () => {
    expect(pathsOf(stripOf([entryAt(61 * MINUTE_MS)]))).toEqual(['none M1 6h59v4H1z', 'succeeded M0 6h1v4H0z']);
    expect(pathsOf(stripOf([]))).toEqual([]);
  });

  it('is short also for a station that fails every other minute', () => {
    const markup = stripOf(minutes(60, (agoMs) => (agoMs % (2 * MINUTE_MS) === 0 ? failureAt(agoMs) : entryAt(agoMs))));
    expect(markup.length).toBeLessThan(1500);
  });
});

describe('historyPage', () => {
  it('is a page for browsers, with the outages, the numbers and all refreshes', async () => {
    const detail = detailOf([], { history: minutes(3) });
    const { body, text, hrefs } = await openPage(exporterOf(detail), '/stations/prod/history');
    expect(text).toContain('Stations / prod / History History of prod up');
    expect(rowsOf(body, 'refreshes')).toHaveLength(3);
    expect(hrefs).toContain('../../stations/prod');
  });
});
