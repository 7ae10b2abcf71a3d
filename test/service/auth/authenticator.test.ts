import { createHmac } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { readSecret } from '../../../src/service/auth/credential.ts';
import { SIGNED_HEADERS } from '../../../src/service/auth/hmac.ts';
import type { ConfiguredScheme } from '../../../src/service/auth/schemes.ts';
import type { UpstreamOptions } from '../../../src/service/upstream-options.ts';
import { bearer, schemeOf, servedClient } from '../support/client.ts';
import { temporaryFile } from '../support/files.ts';
import { replying } from '../support/service.ts';

type Options = Partial<UpstreamOptions>;

/** Accepts one value of the header; otherwise answers 401 with the value received. */
function demand(header: string, value: string) {
  return (request: IncomingMessage, response: ServerResponse) => {
    const given = request.headers[header];
    if (given === value) response.end('welcome');
    else response.writeHead(401).end(JSON.stringify({ message: `I do not know ${given}` }));
  };
}

const NOT_SHOWN = 'not shown, because it repeats a secret';

const SECRET = 'sécret/key+=';

const hmac = (settings: object = {}) =>
  schemeOf({ hmac: { access_key_id: 'AK', secret_access_key: SECRET, ...settings } });

describe('Authenticator', () => {
  it.each<[string, string, string, Options]>([
    [
      'a user name and password',
      'authorization',
      `Basic ${Buffer.from('üser:p:w').toString('base64')}`,
      { auth: schemeOf({ basic_auth: { username: 'üser', password: 'p:w' } }) },
    ],
    [
      'an authorization of any type, rather than a configured header of the same name',
      'authorization',
      'Token abc',
      {
        auth: schemeOf({ authorization: { type: 'Token', credentials: 'abc' } }),
        headers: [{ name: 'authorization', value: { text: 'other' } }],
      },
    ],
    [
      'other scripts as UTF-8, and all values of a header',
      'x-tenant',
      `${Buffer.from('存储\t~"').toString('latin1')}, b`,
      { headers: ['存储\t~"', 'b'].map((value) => ({ name: 'X-Tenant', value })) },
    ],
  ])('sends %s', async (_what, header, value, options) => {
    const { get } = await servedClient(demand(header, value), options);
    expect(await get()).toBe('welcome');
  });

  it('reads a file again after a 401 and retries once, in addition to max_retries', async () => {
    const file = temporaryFile('token', 'old\n');
    const headers = [{ name: 'X-Token', value: { file } }];
    let isReplaced = false;
    const answer = demand('x-token', 'new');
    const { get, failure, observer, sleeps } = await servedClient(
      (...exchanged) => {
        if (isReplaced) writeFileSync(file, 'new\n');
        answer(...exchanged);
      },
      { headers },
    );
    expect(await failure()).toMatchObject({ reason: 'auth' });
    expect(observer.outcomes).toEqual(['auth', 'auth']);
    isReplaced = true;
    expect(await get()).toBe('welcome');
    expect(observer).toMatchObject({ outcomes: ['auth', 'auth', 'auth', undefined], retries: 2 });
    expect(sleeps).toEqual([]);
  });

  it('fails with reason auth without a request when a file is empty or cannot be read', async () => {
    const file = temporaryFile('token', '\n');
    const options = { auth: bearer({ file }), maxRetries: 3 };
    const { client, failure, observer } = await servedClient(demand('authorization', 'Bearer x'), options);
    expect(await failure()).toMatchObject({ reason: 'auth', message: `credential file ${file} is empty` });
    rmSync(file);
    const message = expect.stringContaining(`cannot read credential file ${file}: ENOENT`);
    expect(await failure()).toMatchObject({ reason: 'auth', message });
    expect(observer).toMatchObject({ outcomes: [], retries: 0, waitingNow: 0 });
    // It is no reply of the service.
    expect(client.limiter.load()).toMatchObject({ recentRequests: 0, typicalLatencyMs: undefined });
  });

  it.each(['hidden\r\nX-Evil: 1', 'hidden\0b', 'hidden\u007fb'])(
    'fails with reason auth, without the value, for the credential %j, which is not a valid header value',
    async (text) => {
      const { failure, requests } = await servedClient(demand('authorization', 'x'), { auth: bearer({ text }) });
      const message = 'invalid value of header Authorization: expected no line breaks or other control characters';
      expect(await failure()).toMatchObject({ reason: 'auth', message });
      expect(requests).toEqual([]);
    },
  );

  it('does not show a reply that repeats the secret value of a header', async () => {
    const message = async (text: string) => {
      const { failure } = await servedClient(
        ({ headers }, response) =>
          response.writeHead(403).end(`tenant ${headers['x-tenant']}, key ${headers['x-key']}`),
        {
          headers: [
            { name: 'X-Tenant', value: 'production' },
            { name: 'X-Key', value: { text } },
          ],
        },
      );
      return (await failure()).message.replace(/^.*?: /, '');
    };
    expect(await message('key-1234')).toBe(NOT_SHOWN);
    expect(await message('ab')).toBe('tenant production, key ab');
  });

  it('reports a clock difference when a signature is rejected, but not the signature', async () => {
    const wallNow = () => Date.now() - 3_600_000;
    const rejected = async (auth: ConfiguredScheme, time = {}) => {
      const { failure, requests } = await servedClient(demand('authorization', 'other'), { auth }, time);
      const { message } = await failure();
      return { message, headers: requests[0]?.headers };
    };
    const late = await rejected(hmac(), { wallNow });
    expect(late.message).toMatch(new RegExp(`: ${NOT_SHOWN}; the local clock is \\d+ s behind the service's`));
    expect(late.headers).not.toHaveProperty('date');
    expect((await rejected(hmac())).message).not.toContain('clock');
    expect((await rejected(bearer({ text: 'p' }), { wallNow })).message).not.toContain('clock');
  });

  it('signs the request as it is sent, in the configured order', async () => {
    const auth = hmac({ signed_headers: SIGNED_HEADERS.toReversed() });
    const { get, requests } = await servedClient(replying('{}'), { auth });
    await get("/prefix/a%2fb/'c'?x=%E4%BD%A0&y=a+b&z=~!*()");
    const { rawHeaders, headers, method, url } = requests[0] ?? {};
    const lines = [
      `@request-target: ${method?.toLowerCase()} ${url}`,
      `${method} ${url} HTTP/1.1`,
      `host: ${headers?.host}`,
      `date: ${headers?.date}`,
      `x-date: ${headers?.['x-date']}`,
    ];
    const signature = createHmac('sha256', SECRET).update(lines.join('\n')).digest('base64');
    expect(url).toBe("/prefix/a%2fb/'c'?x=%E4%BD%A0&y=a+b&z=~!*()");
    expect(headers?.authorization).toBe(
      `hmac accesskey="AK", algorithm="hmac-sha256", headers="@request-target request-line host date x-date", signature="${signature}"`,
    );
    expect(rawHeaders).toEqual(expect.arrayContaining(['X-Date', 'Date', 'Authorization']));
  });
});

describe('readSecret', () => {
  it('returns the content of a file without surrounding white space', async () => {
    expect(await readSecret({ file: temporaryFile('token', ' a b \r\n') })).toBe('a b');
  });

  it.each([
    { content: 'a\nb\n', problem: 'has 2 lines, expected one' },
    { content: Buffer.from('\ufefftoken', 'utf16le'), problem: 'it is UTF-16, expected a file that is saved as UTF-8' },
  ])('says that a file $problem', async ({ content, problem }) => {
    await expect(readSecret({ file: temporaryFile('token', content) })).rejects.toThrow(problem);
  });
});
