import { gunzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Fault } from '../../src/simulator/faults.ts';
import { type SimulatedService, startSimulatedService } from '../../src/simulator/service.ts';
import { list, openRaw, resourcesPath, stationPath } from './client.ts';

let service: SimulatedService;

beforeEach(async () => {
  service = await startSimulatedService({ seed: 3 });
  service.setRecords('ts', rows(10));
});

afterEach(() => service.stop());

function rows(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    record: { resource_id: `r${index}`, state: 'ALERTSTATE_INACTIVE', alert_rules_count: index },
    product: index % 2 === 0 ? 'product.even' : 'product.odd',
    alertable: index < 3,
  }));
}

async function page(query = '') {
  const { resources, page } = (await list(service, query)).json();
  return { ids: resources?.map((record: { resource_id: string }) => record.resource_id), resources, page };
}

function fault(...faults: Fault[]): void {
  service.setFaults('ts', faults);
}

describe('listing faults', () => {
  it('nullPage: the page is null', async () => {
    fault({ kind: 'nullPage' });
    expect(await page()).toMatchObject({ page: null, resources: { length: 10 } });
  });

  it('missingPage: there is no page', async () => {
    fault({ kind: 'missingPage' });
    expect(Object.keys((await list(service)).json())).toEqual(['resources']);
  });

  it('textNumbers: page numbers and rule counts are strings, other values are unchanged', async () => {
    service.setRecords('ts', [
      { record: { alert_rules_count: 4 } },
      { record: {} },
      { record: null },
      { record: [1] },
      { record: { alert_rules_count: null } },
    ]);
    fault({ kind: 'textNumbers' });
    expect((await list(service)).json()).toEqual({
      resources: [{ alert_rules_count: '4' }, {}, null, [1], { alert_rules_count: null }],
      page: { offset: '0', size: '20', total: '5' },
    });
  });

  it('pageCap: limits the page size', async () => {
    fault({ kind: 'pageCap', size: 3 });
    expect(await page('page.offset=2&page.size=8')).toMatchObject({
      ids: ['r2', 'r3', 'r4'],
      page: { size: 3, total: 10 },
    });
    expect((await page('page.size=2')).ids).toHaveLength(2);
  });

  it('randomCap: page sizes are random up to the requested size, and equal for the same seed', async () => {
    const sizes = async () => {
      fault({ kind: 'randomCap' });
      const seen: number[] = [];
      for (let request = 0; request < 30; request += 1) seen.push((await page('page.size=4')).ids.length);
      return seen;
    };
    const first = await sizes();
    expect(new Set(first)).toEqual(new Set([1, 2, 3, 4]));
    expect(await sizes()).toEqual(first);
  });

  it('ignoreOffset: every page is the first page', async () => {
    fault({ kind: 'ignoreOffset' });
    expect((await page('page.offset=4&page.size=2')).ids).toEqual(['r0', 'r1']);
  });

  it('offsetFromOne: offset 0 and 1 are the first record', async () => {
    fault({ kind: 'offsetFromOne' });
    const first = async (offset: number) => (await page(`page.offset=${offset}&page.size=1`)).ids;
    expect([await first(0), await first(1), await first(4)]).toEqual([['r0'], ['r0'], ['r3']]);
  });

  it('offsetInPages: the offset is the number of a page', async () => {
    fault({ kind: 'offsetInPages' });
    expect((await page('page.offset=2&page.size=3')).ids).toEqual(['r6', 'r7', 'r8']);
  });

  it('unstableOrder: every page is cut from another order', async () => {
    fault({ kind: 'unstableOrder' });
    const orders = [(await page()).ids, (await page()).ids];
    expect(orders[0]).not.toEqual(orders[1]);
    expect(orders.map((ids) => ids.toSorted())).toEqual(
      Array(2).fill(rows(10).map(({ record }) => record.resource_id)),
    );
  });

  it('ignoreSize: a page holds all remaining records, or a fixed number', async () => {
    fault({ kind: 'ignoreSize' });
    expect((await page('page.offset=4&page.size=2')).ids).toEqual(['r4', 'r5', 'r6', 'r7', 'r8', 'r9']);
    fault({ kind: 'ignoreSize', size: 3 });
    expect((await page('page.offset=4&page.size=1')).ids).toEqual(['r4', 'r5', 'r6']);
  });

  it('ignoreFilter: that filter has no effect, others do', async () => {
    fault({ kind: 'ignoreFilter', name: 'product' });
    expect((await page('product=product.odd&enabled_alert=true')).ids).toEqual(['r0', 'r1', 'r2']);
  });

  it('totalMoves: the total grows from page to page', async () => {
    fault({ kind: 'totalMoves' });
    const total = async (query: string) => (await page(query)).page.total;
    expect([
      await total('page.size=4'),
      await total('page.size=4&page.offset=4'),
      await total('page.size=4&page.offset=8'),
    ]).toEqual([10, 11, 12]);
    fault({ kind: 'totalMoves', by: -5 });
    expect(await total('page.size=4&page.offset=4')).toBe(5);
  });

  it('totalMoves in the first listing only: the total of the second is constant', async () => {
    fault({ kind: 'totalMoves', when: { firstListings: 1 } });
    const totals: number[] = [];
    for (const offset of [0, 4, 8, 0, 4, 8]) totals.push((await page(`page.size=4&page.offset=${offset}`)).page.total);
    expect(totals).toEqual([10, 11, 12, 10, 10, 10]);
    expect((await page('page.size=4&page.offset=4&enabled_alert=false&product=product.odd')).page.total).toBe(6);
  });

  it('totalLies and totalIs: the total is wrong, or any value', async () => {
    fault({ kind: 'totalLies', delta: 7 });
    expect((await page()).page.total).toBe(17);
    fault({ kind: 'totalIs', total: 'many' });
    expect((await page()).page).toEqual({ offset: 0, size: 20, total: 'many' });
    fault({ kind: 'nullPage' }, { kind: 'totalIs', total: 3 });
    expect((await page()).page).toBeNull();
  });

  it('omitTotal: the page has no total', async () => {
    fault({ kind: 'omitTotal' });
    expect((await page()).page).toEqual({ offset: 0, size: 20 });
  });

  it('rowShift: rows are inserted at the head after the first page, so that pages overlap', async () => {
    fault({ kind: 'rowShift', rows: [{ resource_id: 'new' }] });
    expect(await page('page.size=4')).toMatchObject({ ids: ['r0', 'r1', 'r2', 'r3'], page: { total: 10 } });
    expect(await page('page.size=4&page.offset=4')).toMatchObject({
      ids: ['r3', 'r4', 'r5', 'r6'],
      page: { total: 11 },
    });
    fault({ kind: 'rowShift', rows: [{ resource_id: 'new' }], keepTotal: true });
    expect(await page('page.size=4&page.offset=4')).toMatchObject({
      ids: ['r3', 'r4', 'r5', 'r6'],
      page: { total: 10 },
    });
  });

  it('missingIds: every nth record has no id, other values are unchanged', async () => {
    service.setRecords('ts', [...rows(4), { record: null }, { record: null }]);
    fault({ kind: 'missingIds', every: 2 });
    const { resources, page: reported } = (await list(service)).json();
    expect(resources.map((record: object | null) => record && 'resource_id' in record)).toEqual([
      true,
      false,
      true,
      false,
      null,
      null,
    ]);
    expect(reported.total).toBe(6);
  });

  it('duplicate: records appear twice, counted in the total or not', async () => {
    fault({ kind: 'duplicate', every: 4 });
    expect(await page('page.size=6')).toMatchObject({ ids: ['r0', 'r1', 'r2', 'r3', 'r3', 'r4'], page: { total: 10 } });
    fault({ kind: 'duplicate', counted: true });
    expect(await page('page.size=3')).toMatchObject({ ids: ['r0', 'r0', 'r1'], page: { total: 20 } });
  });

  it('nullResources: an empty list is null, others are not', async () => {
    fault({ kind: 'nullResources' }, { kind: 'textNumbers' });
    expect((await page('page.offset=10')).resources).toBeNull();
    expect((await page('page.offset=9')).resources).toHaveLength(1);
  });

  it('numericState: states are numbers', async () => {
    fault({ kind: 'numericState', state: 9 });
    expect((await page('page.size=1')).resources).toEqual([{ resource_id: 'r0', state: 9, alert_rules_count: 0 }]);
  });

  it('compose in the order given', async () => {
    fault(
      { kind: 'pageCap', size: 2 },
      { kind: 'totalLies', delta: 1 },
      { kind: 'textNumbers' },
      { kind: 'duplicate', every: 2 },
    );
    expect(await page('page.offset=1')).toMatchObject({
      ids: ['r1', 'r1'],
      page: { offset: '1', size: '2', total: '11' },
    });
  });

  it('do not change a rejected request', async () => {
    fault({ kind: 'nullPage' }, { kind: 'ignoreOffset' });
    expect((await list(service, 'page.offset=x')).status).toBe(400);
  });
});

