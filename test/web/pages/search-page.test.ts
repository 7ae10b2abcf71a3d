import { describe, expect, it } from 'vitest';
import { searchStations } from '../../../src/inventory/search.ts';
import type { Resource } from '../../../src/model/resource.ts';
import { TaskQueue } from '../../../src/model/task-queue.ts';
import type { ExporterPort } from '../../../src/web/port.ts';
import { resourceOf } from '../../refresh/fixtures.ts';
import { eventually } from '../eventually.ts';
import { parseHtml } from '../html-parser.ts';
import { type RunningApp, startApp } from '../running-app.ts';

/** Searches these stations; undefined is a station without data. */
function stationsOf(stations: Readonly<Record<string, readonly Resource[] | undefined>>): Pick<ExporterPort, 'search'> {
  const searched = Object.entries(stations).map(([name, resources]) => ({ name, parts: resources && [resources] }));
  return { search: (text, limit, signal) => searchStations(searched, text, limit, new TaskQueue(), signal) };
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
    expect(text).toContain('1 resource of 1 station has “X” in ID, name or display name.');
    expect(body).toContain('<span class="badge firing" title="ALERTSTATE_FIRING">Firing</span>');
    const links = tags.flatMap(({ name, attributes }) => (name === 'a' ? [attributes['href']] : []));
    expect(links).toEqual(['./stations/a%2Fb/resources/x', './stations/a%2Fb', '?q=X&format=json', '?q=X&format=csv']);
    expect(body).toContain('name="q" type="search" placeholder="All resources" value="X"');
  });

  it('shows the first 200 and the exact number', async () => {
    const { text, tags } = await pageOf(await startApp(stationsOf({ a: many(150), b: many(1100) })), '?q=name-r');
    expect(text).toContain(
      '1,250 resources of 2 stations have “name-r” in ID, name or display name. The first 200 are shown.',
    );
    expect(tags.filter(({ name, attributes }) => name === 'th' && attributes['scope'] === 'row')).toHaveLength(200);
    expect(text).toContain('All 1,250 as JSON or CSV');
  });

  it('names the stations that were not searched, at most 20', async () => {
    const app = await startApp(stationsOf({ fine: [], gone: undefined }));
    const { text } = await pageOf(app, '?q=x');
    expect(text).toContain('No resource has “x” in its ID, name or display name.');
    expect(text).toContain('Not searched because they have no data: gone.');
    const outage = Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`s${index}`, undefined]));
    expect((await pageOf(await startApp(stationsOf(outage)), '?q=x')).text).toContain(', s19 and 5 more.');
  });

  it.each(['', '?q=', '?q=%20%20'])('explains the search without a text: %s', async (query) => {
    const { text, tags } = await pageOf(await startApp(stationsOf({ a: many(3) })), query);
    expect(text).toContain('Enter a part of the ID');
    expect(tags.map(({ name }) => name)).not.toContain('table');
  });

  it.each(['', '&format=json', '&format=csv'])('rejects two texts (%s)', async (format) => {
    const { request } = await startApp();
    const { status, body } = await request(`/search?q=a&q=b${format}`);
    expect([status, body]).toEqual([400, 'Expected one parameter q: the text to search for.\n']);
  });

  it('escapes text, names and IDs', async () => {
    const hostile = '"><script>x</script>\u202e&';
    const app = await startApp(
      stationsOf({ [hostile]: [resourceOf(hostile, { name: hostile, displayName: hostile, type: hostile })] }),
    );
    const { body, text } = await pageOf(app, `?q=${encodeURIComponent(hostile)}`);
    expect(body).not.toContain('<script');
    expect(text).toContain(`has “${hostile}” in ID`);
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
    expect(headers['content-disposition']).toBe('attachment; filename="search.csv"');
    expect(body.split('\r\n').map((line) => line.split(',').slice(0, 2))).toEqual([
      ['station', 'resource_id'],
      ['prod', 'r1'],
      [''],
    ]);
  });

  it('has more than the page, but not more than 10,000', async () => {
    const { request } = await startApp(stationsOf({ a: many(10_001) }));
    const { total, resources } = JSON.parse((await request('/search?q=r&format=json')).body) as {
      total: number;
      resources: unknown[];
    };
    expect([total, resources.length]).toEqual([10_001, 10_000]);
    expect((await request('/search?q=r')).body).toContain('The first 10,000 as ');
  });

  it.each(['json', 'csv'])('rejects an empty text as %s', async (format) => {
    const { request } = await startApp(stations);
    expect((await request(`/search?q=&format=${format}`)).status).toBe(400);
  });
});
