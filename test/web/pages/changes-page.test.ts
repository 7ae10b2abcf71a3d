import type { Request } from 'express';
import { describe, expect, it } from 'vitest';
import type { ObservedChange } from '../../../src/resources/changes.ts';
import { ResourceLabels } from '../../../src/resources/resource-labels.ts';
import type { StationStatus } from '../../../src/status/station-status.ts';
import { changesOf } from '../../../src/web/data.ts';
import { iterationsDuring } from '../../event-loop.ts';
import { resourceOf, resourcesOf, specOf } from '../../stations/fixtures.ts';
import { fakeExporter } from '../fake-exporter.ts';
import { detailOf, exporterOf, NO_CHANGES, NOW_MS, SNAPSHOT, withRejected } from '../fake-station.ts';
import { contentOf, openPage, rowsOf } from './opened-page.ts';

const PATH = '/stations/prod/changes';

const change = (id: string, changes: Partial<ObservedChange> = {}): ObservedChange => ({
  change: 'added',
  resource: resourceOf(id),
  from: undefined,
  to: 'ALERTSTATE_FIRING',
  atMs: NOW_MS - 65_000,
  ...changes,
});

const owned = (id: string, team: string, changes: Partial<ObservedChange> = {}) =>
  change(id, { resource: resourceOf(id, { labels: { team } }), ...changes });

/** A station with these changes of resources, which may have the label `team`. */
const detailWith = (newestFirst: readonly ObservedChange[], dropped = 0) =>
  detailOf([], {
    spec: { resourceLabels: new ResourceLabels([], ['team']) },
    changes: { ...NO_CHANGES, newestFirst, dropped, droppedRemovals: Math.min(dropped, 3) },
  });

const COLUMNS = ['Observed', 'Change', 'Resource', 'Type', 'Team', 'From', 'To'];

async function pageOf(newestFirst: readonly ObservedChange[], query = '', dropped = 0) {
  const page = await openPage(exporterOf(detailWith(newestFirst, dropped)), PATH + query);
  return { ...page, rows: rowsOf(page.body, 'change-table', COLUMNS) };
}

