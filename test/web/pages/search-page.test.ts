import { describe, expect, it } from 'vitest';
import { searchStations } from '../../../src/inventory/search.ts';
import type { Resource } from '../../../src/model/resource.ts';
import { TaskQueue } from '../../../src/model/task-queue.ts';
import type { ExporterPort } from '../../../src/web/port.ts';
import { resourceOf } from '../../refresh/fixtures.ts';
import { eventually } from '../eventually.ts';
import { SNAPSHOT, STATION } from '../fake-station.ts';
import { parseHtml } from '../html-parser.ts';
import { type RunningApp, startApp } from '../running-app.ts';

/** Searches these stations; undefined is a station without data. */
function stationsOf(stations: Readonly<Record<string, readonly Resource[] | undefined>>): Pick<ExporterPort, 'search'> {
  const searched = Object.entries(stations).map(([name, resources]) => ({ name, parts: resources && [resources] }));
  return { search: (selection, order, signal) => searchStations(searched, selection, order, new TaskQueue(), signal) };
}

const many = (count: number) => Array.from({ length: count }, (_, index) => resourceOf(`r${index}`));

async function pageOf({ request }: RunningApp, query: string) {
  const { status, body } = await request(`/search${query}`);
  expect(status).toBe(200);
  const [, main = ''] = /<main[^>]*>([\s\S]*)<\/main>/.exec(body) ?? [];
  return { body, ...parseHtml(main) };
}

