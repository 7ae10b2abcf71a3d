import { describe, expect, it } from 'vitest';
import type { Resource } from '../../../src/resources/fields.ts';
import { ResourceLabels } from '../../../src/resources/resource-labels.ts';
import type { ResourceSpec } from '../../../src/resources/spec.ts';
import { resourceOf } from '../../stations/fixtures.ts';
import { detailOf, exporterOf, NO_CHANGES, NOW_MS } from '../fake-station.ts';
import { openPage, rowsOf, textOf } from './opened-page.ts';

type Changes = NonNullable<Parameters<typeof detailOf>[1]>;

/** The page of the resource `a`. */
function open(resource: Partial<Resource> = {}, changes: Changes = {}) {
  return openPage(exporterOf(detailOf([resourceOf('a', resource)], changes)), '/stations/prod/resources/a');
}

describe('resourcePage', () => {
  const listed = (snapshot: Changes['snapshot'] = {}) => detailOf([resourceOf('a')], { snapshot });

  it.each([
    ['The station has no resource with this ID.', 'prod/resources/b', 'stations/prod', listed()],
    // Only a complete listing shows that the station does not have a resource.
    [
      'No listed resource has this ID, but the listing is not verified complete',
      'prod/resources/b',
      'stations/prod',
      listed({ complete: false }),
    ],
    ['The station has no data', 'prod/resources/a', 'stations/prod', { ...detailOf([]), served: undefined }],
    ['No station "gone" is configured.', 'gone/resources/a', '', listed()],
  ])('says "%s" with status 404 of %s, with a link back', async (said, path, link, detail) => {
    const { status, text, hrefs } = await openPage(exporterOf(detail), `/stations/${path}`);
    expect(status).toBe(404);
    expect(text).toContain(said);
    expect(hrefs).toContain(`../../../${link}`);
  });

  it('shows what was last known of a resource whose removal is kept, not a 404', async () => {
    const atMs = NOW_MS - 60_000;
    const resource = resourceOf('b', { labels: { team: 'web', tier: '' }, sku: '8 GPU' });
    const removed = { atMs, change: 'removed' as const, resource, from: 'FIRING', to: undefined };
    // The label is of a later configuration: nothing is known of it.
    const spec = { resourceLabels: new ResourceLabels([], ['cost_center']) };
    const detail = detailOf([resourceOf('a')], { spec, changes: { ...NO_CHANGES, newestFirst: [removed] } });
    const { status, body, text } = await openPage(exporterOf(detail), '/stations/prod/resources/b');
    expect(status).toBe(200);
    expect(textOf(body, 'summary')).toBe('removed; not listed since 03:04 UTC');
    expect(textOf(body, 'last-known')).toBe('Teamweb Tier– none');
    expect(text).toContain('sku8 GPU');
    const added = { ...removed, change: 'added' as const, from: undefined, to: 'FIRING' };
    const listedAgain = detailOf([], { changes: { ...NO_CHANGES, newestFirst: [added, removed] } });
    const gone = await openPage(exporterOf(listedAgain), '/stations/prod/resources/b');
    expect(gone.status).toBe(404);
    expect(gone.hrefs).toContain('../../../stations/prod/changes?search=b');
  });

  it('shows the latest 20 changes of the resource, and none of others', async () => {
    const changeOf = (id: string, from: number) => ({
      atMs: NOW_MS,
      change: 'rules' as const,
      resource: resourceOf(id),
      from,
      to: 2,
    });
    const newestFirst = [changeOf('b', 9), ...Array.from({ length: 25 }, () => changeOf('a', 1))];
    const { body } = await open({}, { changes: { ...NO_CHANGES, newestFirst } });
    expect(rowsOf(body, 'change-table', ['Change', 'From', 'To'])).toEqual(Array(20).fill('rules 1 2'));
  });

  it('links to other tools, with the values of the resource', async () => {
    const links = [
      { name: 'A & "B"', resource: 'https://h/x?station={station}&id={resource_id}' },
      { name: 'Station only', station: 'https://h/' },
    ];
    const { body } = await open({}, { links });
    expect(body.match(/<a [^>]*rel="noreferrer".*/g)).toEqual([
      '<a href="https://h/x?station=prod&#38;id=a" rel="noreferrer">A &#38; &#34;B&#34;</a></li>',
    ]);
  });

  it('leads with state, rules and owners', async () => {
    const resourceLabels = new ResourceLabels([{ match: {}, labels: { team: 'storage', tier: '' } }]);
    const { body, text } = await open(
      { state: 'FIRING', alertRules: 3, labels: { team: 'storage' } },
      { spec: { resourceLabels } },
    );
    expect(textOf(body, 'status')).toBe('StateFIRING Alert rules3 Teamstorage Tier– none');
    expect(text).toContain('Station prod: up, data from 55 s ago.');
    const silent = await open({ state: '', alertRules: undefined });
    expect(textOf(silent.body, 'status')).toBe('State– no state Alert rules– not reported');
  });

  it('shows every field as parsed', async () => {
    const { body } = await open({
      sku: '2 GPU',
      gpuModel: 'H800',
      alertRules: 1200,
      createdSeconds: 0,
      state: 'ALERTSTATE_FIRING',
    });
    expect(rowsOf(body, 'fields')).toEqual([
      'resource_ida',
      'namename-a',
      'display_nameDisplay a',
      'resource_type.keytype.a',
      'resource_type.labelType A',
      'stateFiring ALERTSTATE_FIRING',
      'alert_rules_count1200',
      'create_time1970-01-01T00:00:00.000Z (20,455 d ago)',
      'sku2 GPU (quantity 2, unit GPU)',
      'gpu_modelH800',
    ]);
  });

  it('distinguishes fields that are not reported from invalid ones', async () => {
    const bare = {
      name: '',
      displayName: '',
      type: 't',
      typeLabel: '',
      state: '',
      sku: 'free',
      alertRules: undefined,
      createdSeconds: undefined,
    };
    const invalid = new Map([[0, ['resource_type', 'state', 'create_time'] as const]]);
    const { body, text } = await open(bare, { snapshot: { invalid: [invalid] } });
    expect(rowsOf(body, 'fields')).toEqual([
      'resource_ida',
      'namenot reported',
      'display_namenot reported',
      'resource_type.keyt',
      'resource_type.labelinvalid',
      'stateinvalid',
      'alert_rules_countnot reported',
      'create_timeinvalid',
      'skufree',
      'gpu_modelnot reported',
    ]);
    expect(text).toContain('/ prod / a');
  });

  it.each<[Partial<ResourceSpec>, Partial<Resource>, string, Changes['snapshot']?]>([
    [{}, { product: 'q' }, 'Coveragecovered by alert rules'],
    [{ products: ['p', 'q', 'r'] }, { product: 'q' }, 'Productq: the first of p, q, r whose listing contains it'],
    [{ products: ['p', 'q'] }, {}, 'Productnone: in the listing of none of p, q'],
    [{ products: ['p', 'q'] }, {}, 'Productunknown: the service ignores the filter product', { ignoresProduct: true }],
    [
      { products: ['p', 'q'] },
      {},
      'Productunknown: in the listing of none of p, q, and not all listings are verified complete',
      { complete: false, incompleteReasons: [{ reason: 'further_listing', text: 'listing of product q' }] },
    ],
    [{}, { alertRules: 0 }, 'Coveragenot covered by alert rules'],
    [{}, { alertRules: undefined }, 'Coverageunknown: its alert rules are not reported'],
    [{}, { alertable: false, exemptBy: 2 }, 'Coverageexempt by resource_labels[2]'],
    [{ alertability: true }, { alertable: true }, 'Coveragecovered by alert rules'],
    [{ alertability: true }, { alertable: false }, 'Coverageexempt: not in the listing with enabled_alert=true'],
    [
      { alertability: true },
      {},
      'Coverageunknown: not in the listing with enabled_alert=true, which is not verified complete',
    ],
  ])('with %j explains of %j "%s"', async (spec, resource, explanation, snapshot = {}) => {
    const { body } = await open(resource, { spec, snapshot });
    const { products = [] } = spec;
    expect(textOf(body, 'reasons')).toContain(explanation);
    expect(textOf(body, 'reasons').startsWith('Product')).toBe(products.length > 0);
  });

  it('explains a resource that was listed before a reload by the configuration of then', async () => {
    const resourceLabels = new ResourceLabels([], ['team']);
    const spec = { products: ['p'], alertability: true, resourceLabels };
    const { body, text } = await open({}, { spec, former: {}, status: { isBeforeReload: true } });
    expect(textOf(body, 'reasons')).toBe('Coveragecovered by alert rules');
    expect(textOf(body, 'status')).not.toContain('Team');
    expect(text).toContain('data from 55 s ago, before the reload.');
  });

  it('says which series are withheld', async () => {
    const { text } = await open({}, { withheldFiring: 600 });
    expect(text).toContain(
      'All series telemetry_station_resource_firing are withheld: the station has 600 firing resources, more than metrics.max_firing_resources.',
    );
    expect((await open()).text).not.toContain('withheld');
  });
});
