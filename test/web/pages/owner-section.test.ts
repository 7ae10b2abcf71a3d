import { describe, expect, it } from 'vitest';
import { AnchoredRegExp, ResourceLabels } from '../../../src/model/resource-labels.ts';
import { resourceOf } from '../../refresh/fixtures.ts';
import { detailOf, exporterOf, STATION } from '../fake-station.ts';
import { parseHtml } from '../html-parser.ts';
import { startApp } from '../running-app.ts';

const resourceLabels = new ResourceLabels([
  { match: { resource_id: new AnchoredRegExp('[ab]') }, labels: { team: 'storage <1>' } },
  { match: { resource_id: new AnchoredRegExp('[bc]') }, labels: { team: 'web', tier: 'front' } },
]);
const resources = [
  resourceOf('a', { alertRules: 0, alertable: true, state: 'ALERTSTATE_FIRING' }),
  resourceOf('b', { alertRules: 2, alertable: true }),
  resourceOf('c', { alertRules: 1, alertable: true }),
  resourceOf('d', { alertRules: undefined, alertable: false, type: 'type.b' }),
].map((resource) => ({ ...resource, labels: resourceLabels.labelsOf(resource) }));
const labelled = exporterOf(detailOf(resources, { spec: { resourceLabels, alertability: true } }));

const linesOf = (html: string) =>
  parseHtml(html)
    .text.split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

describe('ownerSection', () => {
  it('counts the resources by label on the status page, with links to them', async () => {
    const { request } = await startApp(labelled);
    const [, section = ''] = /<div id="owners">([\s\S]*?)<\/div>/.exec((await request('/')).body) ?? [];
    expect(linesOf(section).join(' ').replaceAll(/ +/g, ' ')).toBe(
      'Resources by team Resources by team teamResourcesFiringCoverage storage <1> 2 1 50 % web 1 0 100 % ' +
        '(none) 1 0 – no resource can have alerts, or alert rules are not reported ' +
        'Resources by tier Resources by tier tierResourcesFiringCoverage (none) 2 1 0 % front 2 0 100 %',
    );
    const links = parseHtml(section).tags.flatMap(({ attributes }) => attributes['href'] ?? []);
    expect(links).toContain('./search?state=firing&team=storage+%3C1%3E');
    const found = await request('/search?team=storage+%3C1%3E&state=firing&format=csv');
    expect(found.body).toMatch(/,team,tier\r\nprod,a,.*,storage <1>,\r\n$/);
    expect((await startApp().then((app) => app.request('/'))).body).toContain('<div id="owners"></div>');
  });

  it('names the number of stations that are not counted, also beside the totals', async () => {
    const gone = { ...STATION, name: 'gone', snapshot: undefined };
    const { request } = await startApp({ ...labelled, stations: () => [STATION, gone] });
    const { body } = await request('/');
    const note = 'Resources, firing, pending and coverage do not count 1 station without data.';
    expect(parseHtml(body).text.split(note)).toHaveLength(1 + 3);
    expect(body).toContain(`<div id="not-counted"><p class="quiet">${note}`);
    expect((await startApp(labelled).then((app) => app.request('/'))).body).not.toContain('do not count');
  });

  it('has columns, filters and counts on the page of a station', async () => {
    const { request } = await startApp(labelled);
    const { body } = await request('/stations/prod?team=web');
    expect(body).toContain('<select id="filter-team" name="team">');
    expect(body).toContain('<option value="web" selected>web (1)</option>');
    expect(body).toMatch(/<td data-label="team"><span>web<\/span><\/td>\s*<td data-label="tier"><span>front/);
    const [, bars = ''] = /<h3 id="by-label_team">([\s\S]*?)<\/section>/.exec(body) ?? [];
    expect(linesOf(bars)).toEqual(['By team', 'storage <1> 2 (50 %)', '(none) 1 (25 %)', 'web 1 (25 %)']);
    const nothing = await request('/stations/prod?team=nobody');
    expect(nothing.body).toContain('No resource matches.');
    expect((await request('/stations/prod?team=a&team=b')).status).toBe(400);
  });

  it('has fields and filters in JSON and CSV', async () => {
    const { request } = await startApp(labelled);
    const idsOf = async (query: string) => {
      const { body } = await request(`/stations/prod/resources?format=json&${query}`);
      return (JSON.parse(body) as { resources: Record<string, unknown>[] }).resources.map(
        ({ resource_id, team, tier }) => [resource_id, team, tier],
      );
    };
    expect(await idsOf('tier=front')).toEqual([
      ['b', 'storage <1>', 'front'],
      ['c', 'web', 'front'],
    ]);
    expect(await idsOf('team=(none)')).toEqual([['d', '', '']]);
    const { body } = await request('/stations/prod?format=json');
    expect((JSON.parse(body) as { resource_labels: object[] }).resource_labels[0]).toEqual({
      label: 'team',
      value: 'storage <1>',
      resources: 2,
      firing_resources: 1,
      resources_without_alert_rules: 1,
      alert_coverage: 0.5,
    });
    const plain = await startApp();
    expect(JSON.parse((await plain.request('/stations/prod?format=json')).body)).not.toHaveProperty('resource_labels');
  });
});