describe('changesPage', () => {
  it('shows time, change, resource, type, owner, and what was before and after', async () => {
    const { rows, hrefs, text } = await pageOf([
      owned('a', 'web'),
      change('b', { change: 'rules', from: 1200, to: 0 }),
      change('c', { change: 'type', from: 'type.x', to: 'type.a' }),
      change('d', { change: 'removed', to: undefined }),
    ]);
    const when = '03:03:55 UTC 1 min ago';
    expect(rows).toEqual([
      `${when} added Display a name-a a a Type A web – none Firing`,
      `${when} rules Display b name-b b a Type A – none 1,200 0`,
      `${when} type Display c name-c c a Type A – none type.x type.a`,
      `${when} removed Display d name-d d a Type A – none – none – none`,
    ]);
    for (const href of ['../../stations/prod', '../../stations/prod/resources/a', '?format=csv'])
      expect(hrefs).toContain(href);
    expect(text).toContain('4 changes are kept.');
    expect(text).not.toMatch(/dropped|At present/);
  });

  it.each([
    ['?change=state', ['b']],
    ['?search=DISPLAY%20A', ['a']],
    // A pasted text often has spaces around it.
    ['?search=%20DISPLAY%20A%20', ['a']],
    [`?since=${new Date(NOW_MS - 1000).toISOString()}`, ['c']],
    ['?since=2026-01-02T04:04:59%2B01:00', ['c']],
    ['?since=1m', ['c']],
    [`?until=${new Date(NOW_MS - 65_000).toISOString()}&change=&page=`, ['a', 'b']],
    ['?team=web', ['a']],
    ['?team=%28none%29', ['b']],
    ['?change=removed', []],
  ])('selects by %s', async (query, ids) => {
    const changes = [owned('c', 'data', { atMs: NOW_MS - 1000 }), owned('a', 'web'), change('b', { change: 'state' })];
    const { rows, text, hrefs } = await pageOf(changes, query);
    expect(rows.map((row) => /Display (\w)/.exec(row)?.[1])).toEqual(ids);
    expect(text.includes('No change matches.')).toBe(ids.length === 0);
    expect(hrefs).toContain('?');
  });

  it('offers the owners, and links to what it selects for programs', async () => {
    const { body, hrefs } = await pageOf([owned('a', 'web')], '?since=2026-01-02T03:00:00Z&team=web&page=1');
    expect(contentOf(body, 'filter-team')).toContain('<option value="web" selected>web</option>');
    expect(hrefs).toContain('?since=2026-01-02T03%3A00%3A00Z&team=web&format=json');
  });

  it('has pages of 100 changes, and keeps the filters on them', async () => {
    const many = resourcesOf(250).map(({ id }, at) => change(id, { atMs: NOW_MS - 1000 * at }));
    const { rows, text, hrefs } = await pageOf(many, '?change=added&page=3', 7);
    expect(rows).toHaveLength(50);
    expect(text).toContain(
      '250 changes are kept. 7 more were dropped, 3 of them removals: see limits.changes_per_station and limits.changes.',
    );
    expect(hrefs).toContain('?change=added&page=2');
  });

  it('folds what a refresh of one station changed at once, with a link to all of it', async () => {
    const atMs = NOW_MS - 60_000;
    const many = resourcesOf(500).map(({ id }) => owned(id, 'web', { atMs }));
    const changes = [change('late', { atMs: NOW_MS }), ...many, change('gone', { atMs, change: 'removed' })];
    const { rows, hrefs, text } = await pageOf(changes, '?team=web');
    expect(rows).toEqual([expect.stringMatching(/ 500 added, such as Display r0 /)]);
    expect(text).toContain('502 changes are kept.');
    const time = encodeURIComponent(new Date(atMs).toISOString());
    expect(hrefs).toContain(`../../stations/prod/changes?team=web&change=added&since=${time}&until=${time}`);
    expect((await pageOf(changes)).rows).toHaveLength(3);
    expect((await pageOf(changes, `?since=${time}&until=${time}`)).rows).toHaveLength(100);
  });

  it('has the owners as CSV, but not a label with the name of another column', async () => {
    const spec = { resourceLabels: new ResourceLabels([], ['team', 'change']) };
    const changes = { ...NO_CHANGES, newestFirst: [owned('a', 'web'), change('b')], dropped: 3 };
    const { body, headers } = await openPage(exporterOf(detailOf([], { spec, changes })), `${PATH}?format=csv`);
    expect(headers['telemetry-station-data']).toBe('since=1970-01-01T00:00:00.000Z, dropped=3');
    expect(body.split('\r\n').map((line) => line.replace(/.*?,/, ''))).toEqual([
      'station,change,resource_id,name,display_name,resource_type,from,to,team',
      '"prod","added","a","name-a","Display a","type.a",,"ALERTSTATE_FIRING","web"',
      '"prod","added","b","name-b","Display b","type.a",,"ALERTSTATE_FIRING",',
      '',
    ]);
  });

  const waiting = { snapshot: { ...SNAPSHOT, ...withRejected(3), isIncomparable: true } };

  it.each<[text: string, changes: Parameters<typeof detailOf>[1]]>([
    ['At present: changes are not counted until a listing can be compared with an earlier one.', { status: waiting }],
    [
      '7 more were dropped: see limits.changes_per_station and limits.changes.',
      { changes: { ...NO_CHANGES, dropped: 7 } },
    ],
    ['At present: refreshes fail, so that changes since the last success are unknown.', { status: { up: false } }],
    ['Changes are not known yet: no listing adds up.', { status: { comparedSinceMs: undefined } }],
    [
      'No changes found since 03:02 UTC; those since the last success are unknown.',
      { status: { comparedSinceMs: NOW_MS - 180_000, up: false } },
    ],
    ['No changes since 03:02 UTC.', { status: { comparedSinceMs: NOW_MS - 180_000 } }],
    [
      'since 03:02 UTC, 3 min. Changes in a gap that ended at 03:03 UTC are unknown.',
      { status: { comparedSinceMs: NOW_MS - 180_000, gapEndMs: NOW_MS - 120_000 } },
    ],
    ['No changes since 03:03 UTC.', { status: { gapEndMs: NOW_MS - 120_000 } }],
  ])('says "%s"', async (text, changes) => {
    expect((await openPage(exporterOf(detailOf([], changes)), PATH)).text).toContain(text);
  });

  it('has the time since which listings are compared without a gap, for programs too', async () => {
    const status = { comparedSinceMs: NOW_MS - 180_000, gapEndMs: NOW_MS };
    const { body } = await openPage(exporterOf(detailOf([], { status })), `${PATH}?format=json`);
    expect(JSON.parse(body)).toMatchObject({ since: new Date(NOW_MS).toISOString() });
  });

  it('says that changes are not counted at present, for programs too', async () => {
    const { body } = await openPage(exporterOf(detailOf([], { status: waiting })), `${PATH}?format=json`);
    expect(JSON.parse(body)).toMatchObject({ station: 'prod', waiting: true });
  });

  it.each([
    ['?chnage=removed', 'Unknown parameter "chnage". Expected some of format, search, station, change, since'],
    ['?change=gone', 'Expected change to be one of added, removed, state, rules, type.'],
    [
      '?since=yesterday',
      'Expected since to be an RFC 3339 time such as 2026-01-02T03:04:05Z, or a duration such as 24h.',
    ],
    ['?until=2026-99-02T03:04:05Z', 'Expected until to be an RFC 3339 time'],
    ['?since=2026-01-02T03:04:05', 'Expected since to be an RFC 3339 time'],
    ['?team=a&team=b', 'Expected team at most once.'],
  ])('rejects %s', async (query, problem) => {
    expect(await pageOf([change('a')], query)).toMatchObject({ status: 400, text: expect.stringContaining(problem) });
  });
});

