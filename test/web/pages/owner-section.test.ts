import { describe, expect, it } from 'vitest';
import { ResourceLabels } from '../../../src/resources/resource-labels.ts';
import { AnchoredRegExp } from '../../../src/text/anchored-regexp.ts';
import { resourceOf } from '../../stations/fixtures.ts';
import { detailOf, exporterOf } from '../fake-station.ts';
import { openPage, rowsOf } from './opened-page.ts';

const resourceLabels = new ResourceLabels([
  { match: { resource_id: new AnchoredRegExp('[ab]') }, labels: { team: 'storage <1>' } },
  { match: { resource_id: new AnchoredRegExp('[bc]') }, labels: { team: 'web', tier: 'front' } },
]);
const resources = [
  resourceOf('a', { alertRules: 0, alertable: true, state: 'ALERTSTATE_FIRING' }),
  resourceOf('b', { alertRules: 2, alertable: true }),
  resourceOf('c', { alertRules: 1, alertable: true }),
  resourceOf('d', { alertRules: undefined, alertable: false, type: 'type.b' }),
].map((resource) => ({ ...resource, labels: resourceLabels.labelled(resource).labels }));
const labelled = exporterOf(detailOf(resources, { spec: { resourceLabels, alertability: true } }));

describe('ownerSection', () => {
  it('counts the resources by label on the status page, with links to them', async () => {
    const { body, hrefs } = await openPage(labelled);
    expect(rowsOf(body, 'owners-team')).toEqual([
      'storage <1> 2 1 50 %',
      'web 1 0 100 %',
      '(none) 1 0 – all listed resources are exempt',
    ]);
    expect(rowsOf(body, 'owners-tier')).toEqual(['(none) 2 1 0 %', 'front 2 0 100 %']);
    expect(body).toContain('<caption class="hidden-text">Resources by team</caption>');
    expect(hrefs).toContain('./search?alert_state=firing&team=storage+%3C1%3E');
  });

  it('is sorted by any column, and keeps the rest of the query', async () => {
    const { body, hrefs } = await openPage(labelled, '/?sort=state&owners=-coverage');
    expect(rowsOf(body, 'owners-team').map((row) => row.split(' ')[0])).toEqual(['web', 'storage', '(none)']);
    expect(hrefs).toContain('?sort=state&owners=coverage#by-team');
  });

  it('has a column for states of unknown meaning when there are any', async () => {
    const alertState = 'unknown' as const;
    const unknown = resources.map((resource) => (resource.id === 'b' ? { ...resource, alertState } : resource));
    const detail = detailOf(unknown, { spec: { resourceLabels, alertability: true } });
    const { body, hrefs } = await openPage(exporterOf(detail));
    expect(rowsOf(body, 'owners-team')).toEqual([
      'storage <1> 2 1 1 50 %',
      'web 1 0 0 100 %',
      '(none) 1 0 0 – all listed resources are exempt',
    ]);
    expect(hrefs).toContain('./search?alert_state=unknown&team=storage+%3C1%3E');
  });

  it('has columns, filters and counts on the page of a station', async () => {
    const { body } = await openPage(labelled, '/stations/prod?team=web');
    expect(body).toContain('<select id="filter-team" name="team">');
    expect(body).toContain('<option value="web" selected>web (1)</option>');
    expect(body).toMatch(/<td data-label="Team"><span>web<\/span><\/td>\s*<td data-label="Tier"><span>front/);
  });

  it('has fields and filters in JSON and CSV', async () => {
    const csv = await openPage(labelled, '/search?team=storage+%3C1%3E&alert_state=firing&format=csv');
    expect(csv.body).toMatch(/,team,tier\r\n"prod","a",.*,"storage <1>",\r\n$/);
    const none = await openPage(labelled, '/stations/prod/resources?format=json&team=(none)');
    expect(JSON.parse(none.body)).toMatchObject({ resources: [{ resource_id: 'd', team: '', tier: '' }] });
    const { body } = await openPage(labelled, '/stations/prod?format=json');
    const { resource_labels: owners } = JSON.parse(body) as { readonly resource_labels: object[] };
    expect(owners.slice(0, 2)).toMatchObject([
      { label: 'team', value: 'storage <1>', resources: 2, alert_coverage: 0.5 },
      { label: 'team', value: 'web', resources: 1, alert_coverage: 1 },
    ]);
  });
});
