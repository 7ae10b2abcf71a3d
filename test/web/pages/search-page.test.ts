import { describe, expect, it } from 'vitest';
import { searchStations } from '../../../src/query/selection.ts';
import type { Resource } from '../../../src/resources/fields.ts';
import { ResourceLabels } from '../../../src/resources/resource-labels.ts';
import type { OwnerCount } from '../../../src/status/owners.ts';
import type { ExporterPort } from '../../../src/web/port.ts';
import { resourceOf, resourcesOf, specOf } from '../../stations/fixtures.ts';
import { SNAPSHOT, STATION } from '../fake-station.ts';
import { startApp } from '../running-app.ts';
import { contentOf, openPage, rowsOf } from './opened-page.ts';

/** Searches these stations; undefined is a station without data. */
function stationsOf(stations: Readonly<Record<string, readonly Resource[] | undefined>>): Pick<ExporterPort, 'search'> {
  const searched = Object.entries(stations).map(([name, resources]) => ({
    name,
    alertability: false,
    parts: resources && [resources],
  }));
  return { search: (selection, order, signal) => searchStations(searched, selection, order, signal) };
}

async function search(exporter: Partial<ExporterPort>, query: string) {
  const page = await openPage(exporter, `/search${query}`);
  expect(page.status).toBe(200);
  return page;
}

describe('searchPage', () => {
  it('says that only the stations of this shard are searched', async () => {
    expect((await search({ isSharded: true }, '')).text).toContain('All stations of this shard are searched.');
  });

  it('shows the resources found with station, type and state, and links to both pages', async () => {
    const firing = resourceOf('x', { state: 'ALERTSTATE_FIRING', type: 'resource_type.compute.vm' });
    const { text, hrefs, body } = await search(stationsOf({ 'a/b': [firing], other: [resourceOf('y')] }), '?search=X');
    expect(text).toContain('1 resource of 1 station matches: “X” in ID, name or display name.');
    expect(rowsOf(body, 'resource-table')).toEqual([expect.stringMatching(/^Display x name-x x a\/b vm .* Firing /)]);
    expect(hrefs.filter((href) => !href.includes('sort='))).toEqual([
      '?search=X&format=csv',
      '?search=X&format=json',
      './stations/a%2Fb/resources/x',
      './stations/a%2Fb',
    ]);
    // The form of the page is the only search box.
    expect(body.match(/name="search"/g)).toHaveLength(1);
    expect(body).toContain('name="search" type="search" value="X"');
  });

  it('has filters by alert state, owner and missing rules, and keeps what else was searched for', async () => {
    const owner = { label: 'team', value: 'web', resources: 3 } as OwnerCount;
    const specs = () => [specOf({ resourceLabels: new ResourceLabels([], ['team']) })];
    const owners = async () => [owner, { ...owner, value: '', resources: 1200 }];
    const { body } = await search(
      { ...stationsOf({ a: resourcesOf(3) }), owners, specs },
      '?search=r&type=x&state=s&team=(none)&without_rules=yes',
    );
    const form = contentOf(body, 'narrow');
    for (const markup of [
      '<input id="search" name="search" type="search" value="r"',
      '<option value="firing">firing</option>',
      '<option value="web">web (3)</option>',
      '<option value="(none)" selected>(none) (1,200)</option>',
      'value="yes" checked>',
      'name="type" type="search" value="x"',
      '<input type="hidden" name="state" value="s">',
      '<option value="prod">prod</option>',
    ])
      expect(form).toContain(markup);
    expect((await search({ owners }, '')).body).toContain('<select id="filter-team" name="team">');
  });

  it('shows all that match on pages of 100, in any order', async () => {
    const stations = stationsOf({ a: resourcesOf(150), b: resourcesOf(100) });
    const { text, body, hrefs } = await search(stations, '?search=name-r&page=3&sort=-alert_rules');
    expect(text).toContain('250 resources of 2 stations match: “name-r” in ID, name or display name.');
    expect(rowsOf(body, 'resource-table')).toHaveLength(50);
    for (const query of ['-alert_rules&page=2', 'alert_rules', '-alert_rules&format=csv'])
      expect(hrefs).toContain(`?search=name-r&sort=${query}`);
  });

  it.each([
    ['?state=firing', '2 resources of 2 stations match: state firing.'],
    [
      '?search=y&state=(none)&without_rules=yes',
      'No resource matches: “y” in ID, name or display name, no state, without rules yes.',
    ],
    ['?search=%20%20', 'Resources Enter a part of the ID'],
  ])('with the query "%s" says "%s"', async (query, said) => {
    const firing = resourceOf('x', { state: 'ALERTSTATE_FIRING' });
    const stations = stationsOf({ a: [firing, resourceOf('y', { state: '' })], b: [firing] });
    const { text, body } = await search(stations, query);
    expect(text).toContain(said);
    expect(body.includes('<table')).toBe(/^\d/.test(said));
  });

  it('names the stations that were not searched, and those whose data is old, incomplete or of a former configuration', async () => {
    const stations = () => [
      STATION,
      { ...STATION, name: 'old', up: false },
      { ...STATION, name: 'partial', snapshot: { ...SNAPSHOT, complete: false } },
      { ...STATION, name: 'former', isBeforeReload: true },
      { ...STATION, name: 'gone', up: false, snapshot: undefined },
    ];
    const all = { ...stationsOf({ prod: [], gone: undefined }), stations };
    const { text } = await search(all, '?search=x');
    expect((await search(all, '?search=x&station=prod')).text).not.toContain('Old or incomplete data');
    expect((await search(all, '?search=x&station=old')).text).toContain('Old or incomplete data: old (');
    expect(text).toContain('Not searched because they have no data: gone.');
    expect(text).toContain(
      'Old or incomplete data: old (failing, 55 s ago), partial (up, incomplete, 55 s ago), former (up, listed before the reload, 55 s ago).',
    );
  });

  it('names at most 20 stations', async () => {
    const outage = Object.fromEntries(resourcesOf(25).map(({ id }) => [id, undefined]));
    expect((await search(stationsOf(outage), '?search=x')).text).toContain(', r19 and 5 more.');
  });

  it('does not look as if no alert were firing while states have an unknown meaning', async () => {
    const unknownStates = [{ state: 'ALERTSTATE_ESCALATED', resources: 7 }];
    const stations = () => [{ ...STATION, snapshot: { ...SNAPSHOT, unknown: 7, unknownStates } }];
    const of = async (query: string) => (await search({ ...stationsOf({ prod: [] }), stations }, query)).text;
    expect(await of('?alert_state=firing')).toMatch(
      /No resource matches: alert state firing\..*7 resources are in states of unknown meaning: ALERTSTATE_ESCALATED \(7\)/,
    );
    for (const query of ['?alert_state=unknown', '?search=x']) expect(await of(query)).not.toContain('unknown meaning');
  });
});

