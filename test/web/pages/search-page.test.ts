import { describe, expect, it } from 'vitest';
import { searchStations } from '../../../src/inventory/selection.ts';
import type { OwnerCount } from '../../../src/inventory/station-status.ts';
import type { Resource } from '../../../src/model/resource.ts';
import { ResourceLabels } from '../../../src/model/resource-labels.ts';
import { TaskQueue } from '../../../src/tasks/task-queue.ts';
import type { ExporterPort } from '../../../src/web/port.ts';
import { resourceOf, specOf } from '../../refresh/fixtures.ts';
import { eventually } from '../eventually.ts';
import { SNAPSHOT, STATION } from '../fake-station.ts';
import { errorText, startApp } from '../running-app.ts';
import { contentOf, openPage, rowsOf } from './opened-page.ts';

/** Searches these stations; undefined is a station without data. */
function stationsOf(stations: Readonly<Record<string, readonly Resource[] | undefined>>): Pick<ExporterPort, 'search'> {
  const searched = Object.entries(stations).map(([name, resources]) => ({
    name,
    alertability: false,
    parts: resources && [resources],
  }));
  return { search: (selection, order, signal) => searchStations(searched, selection, order, new TaskQueue(), signal) };
}

const many = (count: number) => Array.from({ length: count }, (_, index) => resourceOf(`r${index}`));

async function search(exporter: Partial<ExporterPort>, query: string) {
  const page = await openPage(exporter, `/search${query}`);
  expect(page.status).toBe(200);
  return page;
}

describe('searchPage', () => {
  it.each([
    [false, 'All stations are searched.'],
    [true, 'All stations of this shard are searched.'],
  ])('says which stations are searched, with shards: %s', async (isSharded, text) => {
    expect((await search({ isSharded }, '')).text).toContain(text);
  });

  it('shows the resources found with station, type and state, and links to both pages', async () => {
    const firing = resourceOf('x', { state: 'ALERTSTATE_FIRING', type: 'resource_type.compute.vm' });
    const { text, hrefs, body } = await search(stationsOf({ 'a/b': [firing], other: [resourceOf('y')] }), '?q=X');
    expect(text).toContain('1 resource of 1 station matches: “X” in ID, name or display name.');
    expect(rowsOf(body, 'resource-table')).toEqual([expect.stringMatching(/^Display x x name-x a\/b vm .* Firing /)]);
    expect(hrefs.filter((href) => !href.includes('sort='))).toEqual([
      '?q=X&format=csv',
      '?q=X&format=json',
      './stations/a%2Fb/resources/x',
      './stations/a%2Fb',
    ]);
    expect(body).toContain('name="q" type="search" placeholder="All resources" value="X"');
  });

  it('has filters by alert state, owner and missing rules, and keeps what else was searched for', async () => {
    const owner = { label: 'team', value: 'web', resources: 3 } as OwnerCount;
    const specs = () => [specOf({ resourceLabels: new ResourceLabels([], ['team']) })];
    const owners = async () => [owner, { ...owner, value: '', resources: 1200 }];
    const { body } = await search(
      { ...stationsOf({ a: many(3) }), owners, specs },
      '?q=r&type=x&team=(none)&without_rules=yes',
    );
    const form = contentOf(body, 'narrow');
    for (const markup of [
      '<input id="search" name="q" type="search" value="r"',
      '<option value="firing">firing</option>',
      '<option value="web">web (3)</option>',
      '<option value="(none)" selected>(none) (1,200)</option>',
      'value="yes" checked>',
      '<input type="hidden" name="type" value="x">',
    ])
      expect(form).toContain(markup);
    expect((await search({ owners }, '')).body).toContain('<select id="filter-team" name="team">');
  });

  it('shows all that match on pages of 100, in any order', async () => {
    const stations = stationsOf({ a: many(150), b: many(1100) });
    const { text, body, hrefs } = await search(stations, '?q=name-r&page=13&sort=-alert_rules');
    expect(text).toContain('1,250 resources of 2 stations match: “name-r” in ID, name or display name.');
    expect(text).toContain('1,201–1,250 of 1,250');
    expect(rowsOf(body, 'resource-table')).toHaveLength(50);
    for (const query of ['-alert_rules&page=12', 'alert_rules', '-alert_rules&format=csv'])
      expect(hrefs).toContain(`?q=name-r&sort=${query}`);
  });

  it.each([
    ['?state=firing', '2 resources of 2 stations match: state firing.'],
    [
      '?q=y&state=(none)&without_rules=yes',
      'No resource matches: “y” in ID, name or display name, no state, without rules yes.',
    ],
    ['', 'Search Enter a part of the ID'],
    ['?q=', 'Search Enter a part of the ID'],
    ['?q=%20%20', 'Search Enter a part of the ID'],
  ])('with the query "%s" says "%s"', async (query, said) => {
    const firing = resourceOf('x', { state: 'ALERTSTATE_FIRING' });
    const stations = stationsOf({ a: [firing, resourceOf('y', { state: '' })], b: [firing] });
    const { text, body } = await search(stations, query);
    expect(text).toContain(said);
    expect(body.includes('<table')).toBe(/^\d/.test(said));
  });

  it('names the stations that were not searched, at most 20', async () => {
    const { text } = await search(stationsOf({ fine: [], gone: undefined }), '?q=x');
    expect(text).toContain('No resource matches: “x” in ID, name or display name.');
    expect(text).toContain('Not searched because they have no data: gone.');
    const outage = Object.fromEntries(many(25).map(({ id }) => [id, undefined]));
    expect((await search(stationsOf(outage), '?q=x')).text).toContain(', r19 and 5 more.');
  });

  it('names the stations whose data is old or incomplete', async () => {
    const stations = () => [
      STATION,
      { ...STATION, name: 'old', up: false },
      { ...STATION, name: 'partial', snapshot: { ...SNAPSHOT, complete: false } },
      { ...STATION, name: 'gone', up: false, snapshot: undefined },
    ];
    const { text } = await search({ ...stationsOf({ prod: many(1) }), stations }, '?q=x');
    expect(text).toContain('Old or incomplete data: old (failing, 55 s ago), partial (up: incomplete, 55 s ago).');
  });

  it('does not look as if no alert were firing while states have an unknown meaning', async () => {
    const unknownStates = [{ state: 'ALERTSTATE_ESCALATED', resources: 7 }];
    const stations = () => [{ ...STATION, snapshot: { ...SNAPSHOT, unknown: 7, unknownStates } }];
    const of = async (query: string) => (await search({ ...stationsOf({ prod: [] }), stations }, query)).text;
    expect(await of('?alert_state=firing')).toMatch(
      /No resource matches: alert state firing\..*7 resources are in states of unknown meaning: ALERTSTATE_ESCALATED \(7\)/,
    );
    for (const query of ['?alert_state=unknown', '?q=x']) expect(await of(query)).not.toContain('unknown meaning');
  });

  it('escapes text, names and IDs', async () => {
    const hostile = '"><script>x</script>\u202e&';
    const resource = resourceOf(hostile, { name: hostile, displayName: hostile, type: hostile });
    const { body, text } = await search(stationsOf({ [hostile]: [resource] }), `?q=${encodeURIComponent(hostile)}`);
    expect(body).not.toContain('<script');
    expect(text).toContain(`“${hostile}” in ID`);
  });

  it('ends its work when the client disconnects', async () => {
    let signal: AbortSignal | undefined;
    const { request, reported } = await startApp({
      search: (_text, _limit, given) =>
        new Promise((_resolve, reject) => {
          signal = given;
          given.addEventListener('abort', () => reject(given.reason));
        }),
    });
    const client = new AbortController();
    const response = request('/search?q=a', { signal: client.signal });
    await eventually(() => expect(signal).toBeDefined());
    client.abort();
    await expect(response).rejects.toThrow();
    await eventually(() => expect(signal?.aborted).toBe(true));
    expect(reported).toEqual([]);
  });
});

