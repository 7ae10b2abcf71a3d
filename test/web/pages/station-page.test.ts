import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LISTING_FIELDS, type ListingField } from '../../../src/model/listing.ts';
import type { Resource } from '../../../src/model/resource.ts';
import { mismatch, rejecting, resourceOf } from '../../refresh/fixtures.ts';
import { detailOf, exporterOf, NOW_MS, SNAPSHOT, UPSTREAM, withRejected } from '../fake-station.ts';
import { parseHtml } from '../html-parser.ts';
import { errorText, startApp } from '../running-app.ts';
import { AS_BROWSER, contentOf, openPage, rowsOf, shown, textOf } from './opened-page.ts';

const open = (detail = detailOf([]), query = '') => openPage(exporterOf(detail), `/stations/prod${query}`);

/** The ids of the resources in the table, in its order. */
const idsOf = (body: string) => Array.from(body.matchAll(/<span class="sub code">([^<]*)<\/span>/g), ([, id]) => id);

/** The bars with the numbers of resources. */
const barsOf = (body: string) => shown(/<div class="bars">[\s\S]*?<\/div>/.exec(body)?.[0] ?? '');

const UNNAMED = { displayName: '', name: '' };
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
    ...{ ...UNNAMED, name: 'named', state: '', alertable: false },
    alertRules: undefined,
    createdSeconds: undefined,
  }),
  resourceOf('c', { ...UNNAMED, type: '', typeLabel: '', sku: '2 GPU', gpuModel: 'H', alertRules: 1200 }),
];
const full = detailOf(three, { spec: { products: ['p', 'q'], alertability: true } });

