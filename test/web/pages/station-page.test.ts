import { describe, expect, it } from 'vitest';
import { ResourceLabels } from '../../../src/resources/resource-labels.ts';
import type { Snapshot } from '../../../src/resources/snapshot.ts';
import { listingOf, mismatch, rejecting, resourceOf, resourcesOf } from '../../stations/fixtures.ts';
import {
  detailOf,
  exporterOf,
  FAILURE_STREAK,
  NO_CHANGES,
  NOW_MS,
  SNAPSHOT,
  UPSTREAM,
  withRejected,
} from '../fake-station.ts';
import { startApp } from '../running-app.ts';
import { AS_BROWSER, contentOf, openPage, rowsOf, textOf } from './opened-page.ts';

const open = (detail = detailOf([]), query = '') => openPage(exporterOf(detail), `/stations/prod${query}`);

/** The ids of the resources in the table, in its order. */
const idsOf = (body: string) =>
  Array.from(body.matchAll(/<span class="code">([^<]*)<\/span><\/span><\/th>/g), ([, id]) => id);

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
    alertable: false,
    alertRules: undefined,
    createdSeconds: undefined,
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
  it('says of how many resources it does not know whether they have alert rules, when those without are selected', async () => {
    const note = 'Alert coverage is unknown for 1 resource, not shown here.';
    const unreported = resourceOf('a', { alertRules: undefined });
    const one = await open(detailOf([unreported, resourceOf('b', { alertRules: 0 })]), '?without_rules=yes');
    expect(idsOf(one.body)).toEqual(['b']);
    expect(one.text).toContain(note);
    expect((await open(detailOf([unreported]), '?without_rules=yes')).text).toContain(`${note} No resource matches.`);
    expect((await open(detailOf([unreported]))).text).not.toContain('Alert coverage is unknown');
  });

  it('responds 404 to an unknown station, with a link to all', async () => {
    const { request } = await startApp(exporterOf(full));
    const body = 'No station "unknown" is configured.\n';
    expect(await request('/stations/unknown/refreshes')).toMatchObject({ status: 404, body });
    expect((await request('/stations/unknown', AS_BROWSER)).body).toContain('<p><a href="../">All stations</a></p>');
  });

  it('shows the state and the details of the station, what may be missing, and what limits its refreshes', async () => {
    const snapshot = {
      ...SNAPSHOT,
      resources: 3,
      firing: 2,
      pending: 1,
      addsUp: false,
      complete: false,
      incompleteReasons: [mismatch('total 500, 494 listed')],
    };
    const { body, text, hrefs } = await open(
      detailOf(three, {
        spec: { labels: { team: 'a"b' } },
        links: [{ name: 'Grafana', station: 'https://grafana.example.com/{station}' }],
        upstream: { name: 'up', load: { ...UPSTREAM.load, pauseMs: 5000 } },
        status: {
          up: false,
          failure: { reason: 'tls', message: 'expired' },
          failureStreak: FAILURE_STREAK,
          snapshot,
          waitingMs: 180_000,
        },
      }),
    );
    expect(hrefs).toContain('https://grafana.example.com/prod');
    expect(textOf(body, 'summary')).toBe('failing; TLS handshake failed since 03:04 UTC');
    expect(text).toContain('tls: expired');
    expect(text).toContain('Resources may be missing: total 500, 494 listed.');
    expect(text).toContain('The service requested a pause until 03:05:05 UTC (Retry-After)');
    expect(textOf(body, 'status')).toBe(
      'Resources3 Firing2 Pending1 Coverage– all listed resources are exempt Listingincompletein 1 request Last success55 s agonext refresh: has waited 3 min for capacity',
    );
    expect(textOf(body, 'question')).toBe(
      'Upstreamup Subscriptionsub Resource grouprg Zonez1 Telemetry stationts Labelsteam="a"b" ' +
        'Metricsthis station only JSONthis station only',
    );
  });

  it('says how many resources are gone, which and whose, before its numbers', async () => {
    const atMs = NOW_MS - 60_000;
    const removals = [{ atMs, owners: [{ labels: { team: 'web' }, total: 220 }] }];
    const { body, text, hrefs } = await open(
      detailOf([], {
        spec: { resourceLabels: new ResourceLabels([], ['team']) },
        status: { lossAt: () => ({ lost: 220, before: 400, sinceMs: atMs }) },
        changes: { ...NO_CHANGES, removals },
      }),
    );
    expect(textOf(body, 'summary')).toBe('up; 220 of 400 resources are gone since 03:04 UTC');
    expect(text).toContain('See which, by team: web 220.');
    expect(hrefs).toContain('../stations/prod/changes?change=removed&since=2026-01-02T03%3A04%3A00.000Z');
    expect(body.indexOf('id="attention"')).toBeLessThan(body.indexOf('id="status"'));
  });

  it('shows a station without a snapshot', async () => {
    const status = { up: undefined, snapshot: undefined, lastSuccessMs: undefined, durationMs: undefined };
    const detail = { ...detailOf([], { status }), served: undefined };
    const { status: code, body, text } = await open(detail);
    expect(code).toBe(200);
    expect(text).toContain('No data yet: the first refresh has not ended.');
    expect(body).not.toMatch(/id="(narrow|listing|downloads)"/);
    const expired = await open({ ...detail, status: { ...detail.status, up: true } });
    expect(expired.text).toContain(
      'No data: no refresh has succeeded yet, or the last success is longer ago than max_stale.',
    );
  });

  it.each<[text: string, snapshot: Partial<Snapshot>]>([
    [
      'Unique resources3 Reported totalnot reported Pages1 (all listings that were due) Duplicate records0 Rejected records0 (without a usable resource_id) Invalid fieldsnone',
      { reportedTotal: undefined },
    ],
    [
      'Unique resources3 Reported total4 Pages1,234 (all listings that were due) Page size50 (larger pages may be too large for the service) Duplicate records2 Rejected records1 (without a usable resource_id) Invalid fieldscreate_time: 1,000',
      {
        reportedTotal: 4,
        pages: 1234,
        reducedPageSize: 50,
        duplicates: 2,
        rejected: 1,
        invalidFields: { ...listingOf([]).invalidFields, create_time: 1000 },
      },
    ],
  ])('shows what the listing returned: %s', async (text, snapshot) => {
    expect(textOf((await open(detailOf(three, { snapshot }))).body, 'story')).toBe(text);
  });

  it('does not say that there are no resources when all records were rejected, and shows what could be read of them', async () => {
    const record = {
      position: 3,
      rejection: 'no resource_id',
      texts: { name: '<i>3</i>', display_name: 'Web', resource_type: 'type.a' },
    };
    const unreadable = { position: 4, rejection: 'not an object', texts: {} };
    const snapshot = { ...rejecting(40), rejectedRecords: [record, unreadable] };
    const status = { snapshot: { ...SNAPSHOT, ...withRejected(40), isIncomparable: true } };
    const { body, text } = await open(detailOf([], { status, snapshot }));
    expect((await open()).text).toContain('The station has no resources.');
    expect(text).toContain('No resource was listed, but the listing is not verified complete.');
    expect(text).toContain('Resources may be missing: 40 rejected.');
    expect(text).toContain('Changes are not counted meanwhile.');
    expect(text).toContain('The first 2 of 40:');
    expect(rowsOf(body, 'rejected-records', ['Record', 'Reason', 'Name', 'Display name', 'Type'])).toEqual([
      'Position 3 no resource_id <i>3</i> Web type.a',
      expect.stringMatching(/^Position 4 not an object/),
    ]);
    const all = await open(detailOf([], { status, snapshot: { ...snapshot, rejected: 2 } }));
    expect(all.text).not.toContain('The first');
  });

  it('says which series are withheld', async () => {
    const { text } = await open(detailOf(three, { withheld: 5000, withheldFiring: 600 }));
    expect(text).toContain(
      'All 5,000 per-resource series are withheld: the station has 3 resources, more than metrics.max_resources. ' +
        'All series telemetry_station_resource_firing are withheld: the station has 600 firing resources, more than metrics.max_firing_resources.',
    );
    expect((await open(detailOf(three))).text).not.toContain('withheld');
  });

  it('does not offer values beyond the limit, which are counted as (other)', async () => {
    const resources = ['a', 'b', 'c'].map((id) => resourceOf(id, { type: `type.${id}` }));
    const { body } = await open(detailOf(resources, { spec: { labelValues: 1 } }));
    expect(contentOf(body, 'filter-type').match(/<option/g)).toHaveLength(2);
    expect(body).not.toContain('<option value="(other)"');
  });

  it('offers at most 200 values of a kind, and the selected one', async () => {
    const many = detailOf(resourcesOf(250, (at) => ({ type: `type.t${1000 + at}` })));
    const { body } = await open(many, '?type=type.t1249');
    expect(contentOf(body, 'filter-type').match(/<option/g)).toHaveLength(1 + 200 + 1);
    expect(body).toContain('<option value="type.t1249" selected>type.t1249</option>');
  });

  it('shows the resources, with unknown values marked, and counts them by type and product in the filters', async () => {
    const { body } = await open(full);
    const columns = ['Resource', 'Type', 'Product', 'State', 'Rules', 'SKU', 'GPU', 'Created'];
    expect(rowsOf(body, 'resource-table', columns)).toEqual([
      'Beta name-b b b Type B p Firing 0 – not reported – not reported 779 d ago',
      'named a a Type A – not reported – no state – not reported exempt – not reported – not reported – not reported',
      'c c – not reported – not reported INACTIVE 1,200 2 GPU H 779 d ago',
    ]);
    const optionsOf = (id: string) =>
      Array.from(contentOf(body, id).matchAll(/<option[^>]*>([^<]*)/g), ([, text]) => text);
    // The most frequent first.
    expect(optionsOf('filter-type')).toEqual(['any', '(none) (1)', 'a · Type A (1)', 'b · Type B (1)']);
    expect(optionsOf('filter-product')).toEqual(['any', '(none) (2)', 'p (1)']);
    // The others go by the meaning of the state.
    expect(body).not.toContain('filter-state');
  });

  it('hides the columns that no resource of the page has a value for', async () => {
    const resources = resourcesOf(3, () => ({ sku: '', gpuModel: '', product: '' }));
    const { body } = await open(detailOf(resources, { spec: { products: ['p'] } }));
    expect(body).not.toMatch(/data-label="(SKU|GPU|Product)"/);
    expect(body).toContain('data-label="Created"');
  });

  it('omits the columns and filters of features that are not enabled', async () => {
    const { body } = await open(detailOf(three));
    expect(body).not.toMatch(/id="filter-(product|alertable)"|data-label="Product"/);
  });

  it('shows the query in the form, also a value that no resource has any more', async () => {
    const { body } = await open(
      full,
      '?search=%22x&type=removed&product=(none)&state=ALERTSTATE_FIRING&alertable=no&without_rules=yes&sort=-sku',
    );
    for (const markup of [
      'name="search" type="search" value="&#34;x"',
      '<option value="removed" selected>removed</option>',
      '<option value="(none)" selected>(none) (2)</option>',
      '<option value="ALERTSTATE_FIRING" selected>ALERTSTATE_FIRING</option>',
      '<option value="no" selected>no</option>',
      'name="without_rules" type="checkbox" value="yes" checked>',
      '<option value="-sku" selected>SKU, descending</option>',
    ])
      expect(body).toContain(markup);
    const withoutState = await open(full, '?state=(none)');
    expect(contentOf(withoutState.body, 'filter-state')).toContain('<option value="(none)" selected>');
  });

  it('links to all resources where none matches', async () => {
    const { status, text, hrefs } = await open(full, '?state=<gone>&type=type.b&sort=-resource_id');
    expect(status).toBe(200);
    expect(text).toContain('No resource matches. Clear the filters: show 3 resources');
    expect(hrefs).toContain('?sort=-resource_id#resources');
  });

  it('links to exactly the filtered list and order as CSV and JSON, and keeps the filters in another order', async () => {
    const one = detailOf([resourceOf('&', { state: 'ALERTSTATE_FIRING' })]);
    const query = '?search=%26&state=ALERTSTATE_FIRING&sort=-resource_id';
    const path = '../stations/prod/resources';
    const { hrefs } = await open(one, `${query}&page=7`);
    for (const format of ['csv', 'json']) expect(hrefs).toContain(`${path}${query}&format=${format}`);
    expect(hrefs).toContain('?search=%26&state=ALERTSTATE_FIRING&sort=resource_type#resources');
    expect((await open(one)).hrefs).toContain(`${path}?format=csv`);
  });

  it('shows pages of 100 resources, and keeps the query on the others', async () => {
    const { body, hrefs } = await open(detailOf(resourcesOf(250)), '?type=type.a&page=3');
    expect(idsOf(body)).toEqual(
      resourcesOf(250)
        .map(({ id }) => id)
        .slice(200),
    );
    expect(hrefs).toContain('?type=type.a&page=2#resources');
  });

  it('responds 400 to an invalid query, to a browser in the page with the form still usable', async () => {
    const query = '?search=x&sort=size';
    const { request } = await startApp(exporterOf(full));
    const plain = await request(`/stations/prod${query}`);
    expect(plain).toMatchObject({
      status: 400,
      body: expect.stringMatching(/^Expected sort to be one of resource_id, .*\.\n$/),
    });
    const { status, body, text } = await open(full, query);
    expect(status).toBe(400);
    expect(text).toContain(plain.body.trim());
    expect(body).toContain('<input id="search" name="search" type="search" value="x"');
    expect(body).not.toMatch(/<script|id="resource-table"/);
  });

  it('has no link to a resource called ..', async () => {
    const { body } = await open(detailOf([resourceOf('..')]));
    expect(body).toContain('<th scope="row">Display .. <span class="sub ids" title="..">');
  });
});
