import type { RequestListener } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { oauth2, servedClient, testClient } from '../support/client.ts';
import { replying, startService } from '../support/service.ts';

const LISTING = Buffer.from(JSON.stringify({ resources: [], page: { total: 0 } }));
const ERROR = Buffer.from(JSON.stringify({ code: 7, message: 'no access to station ts' }));

const gzipped = (body: Uint8Array, status = 200) => replying(gzipSync(body), status, { 'Content-Encoding': 'gzip' });

describe('a page', () => {
  it.each([
    { coding: 'gzip', body: gzipSync(LISTING) },
    { coding: 'X-GZIP', body: gzipSync(LISTING) },
    { coding: ['identity', 'gzip'], body: gzipSync(LISTING) },
    { coding: 'gzip', body: Buffer.concat([gzipSync(LISTING.subarray(0, 9)), gzipSync(LISTING.subarray(9))]) },
    { coding: 'Identity', body: LISTING },
    { coding: '', body: LISTING },
    { coding: 'gzip', body: Buffer.alloc(0) },
  ])('is asked for and read with content-encoding $coding', async ({ coding, body }) => {
    const { get, requests } = await servedClient(replying(body, 200, { 'Content-Encoding': coding }));
    expect(await get()).toBe(body.length === 0 ? '' : LISTING.toString());
    expect(requests[0]?.headers['accept-encoding']).toBe('gzip');
  });

  it('without content is empty, whatever its coding', async () => {
    const { get } = await servedClient(replying('', 204, { 'Content-Encoding': 'gzip' }));
    expect(await get()).toBe('');
  });

  it.each(['br', 'deflate', 'gzip, gzip', 'GZIP, zstd'])(
    'fails with reason body and the name of %j',
    async (coding) => {
      const { failure, url, observer } = await servedClient(replying(LISTING, 200, { 'Content-Encoding': coding }), {
        maxRetries: 1,
      });
      expect(await failure()).toMatchObject({
        reason: 'body',
        message: `${url.host}: content-encoding ${JSON.stringify(coding.toLowerCase())}, expected gzip or none`,
      });
      expect(observer.retries).toBe(0);
    },
  );

  it('has at most max_page_bytes when it is unpacked, as one that is not compressed', async () => {
    const maxPageBytes = 100_000;
    const fitting = await servedClient(gzipped(Buffer.alloc(maxPageBytes, ' ')), { maxPageBytes });
    expect(await fitting.get()).toHaveLength(maxPageBytes);
    const tooLarge = async (answer: RequestListener) => {
      const { failure, url, observer } = await servedClient(answer, { maxPageBytes, maxRetries: 1 });
      expect(await failure()).toMatchObject({
        reason: 'body',
        message: `${url.host}: body is larger than ${maxPageBytes} bytes`,
      });
      expect(observer.retries).toBe(0);
    };
    const spaces = Buffer.alloc(maxPageBytes + 1, ' ');
    await tooLarge((_request, response) => response.write(spaces));
    await tooLarge(gzipped(spaces));
    // A bomb, also one that claims to be small.
    const bomb = gzipSync(Buffer.alloc(1000 * maxPageBytes, ' '));
    await tooLarge(replying(bomb, 200, { 'Content-Encoding': 'gzip' }));
    bomb.writeUInt32LE(1, bomb.length - 4);
    await tooLarge(replying(bomb, 200, { 'Content-Encoding': 'gzip' }));
  });

  it.each([1, 9, 10, 30, -8, -1])('that is cut is requested again: the first %i bytes of it', async (length) => {
    const packed = gzipSync(LISTING);
    const cut = packed.subarray(0, length);
    let replies = 0;
    const { get, failure, observer } = await servedClient(
      (_request, response) => {
        replies += 1;
        response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(replies === 2 ? packed : cut);
      },
      { maxRetries: 1 },
    );
    expect(await get()).toBe(LISTING.toString());
    expect(observer.retries).toBe(1);
    expect(await failure()).toMatchObject({
      reason: 'network',
      message: `the reply ends in the middle, after ${cut.length} bytes`,
    });
  });

  it('that is not gzip although it says so is called that', async () => {
    const { failure, url } = await servedClient(replying(LISTING, 200, { 'Content-Encoding': 'gzip' }));
    expect(await failure()).toMatchObject({
      reason: 'body',
      message: `${url.host}: the body is not gzip, as its content-encoding says: incorrect header check`,
    });
  });
});

describe('an error reply', () => {
  it.each([
    { what: 'compressed', reply: gzipped(ERROR, 403), text: 'code 7: no access to station ts' },
    {
      what: 'compressed and cut',
      reply: replying(gzipSync('too many requests').subarray(0, -9), 403, { 'Content-Encoding': 'gzip' }),
      text: 'too many requests',
    },
    { what: 'a compressed page', reply: gzipped(Buffer.alloc(50_000_000, 'x'), 403), text: `${'x'.repeat(200)}…` },
    { what: 'plain', reply: replying('no', 403, { 'Content-Encoding': 'identity' }), text: 'no' },
    { what: 'empty', reply: replying('', 403, { 'Content-Encoding': 'gzip' }), text: 'empty body' },
    {
      what: 'not gzip',
      reply: replying('no', 403, { 'Content-Encoding': 'gzip' }),
      text: 'body with content-encoding gzip, not shown',
    },
    {
      what: 'of another coding',
      reply: replying('no', 403, { 'Content-Encoding': 'br' }),
      text: 'body with content-encoding br, not shown',
    },
  ])('is shown in its words if it is $what', async ({ reply, text }) => {
    const { failure, url } = await servedClient(reply);
    expect((await failure()).message).toBe(`${url.host} answered 403 Forbidden: ${text}`);
  });
});

describe('a token reply', () => {
  it('is not asked for compressed, and is called that if it is', async () => {
    const { url, requests } = await startService(gzipped(Buffer.from('{"access_token":"t0ken"}')));
    const { failure } = testClient(new URL('http://127.0.0.1:1'), { auth: oauth2(url) });
    expect((await failure()).message).toBe(`token endpoint ${url.host}: content-encoding "gzip", expected none`);
    expect(requests[0]?.headers).not.toHaveProperty('accept-encoding');
  });
});