describe('stationPage', () => {
  it('links to other tools', async () => {
    const links = [
      { name: 'Grafana', station: 'https://grafana.example.com/d/x?var-station={station}' },
      { name: 'Resource only', resource: 'https://h/' },
    ];
    const { body } = await open(detailOf([], { links }));
    expect(body.match(/<a [^>]*rel="noreferrer".*/g)).toEqual([
      '<a href="https://grafana.example.com/d/x?var-station=prod" rel="noreferrer">Grafana</a></li>',
    ]);
    expect((await open()).body).not.toContain('Links to other tools');
  });

  it('responds 404 to an unknown station, and suggests one with a similar name', async () => {
    const { request } = await startApp(exporterOf(full));
    const said = 'No station with this name is configured.';
    expect(await request('/stations/prd')).toMatchObject({ status: 404, body: `${said} Did you mean prod?\n` });
    const { status, body } = await request('/stations/prd', AS_BROWSER);
    expect(status).toBe(404);
    expect(body).toContain('<p><a href="../stations/prod">prod</a> · <a href="../">All stations</a></p>');
    expect(await request('/stations/unknown/history')).toMatchObject({ status: 404, body: `${said}\n` });
  });

  it('shows history, changes and counts before the long table of resources', async () => {
    const atMs = NOW_MS - 60_000;
    const history = [{ atMs, refreshes: 1, failed: 0, outcome: 'succeeded' as const, waitedMs: 0 }];
    const { tags } = await open({ ...full, history });
    const headings = tags.filter(({ name }) => name === 'h2').map(({ attributes }) => attributes['id']);
    expect(headings).toEqual([
      'history-title',
      'changed',
      'counts',
      'resources',
      'refreshes-title',
      'place',
      'listing',
    ]);
  });

  it.each([true, false])(
    'has a button for a refresh, with the same query, if that is enabled: %s',
    async (isEnabled) => {
      const path = '/stations/prod?sort=-id';
      const { body } = await openPage(exporterOf(full), path, { enableLifecycle: isEnabled });
      expect(body.includes('action="../stations/prod/refresh?sort=-id"><button')).toBe(isEnabled);
      expect(body.includes('Refresh now')).toBe(isEnabled);
    },
  );

  it('has links that work under a prefix, for any station name', async () => {
    const detail = detailOf([resourceOf('x/y')], { spec: { name: 'a/b' } });
    const { request } = await startApp(exporterOf(detail), { externalUrl: new URL('http://example.com/pre/fix/') });
    const { status, body } = await request('/pre/fix/stations/a%2Fb');
    expect(status).toBe(200);
    const { hrefs } = shown(body);
    expect(hrefs).toContain('../stations/a%2Fb/resources/x%2Fy');
    for (const href of hrefs) {
      const { pathname, search } = new URL(href, 'http://exporter/pre/fix/stations/a%2Fb');
      expect(pathname).toMatch(/^\/pre\/fix\//);
      expect((await request(pathname + search)).status, href).toBe(200);
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
    expect(textOf(body, 'status')).toBe(
      'Resources3 Firing0 Pending0 Coverage– no listed resource can have alerts Listingcompletein 1 request Last success55 s agonext refresh: on the first scrape after 30 s',
    );
    expect(textOf(body, 'summary')).toBe('failing; TLS handshake failed since 03:04 UTC');
    expect(text).toContain('tls: expired');
    expect(textOf(body, 'question')).toBe(
      'Upstreamup Subscriptionsub Resource grouprg Zonez1 Telemetry stationts Labelsteam="a"b" ' +
        'Latest refreshtook 12 s Next refreshon the first scrape after 30 s Metricsthis station only JSONthis station only',
    );
  });

  it('shows first that data may be missing resources and why, and is not green then', async () => {
    const reasons = {
      addsUp: false,
      complete: false,
      incompleteReasons: [{ reason: 'total_mismatch' as const, text: 'total 500, 494 listed' }],
    };
    const snapshot = { ...SNAPSHOT, ...reasons, firing: 2 };
    const { body, text } = await open(detailOf(three, { status: { snapshot } }));
    expect(text).toContain(
      'The data may be missing resources listing incomplete: total 500, 494 listed What to do: Compare',
    );
    expect(body.indexOf('id="data-problems"')).toBeLessThan(body.indexOf('id="resources"'));
    expect(body).not.toContain('class="state up"');
    expect(body).toContain('<dd class="value bad"><a href="?alert_state=firing#resources">2</a></dd>');
  });

  it('shows what limits the refreshes of the station', async () => {
    const load = { ...UPSTREAM.load, recentThrottled: 36, requestsPerSecond: 4.2, holdMs: 5000 };
    const status = { isRefreshing: true, waitingMs: 180_000, isHanging: true };
    const { body } = await open(detailOf(three, { upstream: { load }, status }));
    expect(textOf(body, 'question')).toMatch(
      /^Upstreammain Loadthrottled: 36 of 180 .* 4.2 requests\/sservice requested a pause until 03:05:05 UTC /,
    );
    expect(textOf(body, 'question')).toContain(
      'Next refreshhas waited 3 min for capacity Requestshanging: one probing request at a time until the service replies Metrics',
    );
  });

  it('shows a station without a snapshot', async () => {
    const status = { up: undefined, snapshot: undefined, lastSuccessMs: undefined, durationMs: undefined };
    const detail = { ...detailOf([], { status }), served: undefined };
    const { status: code, body, text } = await open(detail);
    expect(code).toBe(200);
    expect(text).toContain('No data yet: the first refresh has not ended.');
    expect(text).toContain('Latest refreshnot tried yet');
    expect(body).not.toMatch(/id="(narrow|counts|listing|downloads)"/);
    const expired = await open({ ...detail, status: { ...detail.status, up: true } });
    expect(expired.text).toContain('No data: no refresh has succeeded within max_stale.');
  });

  it.each([
    [
      'Completenessverified complete Unique resources3 Reported totalnot reported Pages1 (all listings) Duplicate records0 Rejected records0 (without a usable resource_id) Invalid fieldsnone',
      { reportedTotal: undefined },
    ],
    ['Completenesscomplete except for 4 rejected records Reasons4 rejected Unique ', rejecting('a', 'b', 'c', 'd')],
    [
      'Completenessnot verified complete Reasonsthe total changedand <more> Unique resources3 Reported total4 Pages1,234 (all listings) Duplicate records2 Rejected records1 (without a usable resource_id) Invalid fieldscreate_time: 1,000',
      {
        complete: false,
        incompleteReasons: [mismatch('the total changed'), mismatch('and <more>')],
        reportedTotal: 4,
        pages: 1234,
        duplicates: 2,
        rejected: 1,
        invalidFields: Object.fromEntries(
          LISTING_FIELDS.map((field) => [field, field === 'create_time' ? 1000 : 0]),
        ) as Record<ListingField, number>,
      },
    ],
  ])('shows the listing, and why it is incomplete: %s', async (text, snapshot) => {
    expect(textOf((await open(detailOf(three, { snapshot }))).body, 'story')).toContain(text);
  });

  it('shows how old kept listings are, and why one could not be read again', async () => {
    const main = { name: 'resources', pages: 25, ttl: undefined, takenAtMs: undefined, failure: undefined };
    const product = { name: 'product p', pages: 5, ttl: 'productsTtlMs' as const, failure: undefined };
    const failing = { ...product, name: 'product q', failure: { reason: 'timeout' as const, message: 'no <reply>' } };
    const listings = [main, { ...product, takenAtMs: NOW_MS - 55_000 }, { ...failing, takenAtMs: NOW_MS - 655_000 }];
    const { body } = await open(detailOf(three, { snapshot: { pages: 25, listings } }));
    expect(textOf(body, 'story')).toContain(
      'Pages25 (all listings that were due) Kept listingsproduct p: read 55 s agoproduct q: read 10 min 55 s ago, then failed: no <reply> Duplicate',
    );
  });

  it('does not say that there are no resources when all records were rejected, and shows what could be read of them', async () => {
    const records = Array.from({ length: 20 }, (_, at) => ({
      position: at,
      rejection: 'no resource_id' as const,
      name: `<i>${at}</i>`,
      displayName: 'Web',
      type: 'type.a',
    }));
    const snapshot = { ...rejecting(...'x'.repeat(40)), rejectedRecords: records };
    const status = { snapshot: { ...SNAPSHOT, ...withRejected(40), isChurnWaiting: true } };
    const { body, text } = await open(detailOf([], { status, snapshot }));
    expect(text).not.toContain('The station has no resources.');
    expect(text).toContain('No resource can be shown: 40 records rejected.');
    expect(text).toContain('40 records rejected: no usable resource_id');
    expect(text).toContain('changes not counted: the rejected records are not the same as in the listing before');
    expect(text).toContain('The first 20 of 40:');
    const all = await open(detailOf([], { status, snapshot: { ...snapshot, rejected: 20 } }));
    expect(all.text).not.toContain('The first');
    expect(rowsOf(body, 'rejected-records')).toHaveLength(20);
    expect(rowsOf(body, 'rejected-records')[3]).toBe('Position 3 no resource_id <i>3</i> Web type.a');
    expect(body).not.toContain('class="state up"');
  });

  it('does not say that there are no resources when an empty listing does not add up', async () => {
    const status = {
      snapshot: {
        ...SNAPSHOT,
        addsUp: false,
        complete: false,
        incompleteReasons: [{ reason: 'total_mismatch' as const, text: 'total 5' }],
      },
    };
    const { text } = await open(detailOf([], { status }));
    expect(text).toContain('No resource was listed, but the listing is not verified complete.');
  });

  it('counts resources by type, state and product, each with a bar and a link', async () => {
    const { text, tags, hrefs } = barsOf((await open(full)).body);
    expect(text).toBe(
      'By state no state 1 (33 %) Firing 1 (33 %) INACTIVE 1 (33 %) ' +
        'By type (none) 1 (33 %) a Type A 1 (33 %) b Type B 1 (33 %) By product (none) 2 (67 %) p 1 (33 %)',
    );
    const widths = tags.flatMap(({ name, attributes }) => (name === 'rect' ? [attributes['width']] : []));
    expect(widths.slice(-2)).toEqual(['66.7%', '33.3%']);
    const titles = tags.flatMap(({ attributes }) => attributes['title'] ?? []);
    expect(titles).toEqual(['ALERTSTATE_FIRING', 'type.a', 'type.b']);
    expect(hrefs.slice(-2)).toEqual(['?product=%28none%29#resources', '?product=p#resources']);
  });

  it('shows values beyond the limit as (other), which cannot be selected', async () => {
    const resources = ['a', 'b', 'c'].map((id) => resourceOf(id, { type: `type.${id}` }));
    const { body } = await open(detailOf(resources, { spec: { labelValues: 1 } }));
    expect(barsOf(body).text).toContain('(other) 2 (67 %)');
    expect(barsOf(body).hrefs).toEqual(['?state=INACTIVE#resources', '?type=type.a#resources']);
    expect(body).not.toContain('<option value="(other)"');
  });

  it('shows twelve bars, lists at most 200 values of a kind, and the selected one', async () => {
    const many = detailOf(Array.from({ length: 250 }, (_, at) => resourceOf(`r${at}`, { type: `type.t${1000 + at}` })));
    const optionsOf = (body: string) => contentOf(body, 'filter-type').match(/<option/g)?.length;
    const { body } = await open(many);
    expect(optionsOf(body)).toBe(1 + 200);
    expect(body.slice(0, body.indexOf('<details>')).match(/href="\?type=/g)).toHaveLength(12);
    expect(body).toContain('<summary>238 more</summary>');
    expect(body).toContain('50 more are not listed');
    expect(body.match(/<svg class="bar"/g)).toHaveLength(200 + 1);
    const selected = await open(many, '?type=type.t1249');
    expect(optionsOf(selected.body)).toBe(1 + 200 + 1);
    expect(selected.body).toContain('<option value="type.t1249" selected>t1249 ');
    expect(idsOf(selected.body)).toEqual(['r249']);
  });

  it('shows no bars without resources', async () => {
    const { body, text } = await open();
    expect(body).not.toContain('class="bars"');
    expect(text).toContain('The station has no resources.');
  });

  it('shows the resources, with unknown values marked', async () => {
    const none = '– not reported';
    expect(rowsOf((await open(full)).body, 'resource-table')).toEqual([
      `Beta b name-b b Type B p Firing yes 0 ${none} ${none} 779 d ago`,
      `named a named a Type A ${none} – no state no ${none} ${none} ${none} ${none}`,
      `c c ${none} ${none} ${none} INACTIVE unknown 1,200 2 GPU H 779 d ago`,
    ]);
  });

  it('omits the columns and filters of features that are not enabled', async () => {
    const { tags, text } = await open(detailOf(three));
    const ids = tags.flatMap(({ attributes }) => attributes['id'] ?? []);
    expect(ids.filter((id) => /^(filter-|search$|without)/.test(id))).toEqual([
      'search',
      'filter-alert_state',
      'filter-state',
      'filter-type',
      'without-rules',
      'filter-sort',
    ]);
    expect(text).not.toMatch(/Alertable|By product/);
  });

  it('shows the query in the form, also a value that no resource has any more', async () => {
    const { body } = await open(full, '?search=%22x&type=removed&alertable=no&without_rules=yes&sort=sku&order=desc');
    for (const markup of [
      'name="search" type="search" value="&#34;x"',
      '<option value="removed" selected>removed</option>',
      '<option value="no" selected>no</option>',
      'name="without_rules" type="checkbox" value="yes" checked>',
      '<option value="-sku" selected>SKU, descending</option>',
    ])
      expect(body).toContain(markup);
    expect((await open(full, '?sort=id')).body).toContain('<option value="id" selected>id</option>');
  });

  it.each(['', '?state=firing&type=b&product=q&sort=-id', '?state=(none)&type=type&alertable=yes'])(
    'selects exactly one option of every choice, so that a script can tell whether it was changed: %s',
    async (query) => {
      const [, ...choices] = (await open(full, query)).body.split('<select');
      expect(choices.map((choice) => choice.match(/ selected>/g)?.length)).toEqual([1, 1, 1, 1, 1, 1]);
    },
  );

  it('links to all resources where none matches', async () => {
    const { status, text, hrefs } = await open(full, '?state=<gone>&type=type.b&sort=-id');
    expect(status).toBe(200);
    expect(text).toContain('No resource matches. Clear the filters: show 3 resources');
    expect(hrefs).toContain('?sort=-id#resources');
  });

  it('links to exactly the filtered list and order as CSV and JSON', async () => {
    const one = detailOf([resourceOf('&', { state: 'ALERTSTATE_FIRING' })]);
    const query = '?search=%26&state=ALERTSTATE_FIRING&sort=-id';
    const path = '../stations/prod/resources';
    const { hrefs } = await open(one, `${query}&page=7`);
    for (const format of ['csv', 'json']) expect(hrefs).toContain(`${path}${query}&format=${format}`);
    expect((await open(one)).hrefs).toContain(`${path}?format=csv`);
  });

  it.each([
    [
      '?state=ALERTSTATE_FIRING',
      '<th scope="col" class="detail"><a href="?state=ALERTSTATE_FIRING&#38;sort=sku#resources">SKU</a>',
    ],
    ['?sort=sku', '<th scope="col" class="detail" aria-sort="ascending"><a href="?sort=-sku#resources">SKU</a>'],
    ['?sort=-sku', '<th scope="col" class="detail" aria-sort="descending"><a href="?sort=sku#resources">SKU</a>'],
    // Numbers are sorted from the largest on first.
    ['', '<th scope="col" class="number"><a href="?sort=-alert_rules#resources">Rules</a>'],
    [
      '?sort=-alert_rules',
      '<th scope="col" class="number" aria-sort="descending"><a href="?sort=alert_rules#resources">Rules</a>',
    ],
  ])('with %s has the heading %s, which reverses the order', async (query, heading) => {
    expect((await open(full, query)).body).toContain(heading);
  });

  const resources = Array.from({ length: 1234 }, (_, index) => resourceOf(`r${String(index).padStart(4, '0')}`));

  it.each([
    ['?sort=id', 0, '1–100', ['?sort=id&page=2#resources', '?sort=id&page=13#resources']],
    [
      '?page=12',
      1100,
      '1,101–1,200',
      ['?#resources', '?page=11#resources', '?page=13#resources', '?page=13#resources'],
    ],
    // The last page instead of one beyond the end.
    ['?page=99', 1200, '1,201–1,234', ['?#resources', '?page=12#resources']],
  ])('with %s shows the page of 100 resources after %i, between links to others', async (query, from, range, links) => {
    const { body, status } = await open(detailOf(resources), query);
    expect(status).toBe(200);
    expect(idsOf(body)).toEqual(resources.slice(from, from + 100).map(({ id }) => id));
    const pagers = Array.from(body.matchAll(/<nav class="pager"[\s\S]*?<\/nav>/g), ([pager]) => shown(pager));
    expect(pagers).toHaveLength(2);
    for (const pager of pagers)
      expect(pager).toMatchObject({ text: `${range} of 1,234FirstPreviousNextLast`, hrefs: links });
  });

  it('responds 400 to an invalid query, to a browser in the page with the form still usable', async () => {
    const { request } = await startApp(exporterOf(full));
    const query = '?search=x&sort=size&state=firing&page=0';
    const response = await request(`/stations/prod${query}`);
    expect(response).toEqual(errorText(400, response.body, { vary: 'Accept, Accept-Encoding' }));
    expect(response.body).toMatch(/^Expected sort to be one of id, .*, with a leading - for descending order\.\n$/);
    const { status, body, text } = await open(full, query);
    expect(status).toBe(400);
    expect(text).toContain(response.body.trim());
    expect(body).toContain('<input id="search" name="search" type="search" value="x"');
    expect(body).toContain('<option value="firing" selected>');
    expect(body).not.toMatch(/<script|id="resource-table"/);
  });

  it('escapes markup in every field of a resource', async () => {
    const parts = ['<script>', '</table>', '</option>', '"', "'", '>', '<', '&', '&lt;', 'javascript:', '=', 'a'];
    const hostile = fc.array(fc.constantFrom(...parts), { minLength: 1 }).map((pieces) => pieces.join(''));
    let detail = full;
    const { request } = await startApp({ ...exporterOf(full), station: () => detail });
    const pageOf = async (resource: Resource) => {
      detail = detailOf([resource], { spec: { products: ['p'], alertability: true } });
      const { text, tags } = parseHtml((await request('/stations/prod')).body);
      return { text, tags: tags.map(({ name }) => name).filter((name) => name !== 'wbr') };
    };
    const plain = await pageOf(resourceOf('x', { state: 'x', sku: 'x', gpuModel: 'x', product: 'x' }));
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        const names = { name: text, displayName: text, type: text, typeLabel: text };
        const page = await pageOf(
          resourceOf(text, { ...names, state: text, sku: text, gpuModel: text, product: text }),
        );
        expect(page.text).toContain(
          `${text} ${text}\n${text}\n${text} ${text}\n${text}\n${text} (unknown)\nunknown\n1\n${text}\n${text}\n`,
        );
        expect(page.tags).toEqual(plain.tags);
      }),
      { numRuns: 50 },
    );
  });

  it('has no link to a resource called ..', async () => {
    const { body } = await open(detailOf([resourceOf('..')]));
    expect(body).toContain('<th scope="row">Display .. <span class="sub code">..</span>');
  });

  it('has one h1, unique IDs and valid label references', async () => {
    const { tags } = parseHtml((await open(full)).body);
    expect(tags.filter(({ name }) => name === 'h1')).toHaveLength(1);
    const ids = tags.flatMap(({ attributes }) => attributes['id'] ?? []);
    expect(new Set(ids).size).toBe(ids.length);
    const references = tags.flatMap(({ attributes }) => attributes['aria-labelledby'] ?? attributes['for'] ?? []);
    expect(references.length).toBeGreaterThan(0);
    expect(references.filter((id) => !ids.includes(id))).toEqual([]);
  });
});