describe('searchData', () => {
  const stations = stationsOf({ prod: [resourceOf('r1', { alertRules: 3 }), resourceOf('q')], gone: undefined });

  it('is an object with the exact number, the stations without data and the resources', async () => {
    const { request } = await startApp(stations);
    const { headers, body } = await request('/search?q=r1&format=json');
    expect(headers['content-type']).toBe('application/json');
    expect(JSON.parse(body)).toEqual({
      q: 'r1',
      total: 1,
      stations_without_data: ['gone'],
      resources: [expect.objectContaining({ station: 'prod', resource_id: 'r1', alert_rules: 3 })],
    });
    const none = await request('/search?q=none', { headers: { accept: 'application/json' } });
    expect(JSON.parse(none.body)).toMatchObject({ total: 0, resources: [] });
  });

  it('has one line per resource as a CSV file, with the station first', async () => {
    const { headers, body } = await search(stations, '?q=r1&format=csv');
    expect(headers['content-disposition']).toBe('attachment; filename="search-q-r1.csv"');
    expect(body).toMatch(/^station,resource_id,.*\r\nprod,r1,.*\r\n$/);
  });

  it('has all that match, in the order of the query', async () => {
    const all = stationsOf({ a: many(10_001) });
    const { total, resources } = JSON.parse((await search(all, '?q=r&format=json&sort=-id')).body) as {
      total: number;
      resources: { resource_id: string }[];
    };
    expect([total, resources.length, resources[0]?.resource_id]).toEqual([10_001, 10_001, 'r9999']);
    expect((await search(all, '?q=r&format=csv')).body.split('\r\n')).toHaveLength(10_003);
  });

  it.each(['json', 'csv'])('rejects as %s what cannot be answered', async (format) => {
    const { request } = await startApp(stationsOf({ prod: undefined }));
    expect(await request(`/search?q=x&format=${format}`)).toMatchObject({
      status: 503,
      body: 'No station has data.\n',
    });
    for (const [query, problem] of [
      ['', 'Expected q, the text to search for, or a filter such as alert_state=firing.\n'],
      ['a&q=b', 'Expected q at most once.\n'],
    ])
      expect(await request(`/search?q=${query}&format=${format}`)).toMatchObject({ status: 400, body: problem });
    expect(await request('/search?q=a&q=b')).toEqual(
      errorText(400, 'Expected q at most once.\n', { vary: 'Accept, Accept-Encoding' }),
    );
  });
});
