import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LISTING_FIELDS, type ListingField } from '../../../src/model/listing.ts';
import type { Resource } from '../../../src/model/resource.ts';
import { resourceOf } from '../../refresh/fixtures.ts';
import { detailOf, exporterOf, NOW_MS, SNAPSHOT, UPSTREAM } from '../fake-station.ts';
import { parseHtml } from '../html-parser.ts';
import { errorText, startApp } from '../running-app.ts';

const now = () => NOW_MS;

async function open(detail = detailOf([]), path = '/stations/prod') {
  const { request } = await startApp(exporterOf(detail), { now });
  const response = await request(path);
  return { ...response, ...parseHtml(response.body) };
}

/** The ids of the resources in the table, in its order. */
const idsOf = (body: string) => [...body.matchAll(/<span class="sub code">([^<]*)<\/span>/g)].map(([, id]) => id);

/** The text of the element with the ID, up to the first end tag of that name. */
function textOf(body: string, id: string): string {
  const [, element, rest = ''] = new RegExp(`<(\\w+)[^>]* id="${id}"[^>]*>([\\s\\S]*)`).exec(body) ?? [];
  return parseHtml(rest.slice(0, rest.indexOf(`</${element}>`))).text.trim();
}

/** The links of the page with their texts. */
function textLinks(body: string): (readonly [href: string, text: string])[] {
  return [...body.matchAll(/<a [^>]*>[^<]*<\/a>/g)].map(([link]) => {
    const { tags, text } = parseHtml(link);
    return [tags[0]?.attributes['href'] ?? '', text];
  });
}

const three = [
  resourceOf('b', {
    displayName: 'Beta',
    type: 'type.b',
    typeLabel: 'Type B',
    state: 'ALERTSTATE_FIRING',
    alertRules: 0,
    product: 'p',
    alertable: true,
  }),
  resourceOf('a', {
    displayName: '',
    name: 'named',
    state: '',
    alertRules: undefined,
    createdSeconds: undefined,
    alertable: false,
  }),
  resourceOf('c', {
    displayName: '',
    name: '',
    type: '',
    typeLabel: '',
    sku: '2 GPU',
    gpuModel: 'H',
    alertRules: 1200,
  }),
];
const full = detailOf(three, { spec: { products: ['p', 'q'], alertability: true } });