describe('searchPage', () => {
  it('shows the resources found with station, type and state, and links to both pages', async () => {
    const app = await startApp(
      stationsOf({
        'a/b': [resourceOf('x', { state: 'ALERTSTATE_FIRING', type: 'resource_type.compute.vm' })],
        other: [resourceOf('y')],
      }),
    );
    const { text, tags, body } = await pageOf(app, '?q=X');
    expect(text).toContain('1 resource of 1 station matches: “X” in ID, name or display name.');
    expect(body).toContain('<span class="badge firing" title="ALERTSTATE_FIRING">Firing</span>');
    const links = tags.flatMap(({ name, attributes }) => (name === 'a' ? [attributes['href']] : []));
    expect(links.filter((href) => !href?.includes('sort='))).toEqual([
      '?q=X&format=csv',
      '?q=X&format=json',
      './stations/a%2Fb/resources/x',
      './stations/a%2Fb',
    ]);
    expect(body).toContain('name="q" type="search" placeholder="All resources" value="X"');
  });

  it('shows all that match on pages of 100, in any order', async () => {
    const app = await startApp(stationsOf({ a: many(150), b: many(1100) }));
    const { text, tags } = await pageOf(app, '?q=name-r&page=13&sort=-alert_rules');
    expect(text).toContain('1,250 resources of 2 stations match: “name-r” in ID, name or display name.');
    expect(text).toContain('1,201–1,250 of 1,250');
    expect(tags.filter(({ name, attributes }) => name === 'th' && attributes['scope'] === 'row')).toHaveLength(50);
    const links = tags.flatMap(({ attributes }) => attributes['href'] ?? []);
    expect(links).toContain('?q=name-r&sort=-alert_rules&page=12');
    expect(links).toContain('?q=name-r&sort=alert_rules');
    expect(links).toContain('?q=name-r&sort=-alert_rules&format=csv');
  });

  it('finds by a value without a text', async () => {
    const firing = resourceOf('x', { state: 'ALERTSTATE_FIRING' });
    const app = await startApp(stationsOf({ a: [firing, resourceOf('y', { state: '' })], b: [firing] }));
    const { text } = await pageOf(app, '?state=firing');
    expect(text).toContain('2 resources of 2 stations match: state firing.');
    expect((await pageOf(app, '?q=y&state=(none)&without_rules=yes')).text).toContain(
      'No resource matches: “y” in ID, name or display name, state (none), without rules yes.',
    );
  });

  it('names the stations that were not searched, at most 20', async () => {
    const app = await startApp(stationsOf({ fine: [], gone: undefined }));
    const { text } = await pageOf(app, '?q=x');
    expect(text).toContain('No resource matches: “x” in ID, name or display name.');
    expect(text).toContain('Not searched because they have no data: gone.');
    const outage = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`s${index}`, undefined]));
    expect((await pageOf(await startApp(stationsOf(outage)), '?q=x')).text).toContain(', s19 and 5 more.');
  });

  it('names the stations whose data is old or incomplete', async () => {
    const stations = () => [
      STATION,
      { ...STATION, name: 'old', up: false },
      { ...STATION, name: 'partial', snapshot: { ...SNAPSHOT, complete: false } },
      { ...STATION, name: 'gone', up: false, snapshot: undefined },
    ];
    const { text } = await pageOf(await startApp({ ...stationsOf({ prod: many(1) }), stations }), '?q=x');
    expect(text).toContain('Old or incomplete data: old (failing, 55 s ago), partial (up: incomplete, 55 s ago).');
  });

  it.each(['', '?q=', '?q=%20%20'])('explains the search without a text: %s', async (query) => {
    const { text, tags } = await pageOf(await startApp(stationsOf({ a: many(3) })), query);
    expect(text).toContain('Enter a part of the ID');
    expect(tags.map(({ name }) => name)).not.toContain('table');
  });

  it.each(['', '&format=json', '&format=csv'])('rejects two texts (%s)', async (format) => {
    const { request } = await startApp();
    const { status, body } = await request(`/search?q=a&q=b${format}`);
    expect([status, body]).toEqual([400, 'Expected q at most once.\n']);
  });

  it('escapes text, names and IDs', async () => {
    const hostile = '"><script>x</script>\u202e&';
    const app = await startApp(
      stationsOf({ [hostile]: [resourceOf(hostile, { name: hostile, displayName: hostile, type: hostile })] }),
    );
    const { body, text } = await pageOf(app, `?q=${encodeURIComponent(hostile)}`);
    expect(body).not.toContain('<script');
    expect(text).toContain(`“${hostile}” in ID`);
  });

  it('ends its work when the client disconnects', async () => {
    let signal: AbortSignal | undefined;
    const search: ExporterPort['search'] = (_text, _limit, given) =>
      new Promise((_resolve, reject) => {
        signal = given;
        given.addEventListener('abort', () => reject(given.reason));
      });
    const { request, reported } = await startApp({ search });
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
    expect(
      JSON.parse((await request('/search?q=none', { headers: { accept: 'application/json' } })).body),
    ).toMatchObject({
      total: 0,
      resources: [],
    });
  });

  it('has one line per resource as a CSV file, with the station first', async () => {
    const { request } = await startApp(stations);
    const { headers, body } = await request('/search?q=r1&format=csv');
    expect(headers['content-disposition']).toBe('attachment; filename="search-q-r1.csv"');
    expect(body.split('\r\n').map((line) => line.split(',').slice(0, 2))).toEqual([
      ['station', 'resource_id'],
      ['prod', 'r1'],
      [''],
    ]);
  });

  it('has all that match, in the order of the query', async () => {
    const { request } = await startApp(stationsOf({ a: many(10_001) }));
    const { total, resources } = JSON.parse((await request('/search?q=r&format=json&sort=-id')).body) as {
      total: number;
      resources: { resource_id: string }[];
    };
    expect([total, resources.length, resources[0]?.resource_id]).toEqual([10_001, 10_001, 'r9999']);
    expect((await request('/search?q=r&format=csv')).body.split('\r\n')).toHaveLength(10_003);
  });

  it.each(['json', 'csv'])('responds 503 as %s while no station has data', async (format) => {
    const { request } = await startApp(stationsOf({ prod: undefined }));
    const { status, body } = await request(`/search?q=x&format=${format}`);
    expect([status, body]).toEqual([503, 'No station has data.\n']);
  });

  it.each(['json', 'csv'])('rejects an empty text as %s', async (format) => {
    const { request } = await startApp(stations);
    const { status, body } = await request(`/search?q=&format=${format}`);
    expect([status, body]).toEqual([400, 'Expected q, the text to search for, or a filter such as state=firing.\n']);
  });
});