describe('reply faults', () => {
  it('reset at the start: the connection is reset before the first byte', async () => {
    fault({ kind: 'reset' });
    expect(await openRaw(service).end).toMatchObject({ head: '', error: 'ECONNRESET' });
  });

  it('reset in the body: the connection is reset after half of the body', async () => {
    fault({ kind: 'reset', at: 'body' });
    const { body, contentLength } = await openRaw(service).end;
    expect(contentLength).toBeGreaterThan(500);
    expect(body).toHaveLength(Math.floor(contentLength / 2));
  });

  it('hang: the request is never answered, others are', async () => {
    fault({ kind: 'hang', when: { nth: 1 } });
    const hanging = openRaw(service);
    await expect.poll(() => service.requests.length).toBe(1);
    expect((await list(service)).status).toBe(200);
    expect(hanging.text()).toBe('');
    await service.stop();
    expect((await hanging.end).head).toBe('');
  });

  it('headersOnly: the body never follows the headers', async () => {
    fault({ kind: 'headersOnly' });
    const client = openRaw(service);
    await expect.poll(client.text).toContain('\r\n\r\n');
    await service.stop();
    const { head, body, contentLength } = await client.end;
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(contentLength).toBeGreaterThan(500);
    expect(body).toBe('');
  });

  it('drip: the body is sent byte by byte', async () => {
    service.setRecords('ts', []);
    fault({ kind: 'drip', everyMs: 1 });
    const { body } = await request(`${service.url}${resourcesPath(stationPath)}`);
    const chunks: number[] = [];
    for await (const chunk of body) chunks.push((chunk as Buffer).length);
    expect(chunks.reduce((sum, length) => sum + length)).toBe(
      '{"resources":[],"page":{"offset":0,"size":20,"total":0}}'.length,
    );
    expect(chunks.length).toBeGreaterThan(20);
  });

  it('drip: is slow by default', async () => {
    fault({ kind: 'drip' });
    const client = openRaw(service);
    await expect.poll(client.text).toMatch(/\r\n\r\n\{/);
    expect(client.text().split('\r\n\r\n')[1]?.length).toBeLessThan(100);
    client.socket.destroy();
  });

  it('truncate: the connection is closed before Content-Length is reached', async () => {
    fault({ kind: 'truncate' });
    const { body, contentLength, error } = await openRaw(service).end;
    expect(body).toHaveLength(Math.floor(contentLength / 2));
    expect(error).toBeUndefined();
  });

  it('endless: the body never ends', async () => {
    fault({ kind: 'endless' });
    const { body } = await request(`${service.url}${resourcesPath(stationPath)}`);
    let read = 0;
    for await (const chunk of body) {
      read += (chunk as Buffer).length;
      if (read > 20_000_000) break;
    }
    expect(read).toBeGreaterThan(20_000_000);
    fault();
    expect((await list(service)).status).toBe(200);
  });

  it('html: an HTML page with status 200', async () => {
    fault({ kind: 'html' });
    expect(await list(service)).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/html; charset=utf-8' },
      text: expect.stringContaining('<!doctype html>'),
    });
  });

  it('notJson: the body is malformed JSON', async () => {
    fault({ kind: 'notJson' });
    const reply = await list(service);
    expect(reply).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
    expect(reply.json).toThrow(SyntaxError);
  });

  it.each([[[]], ['text'], [null], [{ page: null }], [{ resources: 5 }]])(
    'wrongJson: the body is %j',
    async (value) => {
      fault({ kind: 'wrongJson', value });
      expect((await list(service)).json()).toEqual(value);
    },
  );

  it('bytes: the body is the given bytes', async () => {
    fault({ kind: 'bytes', body: Buffer.from([0xff, 0x00, 0xfe]) });
    const { body } = await request(`${service.url}${resourcesPath(stationPath)}`);
    expect([...(await body.bytes())]).toEqual([0xff, 0x00, 0xfe]);
  });

  it('redirect: the reply has a Location', async () => {
    fault({ kind: 'redirect', location: 'http://127.0.0.1:1/login' });
    expect(await list(service)).toMatchObject({ status: 302, headers: { location: 'http://127.0.0.1:1/login' } });
  });

  it.each([
    [400, 3],
    [401, 16],
    [403, 7],
    [404, 5],
    [408, 1],
    [429, 8],
    [500, 13],
    [501, 12],
    [503, 14],
    [504, 4],
    [418, 2],
  ])('status: %i has the gRPC code %i', async (code, rpc) => {
    fault({ kind: 'status', code });
    const reply = await list(service);
    expect(reply.status).toBe(code);
    expect(reply.headers['retry-after']).toBeUndefined();
    expect(reply.json()).toMatchObject({ code: rpc, message: `simulated ${code}` });
  });

  it('status: sets Retry-After, body and headers', async () => {
    fault({ kind: 'status', code: 429, retryAfter: 3, body: '', headers: { 'x-limit': '1' } });
    expect(await list(service)).toMatchObject({
      status: 429,
      headers: { 'retry-after': '3', 'x-limit': '1' },
      text: '',
    });
    fault({ kind: 'status', code: 503, retryAfter: 'Wed, 13 May 2026 12:00:00 GMT' });
    expect((await list(service)).headers['retry-after']).toBe('Wed, 13 May 2026 12:00:00 GMT');
  });

  it('latency: delays the reply without delaying others', async () => {
    fault({ kind: 'latency', ms: 10_000_000, when: { nth: 1 } }, { kind: 'latency', ms: [1, 5], when: { nth: 2 } });
    const late = openRaw(service);
    await expect.poll(() => service.requests.length).toBe(1);
    expect((await list(service)).status).toBe(200);
    expect(late.text()).toBe('');
    late.socket.destroy();
  });

  it('gzip: the body is compressed', async () => {
    fault({ kind: 'gzip' });
    const { headers, body } = await request(`${service.url}${resourcesPath(stationPath)}`);
    expect(headers['content-encoding']).toBe('gzip');
    expect(JSON.parse(gunzipSync(await body.bytes()).toString()).page.total).toBe(10);
  });

  it('compose: a delayed error can be truncated', async () => {
    fault({ kind: 'truncate' }, { kind: 'latency', ms: 1 }, { kind: 'status', code: 500 });
    const { head, body, contentLength } = await openRaw(service).end;
    expect(head).toMatch(/^HTTP\/1\.1 500 /);
    expect(body?.length).toBeLessThan(contentLength);
  });
});

describe('setFaults', () => {
  const teapot: Fault = { kind: 'status', code: 418 };

  beforeEach(() => service.setRecords('other', rows(1)));

  it('affects only the named station', async () => {
    fault(teapot);
    expect([(await list(service)).status, (await list(service, '', 'other')).status]).toEqual([418, 200]);
  });

  it("affects every station, and requests that match none, under '*'", async () => {
    service.setFaults('*', [teapot]);
    const nowhere = await request(`${service.url}/`);
    await nowhere.body.dump();
    expect([(await list(service)).status, (await list(service, '', 'other')).status, nowhere.statusCode]).toEqual([
      418, 418, 418,
    ]);
  });

  it("counts per station, applies '*' first, and resets the counts when set again", async () => {
    const first: Fault = { ...teapot, when: { first: 1 } };
    const statuses = async () => [
      (await list(service)).status,
      (await list(service)).status,
      (await list(service, '', 'other')).status,
    ];
    service.setFaults('*', [first]);
    expect(await statuses()).toEqual([418, 200, 418]);
    service.setFaults('*', [first]);
    fault({ kind: 'status', code: 503, when: { first: 1 } });
    expect(await statuses()).toEqual([503, 200, 418]);
  });
});
