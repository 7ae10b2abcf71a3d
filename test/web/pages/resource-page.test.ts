import { describe, expect, it } from 'vitest';
import type { Resource } from '../../../src/station/resource.ts';
import type { StationSpec } from '../../../src/station/station-spec.ts';
import type { ExporterPort, StationDetail } from '../../../src/web/port.ts';
import { resourceOf } from '../../station/fixtures.ts';
import { detailOf, exporterOf, NOW_MS } from '../fake-station.ts';
import { parseHtml } from '../html-parser.ts';
import { startApp } from '../running-app.ts';

async function open(detail: StationDetail, path = '/stations/prod/resources/a', exporter: Partial<ExporterPort> = {}) {
  const { ask } = await startApp({ ...exporterOf(detail), ...exporter }, { now: () => NOW_MS });
  const { status, headers, body } = await ask(path);
  return { status, headers, body, ...parseHtml(body) };
}

/** The text of a list or table of the page, by its lines. */
function linesOf(body: string, id: string): string[] {
  const [, element, rest = ''] = new RegExp(`<(dl|table)[^>]* id="${id}"[^>]*>([\\s\\S]*)`).exec(body) ?? [];
  return parseHtml(rest.slice(0, rest.indexOf(`</${element}>`)))
    .text.split('\n')
    .filter((line) => line !== '');
}

