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

  it('unstableOrder: every page is cut from another order', async () => {
    fault({ kind: 'unstableOrder' });
    const orders = [(await page()).ids, (await page()).ids];
    expect(orders[0]).not.toEqual(orders[1]);
    expect(orders.map((ids) => ids.toSorted())).toEqual(
      Array(2).fill(rows(10).map(({ record }) => record.resource_id)),
    );
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
});

describe('reply faults', () => {
  it('reset in the body: the connection is reset after half of the body', async () => {
    fault({ kind: 'reset', at: 'body' });
    const { body, contentLength } = await openRaw(service).end;
    expect(contentLength).toBeGreaterThan(500);
    expect(body).toHaveLength(Math.floor(contentLength / 2));
  });

  it('hang: the request is never answered, others are', async () => {
    fault({ kind: 'hang', when: { first: 1 } });
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
    fault({ kind: 'drip' }, { kind: 'status', code: 200, body: '{}' });
    const { body } = await request(`${service.url}${resourcesPath(stationPath)}`);
    const chunks: string[] = [];
    for await (const chunk of body) chunks.push(String(chunk));
    expect(chunks).toEqual(['{', '}']);
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
