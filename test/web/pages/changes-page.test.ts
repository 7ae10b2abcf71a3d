import { describe, expect, it } from 'vitest';
import type { ObservedChange } from '../../../src/inventory/changes.ts';
import { ResourceLabels } from '../../../src/model/resource-labels.ts';
import { latestChangesSection } from '../../../src/web/pages/changes-page.ts';
import { resourceOf } from '../../refresh/fixtures.ts';
import { detailOf, exporterOf, NOW_MS, SNAPSHOT, withRejected } from '../fake-station.ts';
import { openPage, rowsOf, shown } from './opened-page.ts';

const PATH = '/stations/prod/changes';

const change = (id: string, changes: Partial<ObservedChange> = {}): ObservedChange => ({
  change: 'added',
  resource: resourceOf(id),
  from: undefined,
  to: 'ALERTSTATE_FIRING',
  atMs: NOW_MS - 65_000,
  ...changes,
});

async function pageOf(newestFirst: readonly ObservedChange[], query = '', dropped = 0) {
  const page = await openPage(exporterOf(detailOf([], { changes: { newestFirst, dropped } })), PATH + query);
  return { ...page, rows: rowsOf(page.body, 'change-table') };
}

describe('changesPage', () => {
  it('shows time, change, resource, type, and what was before and after', async () => {
    const { rows, hrefs, text } = await pageOf([
      change('a'),
      change('b', { change: 'rules', from: 1200, to: 0 }),
      change('c', { change: 'type', from: 'type.x', to: 'type.a' }),
      change('d', { change: 'removed', to: undefined }),
    ]);
    const when = '2026-01-02 03:03:55 UTC 1 min 5 s ago';
    expect(rows).toEqual([
      `${when} added Display a a name-a a Type A – none Firing`,
      `${when} rules Display b b name-b a Type A 1,200 0`,
      `${when} type Display c c name-c a Type A type.x type.a`,
      `${when} removed Display d d name-d a Type A – none – none`,
    ]);
    for (const href of ['../../stations/prod', '../../stations/prod/resources/a', '?format=csv'])
      expect(hrefs).toContain(href);
    expect(text).toContain('4 changes are kept.');
    expect(text).not.toContain('dropped');
  });

  it.each([
    ['?change=state', ['b']],
    ['?search=DISPLAY%20A', ['a']],
    [`?since=${new Date(NOW_MS - 1000).toISOString()}`, ['c']],
    ['?since=2026-01-02T04:04:59%2B01:00', ['c']],
    [`?until=${new Date(NOW_MS - 65_000).toISOString()}&change=&page=`, ['a', 'b']],
  ])('selects by %s, for programs too', async (query, ids) => {
    const changes = [change('c', { atMs: NOW_MS - 1000 }), change('a'), change('b', { change: 'state' })];
    const { rows, hrefs } = await pageOf(changes, query);
    expect(rows.map((row) => /Display (\w)/.exec(row)?.[1])).toEqual(ids);
    expect(hrefs).toContain('?');
    expect(hrefs.filter((href) => href.endsWith('format=json'))).toEqual([
      expect.stringContaining(new URLSearchParams(query.replace('&change=&page=', '')).toString()),
    ]);
  });

  it('has pages of 100 changes, and keeps the filters on them', async () => {
    const many = Array.from({ length: 250 }, (_, index) => change(`r${index}`));
    const { rows, text, hrefs } = await pageOf(many, '?change=added&page=3', 7);
    expect(rows).toHaveLength(50);
    expect(text).toContain('201–250 of 250');
    expect(text).toContain(
      '250 changes are kept. 7 more were dropped: see limits.changes_per_station and limits.changes.',
    );
    expect(hrefs).toContain('?change=added&page=2');
  });

  it('selects by owner, for programs too', async () => {
    const owned = (id: string, team: string) => change(id, { resource: resourceOf(id, { labels: { team } }) });
    const newestFirst = [owned('a', 'web'), owned('b', ''), owned('c', 'data')];
    const spec = { resourceLabels: new ResourceLabels([], ['team']) };
    const exporter = exporterOf(detailOf([], { spec, changes: { newestFirst, dropped: 0 } }));
    const idsOf = async (query: string) => {
      const { body, hrefs } = await openPage(exporter, PATH + query);
      expect(hrefs).toContain(`${query}&format=csv`);
      expect(body).toContain('<select id="filter-team" name="team">');
      return rowsOf(body, 'change-table').map((row) => /Display (\w)/.exec(row)?.[1]);
    };
    expect(await idsOf('?team=web')).toEqual(['a']);
    expect(await idsOf('?team=%28none%29')).toEqual(['b']);
    const { body } = await openPage(exporter, `${PATH}?team=data&format=json`);
    expect(
      (JSON.parse(body) as { changes: { resource_id: string }[] }).changes.map((some) => some.resource_id),
    ).toEqual(['c']);
    expect((await openPage(exporter, `${PATH}?team=a&team=b`)).status).toBe(400);
  });

  it('shows the owners of the resources, for programs too', async () => {
    const labels = { team: 'storage', change: 'owner' };
    const newestFirst = [change('a', { resource: resourceOf('a', { labels }) }), change('b')];
    const spec = { resourceLabels: new ResourceLabels([], ['team', 'change']) };
    const exporter = exporterOf(detailOf([], { spec, changes: { newestFirst, dropped: 3 } }));
    expect((await openPage(exporter, PATH)).body).toContain('<td data-label="Team"><span>storage</span>');
    const { body, headers } = await openPage(exporter, `${PATH}?format=csv`);
    expect(headers['telemetry-station-data']).toBe('dropped=3');
    expect(body.split('\r\n').map((line) => line.replace(/.*?,/, ''))).toEqual([
      'change,resource_id,name,display_name,resource_type,from,to,team',
      'added,a,name-a,Display a,type.a,,ALERTSTATE_FIRING,storage',
      'added,b,name-b,Display b,type.a,,ALERTSTATE_FIRING,',
      '',
    ]);
  });

  it('says that changes are not counted at present, for programs too', async () => {
    const status = { snapshot: { ...SNAPSHOT, ...withRejected(3), isChurnWaiting: true } };
    const exporter = exporterOf(detailOf([], { status }));
    expect((await openPage(exporter, PATH)).text).toContain(
      'At present: changes not counted: the rejected records are not the same as in the listing before.',
    );
    expect(JSON.parse((await openPage(exporter, `${PATH}?format=json`)).body)).toMatchObject({ waiting: true });
  });

  it('says that changes are unknown while refreshes fail', async () => {
    const textOf = async (up: boolean) => (await openPage(exporterOf(detailOf([], { status: { up } })), PATH)).text;
    expect(await textOf(false)).toContain('refreshes fail, so that changes since the last success are unknown.');
    expect(await textOf(true)).not.toContain('unknown');
  });

  it('says that there is none, or none that matches', async () => {
    expect((await pageOf([])).text).toContain(
      'Nothing has been compared yet: two listings are required that are complete, or rejected the same records.',
    );
    const compared = { atMs: 0, refreshes: 1, failed: 0, outcome: 'succeeded', waitedMs: 0, added: 0 } as const;
    const exporter = exporterOf(detailOf([], { history: [compared] }));
    expect((await openPage(exporter, PATH)).text).toContain('No changes yet.');
    expect((await pageOf([change('a')], '?change=removed')).text).toContain('No change matches.');
  });

  it.each([
    ['?change=gone', 'Expected change to be one of added, removed, state, rules, type.'],
    ['?since=yesterday', 'Expected since to be an RFC 3339 time such as 2026-01-02T03:04:05Z.'],
    ['?since=2026-01-02T03:04:05', 'Expected since to be an RFC 3339 time such as 2026-01-02T03:04:05Z.'],
    ['?until=2026-99-02T03:04:05Z', 'Expected until to be an RFC 3339 time such as 2026-01-02T03:04:05Z.'],
    ['?page=0', 'Expected page to be an integer of at least 1.'],
    ['?search=a&search=b', 'Expected search at most once.'],
  ])('rejects %s', async (query, problem) => {
    expect(await pageOf([change('a')], query)).toMatchObject({ status: 400, text: expect.stringContaining(problem) });
  });

  it.each(['html', 'json', 'csv'])('responds 404 for an unknown station (%s)', async (format) => {
    expect((await openPage({}, `/stations/other/changes?format=${format}`)).status).toBe(404);
  });
});