describe('a search for resources without alert rules', () => {
  it('says of how many it does not know that, beside what is searched for', async () => {
    const unreported = { alertRules: undefined };
    const stations = stationsOf({
      a: [resourceOf('x1', unreported), resourceOf('y', unreported)],
      b: [resourceOf('x2', unreported)],
    });
    const note = 'Alert coverage is unknown for 2 resources, not shown here.';
    const { text } = await search(stations, '?search=x&without_rules=yes');
    expect(text).toContain(`No resource matches: “x” in ID, name or display name, without rules yes. ${note}`);
    expect((await search(stations, '?search=x')).text).not.toContain('Alert coverage is unknown');
  });
});

describe('searchData', () => {
  const stations = stationsOf({ prod: [resourceOf('r1', { alertRules: 3 }), resourceOf('q')], gone: undefined });

  it('is an object with the exact number, the stations without data or listed before a reload, and the resources', async () => {
    const former = { ...STATION, isBeforeReload: true };
    const { headers, body } = await search({ ...stations, stations: () => [former] }, '?search=r1&format=json');
    expect(headers['content-type']).toBe('application/json');
    expect(JSON.parse(body)).toEqual({
      search: 'r1',
      total: 1,
      stations_without_data: ['gone'],
      stations_before_reload: ['prod'],
      resources: [expect.objectContaining({ station: 'prod', resource_id: 'r1', alert_rules: 3 })],
    });
  });

  it('has one line per resource as a CSV file, with the station first, in the order of the query', async () => {
    const { headers, body } = await search(stations, '?search=name&sort=resource_id&format=csv');
    expect(headers['content-disposition']).toBe('attachment; filename="resources-search-name.csv"');
    expect(body).toMatch(/^\ufeffstation,resource_id,.*\r\n"prod","q",.*\r\n"prod","r1",.*\r\n$/);
  });

  it.each([
    ['?search=x&format=csv', 503, 'No station has data.\n'],
    ['?search=&format=json', 400, 'Expected search, the text to search for, or a filter such as alert_state=firing.\n'],
    ['?search=a&search=b&format=json', 400, 'Expected search at most once.\n'],
    ['?search=a&search=b', 400, 'Expected search at most once.\n'],
  ])('responds to %s of a station without data with %i: %s', async (query, status, body) => {
    const { request } = await startApp(stationsOf({ prod: undefined }));
    expect(await request(`/search${query}`)).toMatchObject({ status, body });
  });
});