describe('changesPage of all stations', () => {
  const nameOf = (at: number) => `s${at}`;

  /** Stations with these changes. */
  function fleetOf(changes: readonly (readonly ObservedChange[])[], status: Partial<StationStatus> = {}) {
    const details = changes.map((newestFirst, at) => {
      const name = nameOf(at);
      const detail = detailOf([], { spec: { name }, changes: { ...NO_CHANGES, newestFirst }, status: { name } });
      return at === 0 ? { ...detail, status: { ...detail.status, ...status } } : detail;
    });
    const find = (name: string) => details.find(({ spec }) => spec.name === name);
    return {
      ...exporterOf(detailOf([])),
      specs: () => details.map(({ spec }) => spec),
      stations: () => details.map((detail) => detail.status),
      has: (name: string) => find(name) !== undefined,
      changes: (name: string) => find(name)?.changes ?? NO_CHANGES,
    };
  }

  const three = [
    [change('a'), change('b', { atMs: NOW_MS - 7_200_000 })],
    [change('c', { atMs: NOW_MS - 1000, change: 'state' })],
    [],
  ];

  it.each([
    ['', ['s1 c', 's0 a', 's0 b']],
    ['?since=1h', ['s1 c', 's0 a']],
    ['?station=s0', ['s0 a', 's0 b']],
    ['?station=s0&since=1h&change=added', ['s0 a']],
  ])('has those that %s selects, the latest first, as page, JSON and CSV', async (query, expected) => {
    const exporter = fleetOf(three);
    const page = await openPage(exporter, `/changes${query}`);
    const rows = rowsOf(page.body, 'change-table').map((row) => row.replace(/.* Display (\w) .* (s\d) .*/, '$2 $1'));
    const { body } = await openPage(exporter, `/changes${query}${query === '' ? '?' : '&'}format=json`);
    const { changes } = JSON.parse(body) as { changes: { station: string; resource_id: string }[] };
    const csv = await openPage(exporter, `/changes${query}${query === '' ? '?' : '&'}format=csv`);
    const lines = csv.body.trim().split('\r\n').slice(1);
    expect({
      rows,
      json: changes.map(({ station, resource_id }) => `${station} ${resource_id}`),
      csv: lines.map((line) => line.replace(/[^,]*,"(\w+)","\w+","(\w)".*/, '$1 $2')),
    }).toEqual({ rows: expected, json: expected, csv: expected });
  });

  it('says since when listings have been compared, what is not known, and where changes are kept for longer', async () => {
    const status = { comparedSinceMs: NOW_MS - 180_000, gapEndMs: NOW_MS, up: false };
    const { text, hrefs } = await openPage(fleetOf([[]], status), '/changes?since=24h');
    expect(text).toContain('0 changes are kept. Listings have been compared since 03:02 UTC, 3 min.');
    expect(text).toContain('Changes in a gap that ended at 03:05 UTC are unknown (s0).');
    expect(text).toContain('At present: refreshes fail, so that changes since the last success are unknown (s0).');
    expect(text).toContain(
      '--log.changes logs them; in Loki, this finds them: {app="telemetry-station-exporter"} | logfmt | msg="resource changed"',
    );
    expect(hrefs).toContain('./stations/s0');
  });

  it('shows the changes of a station that a reload removes meanwhile', async () => {
    const { body } = await openPage({ ...fleetOf(three), specs: () => [specOf({ name: 's1' })] }, '/changes');
    expect(rowsOf(body, 'change-table')).toHaveLength(3);
  });

  it('has a station to choose, and responds 404 to one that is not configured', async () => {
    const exporter = fleetOf(three);
    const { body } = await openPage(exporter, '/changes?station=s1&since=6h');
    expect(contentOf(body, 'filter-station')).toContain('<option value="s1" selected>s1</option>');
    expect(contentOf(body, 'filter-since')).toContain('<option value="6h" selected>last 6 hours</option>');
    expect((await openPage(exporter, '/changes?station=s9')).status).toBe(404);
  });

  it('pauses while it selects, and ends when its client disconnects', async () => {
    const many = Array.from({ length: 20 }, () => resourcesOf(1000).map(({ id }) => change(id)));
    const exporter = fakeExporter(fleetOf(many));
    const request = { url: '/changes', params: {} } as Request;
    const { signal } = new AbortController();
    expect(await iterationsDuring(() => changesOf(exporter, request, NOW_MS, signal))).toBeGreaterThan(20);
    await expect(changesOf(exporter, request, NOW_MS, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
  });
});