describe('stationPage', () => {
  it('links to other tools', async () => {
    const links = [
      { name: 'Grafana', station: 'https://grafana.example.com/d/x?var-station={station}' },
      { name: 'Resource only', resource: 'https://h/' },
    ];
    const { body } = await open(detailOf([], { links }));
    expect(body).toContain(
      '<li><a href="https://grafana.example.com/d/x?var-station=prod" rel="noreferrer">Grafana</a></li>',
    );
    expect(body).not.toContain('Resource only');
    expect((await open()).body).not.toContain('Links to other tools');
  });

  it('responds 404 to an unknown station, and suggests one with a similar name', async () => {
    const { request } = await startApp(exporterOf(full));
    expect(await request('/stations/prd')).toMatchObject({
      status: 404,
      body: 'No station with this name is configured on this shard. Did you mean prod?\n',
    });
    const { status, body } = await request('/stations/prd', { headers: { accept: 'text/html' } });
    expect(status).toBe(404);
    expect(body).toContain('<p><a href="../stations/prod">prod</a> · <a href="../">All stations</a></p>');
    const other = await request('/stations/unknown/history', { headers: { accept: 'text/html' } });
    expect(other.status).toBe(404);
    expect(parseHtml(other.body).text).not.toContain('Did you mean');
  });

  it('allows its form and its script in the policy', async () => {
    const { headers, body } = await open();
    const policy = headers['content-security-policy'];
    expect(policy).toContain("; form-action 'self'; ");
    const [, script = ''] = /<script>([\s\S]*)<\/script>/.exec(body) ?? [];
    expect(policy).toContain(
      `; script-src 'sha256-${createHash('sha256').update(script).digest('base64')}'; connect-src 'self'; `,
    );
    expect(body).not.toMatch(/\sstyle=/);
  });

  it('shows the resources first, then the history, the counts and the details', async () => {
    const { tags } = await open(full);
    const headings = tags.filter(({ name }) => name === 'h2').map(({ attributes }) => attributes['id']);
    expect(headings).toEqual(['resources', 'history-title', 'counts', 'place', 'listing']);
  });

  it('has links that work under a prefix, for any station name', async () => {
    const detail = detailOf([resourceOf('x/y')], { spec: { name: 'a/b' } });
    const { request } = await startApp(exporterOf(detail), { externalUrl: new URL('http://example.com/pre/fix/') });
    const { status, body } = await request('/pre/fix/stations/a%2Fb');
    expect(status).toBe(200);
    const links = parseHtml(body).tags.flatMap(({ name, attributes }) =>
      name === 'a' ? [attributes['href'] ?? ''] : [],
    );
    expect(links).toContain('../stations/a%2Fb/resources/x%2Fy');
    for (const link of links) {
      const { pathname, search } = new URL(link, 'http://exporter/pre/fix/stations/a%2Fb');
      expect(pathname).toMatch(/^\/pre\/fix\//);
      expect((await request(pathname + search)).status, link).toBe(200);
    }
  });

  it('shows the state and the details of the station', async () => {
    const { body, text } = await open(
      detailOf(three, {
        spec: { labels: { team: 'a"b' } },
        upstream: { name: 'up' },
        status: { up: false, failure: { reason: 'tls', message: 'expired' }, durationMs: 12_345 },
      }),
    );
    expect(textOf(body, 'status').split('\n')).toEqual([
      'Statefailing',
      'Resources3',
      'Firing0',
      'Pending0',
      'Coverage– alert rules are not reported',
      'Last success55 s ago',
    ]);
    expect(text).toContain('tls: expired');
    expect(textOf(body, 'question').split('\n')).toEqual([
      'Upstreamup',
      'Subscriptionsub',
      'Resource grouprg',
      'Zonez1',
      'Telemetry stationts',
      'Labelsteam="a"b" ',
      'Latest refreshtook 12 s',
      'Next refreshon a scrape after 30 s',
      'Metricsthis station only',
      'JSONthis station only',
    ]);
  });

  it('shows first that data may miss resources and why, and is not green then', async () => {
    const incomplete = { complete: false, incompleteReasons: ['total 500, 494 listed'] };
    const { body, text } = await open(
      detailOf(three, { status: { snapshot: { ...SNAPSHOT, ...incomplete, firing: 2 } } }),
    );
    expect(text).toContain('The data may miss resources. listing incomplete: total 500, 494 listed.');
    expect(body.indexOf('id="data-problems"')).toBeLessThan(body.indexOf('id="resources"'));
    expect(body).not.toContain('class="state up"');
    expect(body).toContain('<dd><a href="?state=firing#resources">2</a></dd>');
  });

  it('shows what limits the refreshes of the station', async () => {
    const load = { ...UPSTREAM.load, recentThrottled: 36, requestsPerSecond: 4.2, holdMs: 5000 };
    const status = { isRefreshing: true, waitingMs: 180_000, isHanging: true };
    const { body } = await open(detailOf(three, { upstream: { load }, status }));
    expect(textOf(body, 'question').split('\n')).toEqual([
      'Upstreammain',
      'Loadthrottled (429): 36 of 180 requests in 5 min, now 4.2 requests/sservice requested a pause until 03:05:05 UTC (Retry-After)',
      'Subscriptionsub',
      'Resource grouprg',
      'Zonez1',
      'Telemetry stationts',
      'Latest refreshtook 250 ms',
      'Next refreshwaiting for capacity for 3 min',
      'Requestshanging: one probing request at a time until the service replies',
      'Metricsthis station only',
      'JSONthis station only',
    ]);
  });

  it('shows a station without a snapshot', async () => {
    const detail = detailOf([], {
      status: { up: undefined, snapshot: undefined, lastSuccessMs: undefined, durationMs: undefined },
    });
    const { status, body, text } = await open({ ...detail, served: undefined });
    expect(status).toBe(200);
    expect(text).toContain('No data yet: the first refresh has not ended.');
    expect(text).not.toContain('max_stale');
    expect(text).toContain('Latest refreshnot tried yet');
    expect(body).not.toMatch(/id="(narrow|counts|listing|downloads)"/);
  });

  it('shows the listing, and why it is incomplete', async () => {
    const listing = async (detail: Parameters<typeof open>[0]) =>
      textOf((await open(detail)).body, 'story').split('\n');
    expect(await listing(detailOf(three, { snapshot: { reportedTotal: undefined } }))).toEqual([
      'Completenessverified complete',
      'Unique resources3',
      'Reported totalnot reported',
      'Pages1 (all listings)',
      'Duplicate records0',
      'Rejected records0 (without a usable resource_id)',
      'Invalid fieldsnone',
    ]);
    expect((await listing(detailOf(three, { snapshot: { rejected: 4 } })))[0]).toBe(
      'Completenesscomplete except for 4 rejected records',
    );
    const invalidFields = Object.fromEntries(
      LISTING_FIELDS.map((field, index) => [field, index < 2 ? index * 1000 : 0]),
    );
    const incomplete = {
      complete: false,
      incompleteReasons: ['the total changed', 'and <more>'],
      reportedTotal: 4,
      pages: 1234,
      duplicates: 2,
      rejected: 1,
      invalidFields: invalidFields as Record<ListingField, number>,
    };
    expect(await listing(detailOf(three, { snapshot: incomplete }))).toEqual([
      'Completenessnot verified complete',
      'Reasonsthe total changedand <more>',
      'Unique resources3',
      'Reported total4',
      'Pages1,234 (all listings)',
      'Duplicate records2',
      'Rejected records1 (without a usable resource_id)',
      'Invalid fieldscreate_time: 1,000',
    ]);
  });

  it('counts resources by type, state and product, each with a bar and a link', async () => {
    const { body } = await open(full);
    const [, counts = ''] = /<div class="bars">([\s\S]*?)<\/div>/.exec(body) ?? [];
    const lines = parseHtml(counts)
      .text.split('\n')
      .filter((line) => line !== '');
    expect(lines.map((line) => line.trim())).toEqual([
      'By state',
      '(none) 1 (33 %)',
      'Firing 1 (33 %)',
      'INACTIVE 1 (33 %)',
      'By type',
      '(none) 1 (33 %)',
      'a Type A 1 (33 %)',
      'b Type B 1 (33 %)',
      'By product',
      '(none) 2 (67 %)',
      'p 1 (33 %)',
    ]);
    const { tags } = parseHtml(counts);
    expect(tags.flatMap(({ name, attributes }) => (name === 'rect' ? [attributes['width']] : [])).slice(-2)).toEqual([
      '66.7%',
      '33.3%',
    ]);
    const titles = tags.flatMap(({ attributes }) => attributes['title'] ?? []);
    expect(titles).toEqual(['ALERTSTATE_FIRING', 'type.a', 'type.b']);
    expect(tags.flatMap(({ attributes }) => attributes['href'] ?? []).slice(-2)).toEqual([
      '?product=%28none%29#resources',
      '?product=p#resources',
    ]);
  });

  it('shows values beyond the limit as (other), which cannot be selected', async () => {
    const resources = ['a', 'b', 'c'].map((id) => resourceOf(id, { type: `type.${id}` }));
    const { body } = await open(detailOf(resources, { spec: { labelValues: 1 } }));
    const [, counts = ''] = /<div class="bars">([\s\S]*?)<\/div>/.exec(body) ?? [];
    expect(parseHtml(counts).text.replaceAll(/\s+/g, ' ')).toContain('(other) 2 (67 %)');
    expect(body).toContain('type=type.a');
    expect(body).not.toContain('type=%28other%29');
    expect(body).not.toContain('<option value="(other)"');
  });

  it('shows twelve bars and collapses the others', async () => {
    const many = Array.from({ length: 15 }, (_, index) => resourceOf(`r${index}`, { type: `t${index}` }));
    const { body } = await open(detailOf(many));
    expect(body).toContain('<summary>3 more</summary>');
    expect(body.slice(0, body.indexOf('<details>')).match(/href="\?type=/g)).toHaveLength(12);
  });

  it('lists at most 200 values of a kind, and the selected one', async () => {
    const many = detailOf(Array.from({ length: 250 }, (_, at) => resourceOf(`r${at}`, { type: `type.t${1000 + at}` })));
    const optionsOf = (body: string) =>
      /<select id="filter-type"[\s\S]*?<\/select>/.exec(body)?.[0].match(/<option/g)?.length;
    const { body } = await open(many);
    expect(optionsOf(body)).toBe(1 + 200);
    expect(body).toContain('<summary>238 more</summary>');
    expect(body).toContain('50 more are not listed');
    expect(body.match(/<svg class="bar"/g)).toHaveLength(200 + 1);
    const selected = await open(many, '/stations/prod?type=type.t1249');
    expect(optionsOf(selected.body)).toBe(1 + 200 + 1);
    expect(selected.body).toContain('<option value="type.t1249" selected>t1249 ');
    expect(idsOf(selected.body)).toEqual(['r249']);
  });

  it('shows no bars without resources', async () => {
    const { body, text } = await open(detailOf([]));
    expect(body).not.toContain('class="bars"');
    expect(text).toContain('The station has no resources.');
  });

  it('shows the resources, with unknown values marked', async () => {
    const { body } = await open(full);
    const [, table = ''] = /<tbody>([\s\S]*?)<\/tbody>/.exec(body.slice(body.indexOf('id="resource-table"'))) ?? [];
    const rows = [...table.matchAll(/<tr[^>]*>([\s\S]*?)<\/tr>/g)].map(([, row = '']) =>
      parseHtml(row).text.trim().split('\n'),
    );
    const none = '– not reported';
    const age = '779 d ago';
    expect(rows).toEqual([
      ['Beta b', 'name-b', 'b Type B', 'p', 'Firing', 'yes', '0', none, none, age],
      ['named a', 'named', 'a Type A', none, none, 'no', none, none, none, none],
      ['c c', none, `${none} `, none, 'INACTIVE', 'unknown', '1,200', '2 GPU', 'H', age],
    ]);
  });

  it('omits the columns and filters of features that are not enabled', async () => {
    const { tags, text } = await open(detailOf(three));
    const ids = tags.flatMap(({ attributes }) => attributes['id'] ?? []);
    expect(ids).toEqual(expect.arrayContaining(['search', 'filter-type', 'filter-state', 'without-rules']));
    expect(ids).not.toEqual(expect.arrayContaining(['filter-product']));
    expect(ids).not.toEqual(expect.arrayContaining(['filter-alertable']));
    expect(text).not.toMatch(/Alertable|By product/);
  });

  it.each([
    ['', ['b', 'a', 'c']],
    ['?sort=id&order=desc&product=(none)', ['c', 'a']],
  ])('selects and sorts by %s: %j', async (query, ids) => {
    const { body } = await open(full, `/stations/prod${query}`);
    expect(idsOf(body)).toEqual(ids);
  });

  it('shows the query in the form, also a value that no resource has any more', async () => {
    const { body, tags } = await open(
      full,
      '/stations/prod?search=%22x&type=removed&alertable=no&without_rules=yes&sort=sku&order=desc',
    );
    expect(body).toContain('<option value="removed" selected>removed</option>');
    expect(body).toContain('<option value="no" selected>no</option>');
    expect(body).toContain('value="yes" checked>');
    const values = tags
      .filter(({ name, attributes }) => name === 'input' && attributes['name'] !== 'q')
      .map(({ attributes }) => [attributes['name'], attributes['value']]);
    expect(values).toEqual([
      ['search', '"x'],
      ['without_rules', 'yes'],
    ]);
    expect(body).toContain('<option value="-sku" selected>SKU, descending</option>');
    expect((await open(full, '/stations/prod?sort=id')).body).toContain('<option value="id" selected>id</option>');
  });

  it('selects exactly one option of every choice, so that a script can tell whether it was changed', async () => {
    for (const query of ['', '?state=firing&type=b&product=q&sort=-id', '?state=(none)&type=type&alertable=yes']) {
      const { body } = await open(full, `/stations/prod${query}`);
      const choices = [...body.matchAll(/<select[\s\S]*?<\/select>/g)].map(
        ([choice]) => choice.match(/ selected>/g)?.length,
      );
      expect(choices).toEqual([1, 1, 1, 1, 1]);
    }
  });

  it('links to all resources where none matches', async () => {
    const { status, text, tags } = await open(full, '/stations/prod?state=<gone>&type=type.b&sort=-id');
    expect(status).toBe(200);
    expect(text).toContain('No resource matches. Clear the filters: show 3 resources');
    expect(tags.flatMap(({ attributes }) => attributes['href'] ?? [])).toContain('?sort=-id#resources');
  });

  it('links to exactly the filtered list and order as CSV and JSON', async () => {
    const path = '/stations/prod?search=%26&state=ALERTSTATE_FIRING&sort=-id&page=7';
    const one = detailOf([resourceOf('&', { state: 'ALERTSTATE_FIRING' })]);
    const linksOf = (body: string) =>
      [...textLinks(body)].filter(([, words]) => words === 'CSV' || words === 'JSON').map(([href]) => href);
    expect(linksOf((await open(one, path)).body)).toEqual([
      '../stations/prod/resources?search=%26&state=ALERTSTATE_FIRING&sort=-id&format=csv',
      '../stations/prod/resources?search=%26&state=ALERTSTATE_FIRING&sort=-id&format=json',
    ]);
    expect(linksOf((await open(one)).body)[0]).toBe('../stations/prod/resources?format=csv');
  });

  it('searches a snapshot once for each query', async () => {
    const selected: string[] = [];
    let detail = full;
    const exporter = exporterOf(full);
    const { request } = await startApp(
      {
        ...exporter,
        station: () => detail,
        select: (snapshot, selection, order, signal) => {
          selected.push(selection.search ?? '');
          return exporter.select(snapshot, selection, order, signal);
        },
      },
      { now },
    );
    const search = async (text: string) => idsOf((await request(`/stations/prod?search=${text}`)).body);
    expect(await search('beta')).toEqual(['b']);
    expect(await search('beta')).toEqual(['b']);
    expect(await search('named')).toEqual(['a']);
    expect(selected).toEqual(['beta', 'named']);
    detail = detailOf([...three, resourceOf('d', { name: 'beta' })]);
    expect(await search('beta')).toEqual(['b', 'd']);
    for (let at = 0; at < 60; at += 1) await search(`none-${at}`);
    expect(await search('beta')).toEqual(['b', 'd']);
    expect(selected.filter((text) => text === 'beta')).toHaveLength(3);
  });

  it('reverses the order by the heading that is sorted by, and marks it with aria-sort', async () => {
    const heading = async (query: string) =>
      /<th scope="col"[^>]*><a [^>]*>SKU<\/a>/.exec((await open(full, `/stations/prod${query}`)).body)?.[0];
    expect(await heading('?state=ALERTSTATE_FIRING')).toBe(
      '<th scope="col"><a href="?state=ALERTSTATE_FIRING&#38;sort=sku#resources">SKU</a>',
    );
    expect(await heading('?sort=sku')).toBe(
      '<th scope="col" aria-sort="ascending"><a href="?sort=-sku#resources">SKU</a>',
    );
    expect(await heading('?sort=-sku')).toBe(
      '<th scope="col" aria-sort="descending"><a href="?sort=sku#resources">SKU</a>',
    );
  });

  describe('with more resources than a page holds', () => {
    const resources = Array.from({ length: 1234 }, (_, index) => resourceOf(`r${String(index).padStart(4, '0')}`));
    const pager = async (query: string) => {
      const { body, status } = await open(detailOf(resources), `/stations/prod${query}`);
      const navs = [...body.matchAll(/<nav class="pager"[^>]*>([\s\S]*?)<\/nav>/g)].map(([, nav = '']) => nav);
      const { tags, text } = parseHtml(navs[0] ?? '');
      expect(navs[1]).toBe(navs[0]);
      return { status, text, links: tags.flatMap(({ attributes }) => attributes['href'] ?? []), ids: idsOf(body) };
    };

    it('shows the first 100 with links to the others', async () => {
      const { text, links, ids } = await pager('?sort=id');
      expect(text).toBe('1–100 of 1,234FirstPreviousNextLast');
      expect(links).toEqual(['?sort=id&page=2#resources', '?sort=id&page=13#resources']);
      expect(ids).toEqual(resources.slice(0, 100).map(({ id }) => id));
    });

    it('shows a page in the middle', async () => {
      const { text, links } = await pager('?page=12');
      expect(text).toContain('1,101–1,200 of 1,234');
      expect(links).toEqual(['?#resources', '?page=11#resources', '?page=13#resources', '?page=13#resources']);
    });

    it('shows the last page instead of one beyond the end', async () => {
      const { status, text, links, ids } = await pager('?page=99');
      expect(status).toBe(200);
      expect(text).toContain('1,201–1,234 of 1,234');
      expect(links).toEqual(['?#resources', '?page=12#resources']);
      expect(ids).toHaveLength(34);
    });
  });

  it.each([
    ['sort=nothing', /^Expected sort to be one of id, name, .*\.\n$/],
    ['page=x', /^Expected page to be an integer of at least 1\.\n$/],
    ['type=a&type=b', /^Expected type at most once\.\n$/],
  ])('responds 400 to %s with the expected value', async (query, expected) => {
    const { request } = await startApp(exporterOf(full));
    const response = await request(`/stations/prod?${query}`);
    expect(response).toEqual(errorText(400, response.body, { vary: 'Accept, Accept-Encoding' }));
    expect(response.body).toMatch(expected);
  });

  it('shows an invalid query to a browser in the page, with the form still usable', async () => {
    const { request } = await startApp(exporterOf(full), { now });
    const { status, body } = await request('/stations/prod?search=x&sort=size&state=firing&page=0', {
      headers: { accept: 'text/html' },
    });
    expect(status).toBe(400);
    const { text, tags } = parseHtml(body);
    expect(text).toMatch(/Expected sort to be one of id, .*, with a leading - for descending order\./);
    expect(tags.find(({ attributes }) => attributes['id'] === 'search')?.attributes['value']).toBe('x');
    expect(body).toContain('<option value="firing" selected>');
    expect(body).not.toMatch(/<script|id="resource-table"/);
  });

  it('escapes markup in every field of a resource', async () => {
    const hostile = fc
      .array(
        fc.constantFrom('<script>', '</table>', '</option>', '"', "'", '>', '<', '&', '&lt;', 'javascript:', '=', 'a'),
        {
          minLength: 1,
        },
      )
      .map((pieces) => pieces.join(''));
    let detail = full;
    const { request } = await startApp({ ...exporterOf(full), station: () => detail }, { now });
    const shown = async (resource: Resource) => {
      detail = detailOf([resource], { spec: { products: ['p'], alertability: true } });
      return parseHtml((await request('/stations/prod')).body);
    };
    const plain = await shown(resourceOf('x', { sku: 'x', gpuModel: 'x', product: 'x' }));
    const tagsOf = ({ tags }: typeof plain) => tags.map(({ name }) => name).filter((name) => name !== 'wbr');
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        const all = {
          name: text,
          displayName: text,
          type: text,
          typeLabel: text,
          state: text,
          sku: text,
          gpuModel: text,
          product: text,
        };
        const page = await shown(resourceOf(text, all));
        expect(page.text).toContain(
          `${text} ${text}\n${text}\n${text} ${text}\n${text}\n${text}\nunknown\n1\n${text}\n${text}\n`,
        );
        expect(tagsOf(page)).toEqual(tagsOf(plain));
      }),
      { numRuns: 50 },
    );
  });

  it('has no link to a resource called ..', async () => {
    const { body } = await open(detailOf([resourceOf('..')]));
    expect(body).toContain('<th scope="row">Display .. <span class="sub code">..</span>');
  });

  it('has one h1, unique IDs and valid label references', async () => {
    const { tags } = await open(full);
    expect(tags.filter(({ name }) => name === 'h1')).toHaveLength(1);
    const ids = tags.flatMap(({ attributes }) => attributes['id'] ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { attributes } of tags) {
      const named = attributes['aria-labelledby'] ?? attributes['for'];
      if (named !== undefined) expect(ids).toContain(named);
    }
  });
});
