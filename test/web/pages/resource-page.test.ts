import { describe, expect, it } from 'vitest';
import type { ObservedChange } from '../../../src/inventory/changes.ts';
import type { StationDetail } from '../../../src/inventory/station-status.ts';
import type { Resource } from '../../../src/model/resource.ts';
import { ResourceLabels } from '../../../src/model/resource-labels.ts';
import type { StationSpec } from '../../../src/model/station-spec.ts';
import type { ExporterPort } from '../../../src/web/port.ts';
import { resourceOf } from '../../refresh/fixtures.ts';
import { detailOf, exporterOf, NOW_MS } from '../fake-station.ts';
import { parseHtml } from '../html-parser.ts';
import { startApp } from '../running-app.ts';

async function open(detail: StationDetail, path = '/stations/prod/resources/a', exporter: Partial<ExporterPort> = {}) {
  const { request } = await startApp({ ...exporterOf(detail), ...exporter }, { now: () => NOW_MS });
  const { status, headers, body } = await request(path, { headers: { accept: 'text/html' } });
  return { status, headers, body, ...parseHtml(body) };
}

/** The lines of text of a list or table of the page. */
function linesOf(body: string, id: string): string[] {
  const [, element, rest = ''] = new RegExp(`<(dl|table)[^>]* id="${id}"[^>]*>([\\s\\S]*)`).exec(body) ?? [];
  return parseHtml(rest.slice(0, rest.indexOf(`</${element}>`)))
    .text.split('\n')
    .filter((line) => line !== '');
}