describe('latestChangesSection', () => {
  const sectionOf = (newestFirst: readonly ObservedChange[]) => {
    const resourceLabels = new ResourceLabels([], ['team']);
    const detail = detailOf([], { spec: { resourceLabels }, changes: { newestFirst, dropped: 0 } });
    return shown(latestChangesSection({ ...detail, nowMs: NOW_MS }).text);
  };
  const owned = (id: string, team: string, changes: Partial<ObservedChange> = {}) =>
    change(id, { resource: resourceOf(id, { labels: { team } }), ...changes });

  it('says that nothing is known without changes', () => {
    expect(sectionOf([]).text).toBe('What changed No change is known.');
  });

  it('sums up what one refresh removed, by owner, before what changed earlier', () => {
    const removed = Array.from({ length: 220 }, (_, index) =>
      owned(`r${index}`, index < 120 ? 'web' : 'data', { change: 'removed', to: undefined }),
    );
    const earlier = owned('x', 'web', { change: 'state', from: 'ALERTSTATE_PENDING', atMs: NOW_MS - 86_400_000 });
    const { text, hrefs } = sectionOf([...removed, earlier]);
    expect(text).toMatch(
      /^What changed all 221 changes 03:03 UTC removed Display r0 web 03:03 UTC removed Display r1 web /,
    );
    expect(text).toContain('03:03 UTC 215 more removed, by team: web 115, data 100');
    expect(text).toMatch(/01 Jan 03:05 UTC state Display x Pending → Firing web$/);
    const time = '2026-01-02T03%3A03%3A55.000Z';
    expect(hrefs).toContain(`../stations/prod/changes?change=removed&since=${time}&until=${time}`);
  });

  it('is bounded, however many refreshes found changes', () => {
    const many = Array.from({ length: 500 }, (_, index) => change(`r${index}`, { atMs: NOW_MS - index * 1000 }));
    expect(sectionOf(many).tags.filter(({ name }) => name === 'li')).toHaveLength(10);
  });
});