describe('resourcePage', () => {
  it('answers an unknown station and an unknown id with pages that say so and lead back', async () => {
    const detail = detailOf([resourceOf('a')]);
    const station = await open(detail, '/stations/nobody/resources/a');
    expect(station.status).toBe(404);
    expect(station.text).toContain('No station of that name is configured here');
    const resource = await open(detail, '/stations/prod/resources/b');
    expect(resource.status).toBe(404);
    expect(resource.text).toContain('The station’s snapshot has no resource of that id.');
    expect(resource.tags.flatMap(({ attributes }) => attributes['href'] ?? [])).toContain('../../../stations/prod');
  });

  it('says that nothing is known while no snapshot is served', async () => {
    const { status, text } = await open({ ...detailOf([]), served: undefined });
    expect(status).toBe(404);
    expect(text).toContain('No snapshot of the station is served at this moment');
  });

  it('has links that hold under a prefix', async () => {
    const detail = detailOf([resourceOf('x/y%2F')], { spec: { name: 'a/b' } });
    const { ask } = await startApp(exporterOf(detail), { externalUrl: new URL('http://example.com/pre/') });
    const path = '/pre/stations/a%2Fb/resources/x%2Fy%252F';
    const { status, body } = await ask(path);
    expect(status).toBe(200);
    const links = parseHtml(body).tags.flatMap(({ name, attributes }) => (name === 'a' ? [attributes['href'] ?? ''] : []));
    for (const link of links) {
      const { pathname } = new URL(link, `http://exporter${path}`);
      expect(pathname).toMatch(/^\/pre\//);
      expect((await ask(pathname)).status, link).toBe(200);
    }
  });

  it('links no page of a station whose name no path can hold', async () => {
    const { status, body } = await open(detailOf([resourceOf('a')], { spec: { name: '..' } }), '/stations/../resources/a');
    expect(status).toBe(200);
    expect(body).toContain('<a href="../../../">Stations</a> / .. / Display a</nav>');
  });

  it('tells the record by its place in the listing and in its page', async () => {
    const parts = [[resourceOf('z')], [resourceOf('x'), resourceOf('a')]];
    const origins = [
      { offset: 0, positions: undefined, invalid: new Map() },
      { offset: 1200, positions: [3, 34], invalid: new Map([[1, ['state', 'sku'] as const]]) },
    ];
    const { body } = await open(detailOf(parts.flat(), { snapshot: { parts, locations: origins } }));
    expect(linesOf(body, 'origin')).toEqual([
      'Recordat offset 1,234 of the station’s listing (the first is 0)',
      'Pagethe one that begins at offset 1,200, in it record 35',
      'To ask for itpage.offset=1234&page.size=1 with the station’s filters',
      'Invalid fieldsstate sku ',
    ]);
  });

  it('tells the place in a page of which nothing was left out', async () => {
    const resources = [resourceOf('x'), resourceOf('a')];
    const origins = [{ offset: 5, positions: undefined, invalid: new Map() }];
    const { body } = await open(detailOf(resources, { snapshot: { locations: origins } }));
    expect(linesOf(body, 'origin').slice(0, 2)).toEqual([
      'Recordat offset 6 of the station’s listing (the first is 0)',
      'Pagethe one that begins at offset 5, in it record 2',
    ]);
    expect(linesOf(body, 'origin')[3]).toBe('Invalid fieldsnone');
  });

  it('shows every field as it was read', async () => {
    const whole = resourceOf('a', {
      sku: '2 GPU',
      quantity: { value: 2, unit: 'GPU' },
      gpuModel: 'H800',
      alertRules: 1200,
      createdSeconds: 0,
    });
    const { body } = await open(detailOf([whole]));
    expect(linesOf(body, 'fields')).toEqual([
      'Fields of the record',
      'FieldAs read',
      'resource_ida',
      'namename-a',
      'display_nameDisplay a',
      'resource_type.keytype.a',
      'resource_type.labelType A',
      'stateINACTIVE',
      'sku2 GPU (quantity 2, unit GPU)',
      'gpu_modelH800',
      'alert_rules_count1200',
      'create_time1970-01-01T00:00:00.000Z (20,455 d ago)',
    ]);
  });

  it('tells what was not given from what was not usable', async () => {
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
    const absent = 'not given, or empty';
    const unusable = 'not usable as the service gave it';
    expect(linesOf(body, 'fields').slice(2)).toEqual([
      'resource_ida',
      `name${absent}`,
      `display_name${absent}`,
      'resource_type.keyt',
      `resource_type.label${unusable}`,
      `state${unusable}`,
      'skufree',
      `gpu_model${absent}`,
      `alert_rules_count${absent}`,
      `create_time${unusable}`,
    ]);
    expect(text).toContain('/ prod / a');
  });

  it.each<[Partial<StationSpec>, Partial<Resource>, string]>([
    [{}, {}, 'unknown: the configuration names no products for this station'],
    [
      { products: ['p', 'q', 'r'] },
      { product: 'q' },
      'q; the configured products in their order:|p: its listing did not hold the resourceq: the first whose listing held the resourcer: comes later, so it was not decisive',
    ],
    [
      { products: ['p', 'q'] },
      {},
      'none; the configured products in their order:|p: its listing did not hold the resourceq: its listing did not hold the resource',
    ],
  ])('with %j tells of %j which product claimed it', async (spec, resource, told) => {
    const { body } = await open(detailOf([resourceOf('a', resource)], { spec }));
    expect(linesOf(body, 'reasons').slice(0, -1).join('|')).toBe(`Product${told}`);
  });

  it.each<[Partial<StationSpec>, boolean | undefined, string]>([
    [{}, undefined, 'unknown: alertability is not asked for in the configuration'],
    [
      { alertability: true, filters: { enabledAlert: true } },
      true,
      'yes: the station’s filter enabled_alert lists alertable resources alone',
    ],
    [{ alertability: true }, true, 'yes: the listing of alertable resources (enabled_alert=true) held it'],
    [{ alertability: true }, false, 'no: the listing of alertable resources (enabled_alert=true) is whole and lacks it'],
    [{ alertability: true }, undefined, 'unknown: the listing of alertable resources lacks it, but was not proven whole'],
  ])('with %j and alertable %s tells how that is known', async (spec, alertable, told) => {
    const { body } = await open(detailOf([resourceOf('a', { alertable })], { spec }));
    expect(linesOf(body, 'reasons').at(-1)).toBe(`Alertable${told}`);
  });

  it('shows the series that it publishes', async () => {
    const { body, headers } = await open(detailOf([resourceOf('a')]));
    expect(body).toContain('<pre id="lines">series{station=&#34;prod&#34;,resource_id=&#34;a&#34;} 1\n</pre>');
    expect(headers['content-security-policy']).toContain("form-action 'none'");
  });

  it('tells why it publishes none', async () => {
    const off = await open(detailOf([resourceOf('a')]), undefined, { linesOf: () => '' });
    expect(off.text).toContain('Nothing: series of single resources are switched off by metrics.per_resource or metrics.disabled.');
    const withheld = await open(detailOf([resourceOf('a')], { withheld: 5000 }));
    expect(withheld.text).toContain(
      'Nothing: the station has 1 resource, more than metrics.max_resources, so 5,000 series of single resources are withheld. It would publish:\nseries{',
    );
  });

  it('shows hostile texts as the texts they are', async () => {
    const text = '</pre><script>"\'&';
    const { body, text: seen } = await open(
      detailOf([resourceOf(text, { displayName: text, name: text, state: text })]),
      `/stations/prod/resources/${encodeURIComponent(text)}`,
    );
    expect(body).not.toContain('<script');
    expect(seen).toContain(`display_name${text}\n`);
    expect(seen).toContain(`resource_id="${text}"`);
  });
});