describe('resourcePage', () => {
  it('responds 404 to an unknown station and an unknown ID, with a link back', async () => {
    const detail = detailOf([resourceOf('a')]);
    const station = await open(detail, '/stations/unknown/resources/a');
    expect(station.status).toBe(404);
    expect(station.text).toContain('No station with this name is configured on this shard.');
    const resource = await open(detail, '/stations/prod/resources/b');
    expect(resource.status).toBe(404);
    expect(resource.text).toContain('The station has no resource with this ID.');
    expect(resource.tags.flatMap(({ attributes }) => attributes['href'] ?? [])).toContain('../../../stations/prod');
  });

  it('links to other tools, with the values of the resource', async () => {
    const links = [
      { name: 'A & "B"', resource: 'https://h/x?station={station}&id={resource_id}' },
      { name: 'Station only', station: 'https://h/' },
    ];
    const { tags, body } = await open(detailOf([resourceOf('a')], { links }));
    expect(
      tags.filter(({ attributes }) => attributes['rel'] === 'noreferrer').map(({ attributes }) => attributes),
    ).toEqual([{ href: 'https://h/x?station=prod&id=a', rel: 'noreferrer' }]);
    expect(body).toContain('>A &#38; &#34;B&#34;</a>');
    expect((await open(detailOf([resourceOf('a')], { links }), '/stations/prod/resources/b')).body).not.toContain(
      'noreferrer',
    );
  });

  it('responds 404 while no snapshot is served', async () => {
    const { status, text } = await open({ ...detailOf([]), served: undefined });
    expect(status).toBe(404);
    expect(text).toContain('The station has no data');
  });

  it('has links that work under a prefix', async () => {
    const detail = detailOf([resourceOf('x/y%2F')], { spec: { name: 'a/b' } });
    const { request } = await startApp(exporterOf(detail), { externalUrl: new URL('http://example.com/pre/') });
    const path = '/pre/stations/a%2Fb/resources/x%2Fy%252F';
    const { status, body } = await request(path, { headers: { accept: 'text/html' } });
    expect(status).toBe(200);
    const links = parseHtml(body).tags.flatMap(({ name, attributes }) =>
      name === 'a' ? [attributes['href'] ?? ''] : [],
    );
    for (const link of links) {
      const { pathname } = new URL(link, `http://exporter${path}`);
      expect(pathname).toMatch(/^\/pre\//);
      expect((await request(pathname)).status, link).toBe(200);
    }
  });

  it('has no link to a station called ..', async () => {
    const { status, body } = await open(
      detailOf([resourceOf('a')], { spec: { name: '..' } }),
      '/stations/../resources/a',
    );
    expect(status).toBe(200);
    expect(body).toContain('<a href="../../../">Stations</a> / .. / Display a</nav>');
  });

  it('leads with state, since when it was observed, rules and owners; the record comes last', async () => {
    const resourceLabels = new ResourceLabels([{ match: {}, labels: { team: 'storage', tier: '' } }]);
    const spec = { resourceLabels };
    const resource = resourceOf('a', { state: 'FIRING', alertRules: 3, labels: { team: 'storage' } });
    const succeeded = { atMs: NOW_MS - 3_600_000, refreshes: 1, failed: 0, outcome: 'succeeded', waitedMs: 0 } as const;
    const history = () => [succeeded, { ...succeeded, atMs: NOW_MS - 7_200_000, outcome: 'failed' } as const];
    const { body, tags, text } = await open(detailOf([resource], { spec }), undefined, { history });
    expect(linesOf(body, 'status')).toEqual([
      'StateFIRING',
      'In this statefor at least 1 h',
      'Alert rules3',
      'teamstorage',
      'tier– none',
    ]);
    const headings = tags.filter(({ name }) => name === 'h2').map(({ attributes }) => attributes['id']);
    expect(headings).toEqual(['changes', 'joined', 'series', 'read', 'record']);
    expect(text).toContain('Station prod: up, data from 55 s ago.');
    const silent = await open(detailOf([resourceOf('a', { state: '', alertRules: undefined })]));
    expect(linesOf(silent.body, 'status')).toEqual([
      'State– not reported',
      'In this state– not observed',
      'Alert rules– not reported',
    ]);
  });

  const changed = (change: ObservedChange['change'], agoMs: number, to = 'FIRING'): ObservedChange => ({
    ...{ change, to, from: 'x', resource: resourceOf('a'), atMs: NOW_MS - agoMs },
  });

  it.each<[string, string, readonly ObservedChange[], { complete?: boolean; dropped?: number }?]>([
    ['for 1 min', 'a change to it was observed', [changed('rules', 1000), changed('state', 60_000)]],
    ['for 1 min', 'it was added with it', [changed('added', 60_000)]],
    ['for at least 2 min', 'older changes were dropped', [changed('rules', 120_000)], { dropped: 1 }],
    ['– not observed', 'the last change was to another state', [changed('state', 60_000, 'INACTIVE')]],
    ['– not observed', 'its type changed', [changed('type', 1000, 'vm'), changed('state', 60_000)]],
    ['– not observed', 'the listing is incomplete', [changed('state', 60_000)], { complete: false }],
    ['– not observed', 'the listing has been incomplete from the start', [], { complete: false }],
  ])('shows a state as observed %s if %s', async (held, _why, newestFirst, { complete = true, dropped = 0 } = {}) => {
    const detail = detailOf([resourceOf('a', { state: 'FIRING' })], { snapshot: { complete } });
    const { body } = await open(detail, undefined, { changes: () => ({ newestFirst, dropped }) });
    expect(linesOf(body, 'status')[1]).toBe(`In this state${held}`);
  });

  it('shows the place of the record in the listing and in its page', async () => {
    const parts = [[resourceOf('z')], [resourceOf('x'), resourceOf('a')]];
    const locations = [
      { offset: 0, positions: undefined, invalid: new Map() },
      { offset: 1200, positions: [3, 34], invalid: new Map([[1, ['state', 'sku'] as const]]) },
    ];
    const { body } = await open(detailOf(parts.flat(), { snapshot: { parts, locations: locations } }));
    expect(linesOf(body, 'origin')).toEqual([
      'Offset1,234 in the station’s listing (counted from 0)',
      'Pagerecord 35 of the page at offset 1,200',
      'Requestpage.offset=1234&page.size=1 with the station’s filters',
      'Invalid fieldsstate sku ',
    ]);
  });

  it('shows the place of the record in a page without duplicate or rejected records', async () => {
    const resources = [resourceOf('x'), resourceOf('a')];
    const locations = [{ offset: 5, positions: undefined, invalid: new Map() }];
    const { body } = await open(detailOf(resources, { snapshot: { locations: locations } }));
    expect(linesOf(body, 'origin').slice(0, 2)).toEqual([
      'Offset6 in the station’s listing (counted from 0)',
      'Pagerecord 2 of the page at offset 5',
    ]);
    expect(linesOf(body, 'origin')[3]).toBe('Invalid fieldsnone');
  });

  it('shows every field as parsed', async () => {
    const resource = resourceOf('a', {
      sku: '2 GPU',
      quantity: { value: 2, unit: 'GPU' },
      gpuModel: 'H800',
      alertRules: 1200,
      createdSeconds: 0,
    });
    const { body } = await open(detailOf([resource]));
    expect(linesOf(body, 'fields')).toEqual([
      'Fields of the record',
      'FieldValue',
      'resource_ida',
      'namename-a',
      'display_nameDisplay a',
      'resource_type.keytype.a',
      'resource_type.labelType A',
      'stateINACTIVE',
      'alert_rules_count1200',
      'create_time1970-01-01T00:00:00.000Z (20,455 d ago)',
      'sku2 GPU (quantity 2, unit GPU)',
      'gpu_modelH800',
    ]);
  });

  it('shows the state in words and as sent', async () => {
    const { body } = await open(detailOf([resourceOf('a', { state: 'ALERTSTATE_FIRING' })]));
    expect(linesOf(body, 'fields')).toContain('stateFiring ALERTSTATE_FIRING');
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
    const { body, text } = await open(
      detailOf([resourceOf('a', bare)], { snapshot: { locations: [{ offset: 0, positions: undefined, invalid }] } }),
    );
    const absent = 'not reported';
    const unusable = 'invalid';
    expect(linesOf(body, 'fields').slice(2)).toEqual([
      'resource_ida',
      `name${absent}`,
      `display_name${absent}`,
      'resource_type.keyt',
      `resource_type.label${unusable}`,
      `state${unusable}`,
      `alert_rules_count${absent}`,
      `create_time${unusable}`,
      'skufree',
      `gpu_model${absent}`,
    ]);
    expect(text).toContain('/ prod / a');
  });

  it.each<[Partial<StationSpec>, Partial<Resource>, string]>([
    [{}, {}, 'unknown: no products are configured for this station'],
    [{ products: ['p', 'q', 'r'] }, { product: 'q' }, 'q: the first of p, q, r whose listing contains it'],
    [{ products: ['p', 'q'] }, {}, 'none: in the listing of none of p, q'],
  ])('with %j explains the product of %j', async (spec, resource, explanation) => {
    const { body } = await open(detailOf([resourceOf('a', resource)], { spec }));
    expect(linesOf(body, 'reasons').slice(0, -1).join('|')).toBe(`Product${explanation}`);
  });

  it.each<[Partial<StationSpec>, boolean | undefined, string]>([
    [{}, undefined, 'unknown: alertability is not enabled for this station'],
    [
      { alertability: true, filters: { enabledAlert: true } },
      true,
      'yes: the station’s filter enabled_alert lists only alertable resources',
    ],
    [{ alertability: true }, true, 'yes: in the listing of alertable resources (enabled_alert=true)'],
    [
      { alertability: true },
      false,
      'no: not in the listing of alertable resources (enabled_alert=true), which is verified complete',
    ],
    [
      { alertability: true },
      undefined,
      'unknown: not in the listing of alertable resources, which is not verified complete',
    ],
  ])('with %j explains the alertability %s', async (spec, alertable, explanation) => {
    const { body } = await open(detailOf([resourceOf('a', { alertable })], { spec }));
    expect(linesOf(body, 'reasons').at(-1)).toBe(`Alertable${explanation}`);
  });

  it('shows the series of the resource', async () => {
    const { body } = await open(detailOf([resourceOf('a')]));
    expect(body).toContain('<pre id="lines">series{station=&#34;prod&#34;,resource_id=&#34;a&#34;} 1\n</pre>');
  });

  it('explains why there are no series', async () => {
    const off = await open(detailOf([resourceOf('a')]), undefined, { seriesOf: () => '' });
    expect(off.text).toContain('None: per-resource series are disabled by metrics.per_resource or metrics.disabled.');
    const withheld = await open(detailOf([resourceOf('a')], { withheld: 5000 }));
    expect(withheld.text).toContain(
      'Withheld: the station has 1 resource, more than metrics.max_resources, so all 5,000 per-resource series are withheld. Those of this resource would be:\nseries{',
    );
  });

  it('escapes markup in the resource', async () => {
    const text = '</pre><script>"\'&';
    const { body, text: seen } = await open(
      detailOf([resourceOf(text, { displayName: text, name: text, state: text })]),
      `/stations/prod/resources/${encodeURIComponent(text)}`,
    );
    expect(body.match(/<script/g)).toHaveLength(1);
    expect(seen).toContain(`display_name${text}\n`);
    expect(seen).toContain(`resource_id="${text}"`);
  });
});
