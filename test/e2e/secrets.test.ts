import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import type { SchemeName } from '../../src/service/auth/schemes.ts';
import { valuesOf } from '../exposition/parse-exposition.ts';
import { temporaryFile } from '../service/support/files.ts';
import { startProxy } from '../service/support/proxy.ts';
import { listen } from '../service/support/service.ts';
import type { AuthCheck } from '../simulator/auth.ts';
import { eventually } from '../web/eventually.ts';
import { httpRequest } from '../web/http-client.ts';
import { serve } from './running-program.ts';
import { configOf, entriesOf, startTestService } from './test-bed.ts';

const SECRET = 'Sesame/0pen+now=';
const TOKEN = 'issued-T0ken';
const PARAMETER = 'parameter-S3cret';

/** The keys of an upstream with the secret itself or with its file. */
type Scheme = (secret: { readonly text: string } | { readonly file: string }, tokenUrl: string) => object;

/** Keys beside the one of the secret, which has the suffix _file for a file. */
const schemeWith =
  (scheme: string, key: string, others: object = {}): Scheme =>
  (secret) => ({
    [scheme]: { ...others, ...('text' in secret ? { [key]: secret.text } : { [`${key}_file`]: secret.file }) },
  });

const oauth2: Scheme = (secret, token_url) => {
  const others = { client_id: 'client', token_url, scopes: ['read'], endpoint_params: { key: PARAMETER } };
  return schemeWith('oauth2', 'client_secret', others)(secret, token_url);
};

type Authentication = SchemeName | 'http_headers';

const SCHEMES: Readonly<Record<Authentication, Scheme>> = {
  authorization: schemeWith('authorization', 'credentials'),
  basic_auth: schemeWith('basic_auth', 'password', { username: 'user' }),
  hmac: schemeWith('hmac', 'secret_access_key', {
    access_key_id: 'AK',
    signed_headers: ['x-date', 'request-line', '@request-target'],
  }),
  oauth2,
  http_headers: (secret) => ({
    http_headers: { 'X-Key': 'text' in secret ? { secrets: [secret.text] } : { files: [secret.file] } },
  }),
};

const TEXT = { text: SECRET };

const tokenFor = (secret: string) => `${TOKEN}-${Buffer.from(secret).toString('hex')}`;

/** What the service accepts; the test checks configured headers, which the service does not. */
function authFor(name: Authentication): AuthCheck | undefined {
  if (name === 'http_headers') return undefined;
  if (name === 'oauth2') return { authorization: { credentials: tokenFor(SECRET) } };
  return SCHEMES[name](TEXT, '') as AuthCheck;
}

/** Each secret, plain and in every encoding in which it is sent. */
const ENCODINGS = [SECRET, PARAMETER, tokenFor(SECRET)].flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  encodeURIComponent(encodeURIComponent(secret)),
  secret.replace(/[^\w ]/g, (character) => `&#x${character.charCodeAt(0).toString(16)};`),
  secret.replaceAll('/', '\\/'),
  Buffer.from(secret).toString('base64url'),
  ...[secret, `user:${secret}`, `client:${secret}`, `client:${encodeURIComponent(secret)}`].map((pair) =>
    Buffer.from(pair).toString('base64').replace(/=+$/, ''),
  ),
]);

/** Everything the program responds, prints and logs. */
async function shown(program: Program): Promise<Readonly<Record<string, string>>> {
  const paths = [
    '/',
    '/config',
    '/metrics',
    '/probe?station=a',
    '/sd',
    '/stations/a',
    '/stations/a/refreshes',
    '/stations/a/changes',
    '/-/ready',
    '/nowhere',
  ];
  const answers = await Promise.all(paths.map(async (path) => [path, (await program.get(path)).body] as const));
  const reload = await httpRequest(program.port, '/-/reload', { method: 'POST' });
  return { ...Object.fromEntries(answers), ...program.output(), reload: reload.body };
}

function expectNoSecretIn(places: Readonly<Record<string, string>>): void {
  const leaks = Object.entries(places).flatMap(([place, content]) => {
    const encoding = ENCODINGS.find((candidate) => content.includes(candidate));
    return encoding === undefined ? [] : [{ place, encoding, content }];
  });
  expect(leaks).toEqual([]);
}

const FLAGS = ['--log.level=debug', '--web.enable-lifecycle'];

const startService = (auth?: AuthCheck) => startTestService({ source: () => entriesOf(3), auth });

type Program = Awaited<ReturnType<typeof serve>>;

/** The program with one station. */
const serving = (url: string, upstream: object = {}) => serve(configOf(url, ['a'], { upstream }), ...FLAGS);

const up = async ({ scrape, output }: Program, expected: number) =>
  expect(valuesOf(await scrape(), 'telemetry_station_up', 'station'), output().stderr).toEqual({ a: expected });

const failing = async ({ scrape }: Program, reason: string) =>
  expect(valuesOf(await scrape(), 'telemetry_station_failure', 'reason')).toMatchObject({ [reason]: 1 });

async function startServer(answer: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(answer))}`;
}

/** Issues a token that depends on the client secret. */
function startTokenServer(): Promise<string> {
  return startServer((request, response) => {
    const [, pair = ''] = `${request.headers.authorization}`.split(' ');
    const [, encoded = ''] = Buffer.from(pair, 'base64').toString().split(':');
    const [secret = ''] = new URLSearchParams(`=${encoded}`).values();
    response.end(JSON.stringify({ access_token: tokenFor(secret), expires_in: 3600 }));
  });
}

/** Rejects a request and repeats its credentials; which replies are shown is tested with the client that reads them. */
const echo: RequestListener = async (request, response) => {
  const { authorization, 'x-key': key } = request.headers;
  response.writeHead(401).end(`rejected authorization ${authorization} and key ${key}: ${await text(request)}`);
};

describe.each(Object.entries(SCHEMES) as [Authentication, Scheme][])('the secret of %s', (name, scheme) => {
  it.each(['inline', 'file'])('is accepted by the service when given %s, and shown nowhere', async (source) => {
    const service = await startService(authFor(name));
    const file = temporaryFile('secret', `${SECRET}\n`);
    const program = await serving(service.url, scheme(source === 'inline' ? TEXT : { file }, await startTokenServer()));
    await up(program, 1);
    if (name === 'http_headers') expect(service.requests[0]?.headers['x-key']).toBe(SECRET);
    const places = await shown(program);
    expectNoSecretIn(places);
    expect(places['/config']).toContain(source === 'inline' ? '<secret>' : file);
  });

  it('is not shown when the service rejects it and repeats it', async () => {
    const program = await serving(await startServer(echo), scheme(TEXT, await startTokenServer()));
    await up(program, 0);
    const places = await shown(program);
    expect(places['stderr']).toContain('msg="refresh failed"');
    expectNoSecretIn(places);
  });
});

describe('the secret of oauth2', () => {
  it('is not shown when the token endpoint rejects it and repeats the request', async () => {
    const { url } = await startService();
    const program = await serving(url, oauth2(TEXT, await startServer(echo)));
    await failing(program, 'auth');
    expectNoSecretIn(await shown(program));
  });
});

describe('a wrong secret of oauth2', () => {
  it('is sent again after a reload, although the token endpoint requested a pause', async () => {
    const { url } = await startService();
    let isWrong = true;
    const tokenUrl = await startServer((_request, response) => {
      if (isWrong) response.writeHead(401, { 'Retry-After': '600' }).end('{"error":"invalid_client"}');
      else response.end('{"access_token":"token"}');
    });
    const program = await serving(url, oauth2(TEXT, tokenUrl));
    await up(program, 0);
    isWrong = false;
    await up(program, 0);
    await httpRequest(program.port, '/-/reload', { method: 'POST' });
    await up(program, 1);
  });
});

describe('the password of proxy_url', () => {
  const withPassword = (proxy: string) => ({ proxy_url: `http://user:${encodeURIComponent(SECRET)}@${proxy}` });

  it('is accepted by the proxy and shown nowhere', async () => {
    const service = await startService();
    const proxy = await startProxy();
    const program = await serving(service.url, withPassword(proxy.url.host));
    await up(program, 1);
    const pair = Buffer.from(`user:${SECRET}`).toString('base64');
    expect(proxy.tunnels[0]?.headers['proxy-authorization']).toBe(`Basic ${pair}`);
    const places = await shown(program);
    expectNoSecretIn(places);
    expect(places['/config']).toContain('//<secret>@');
  });

  it.each(['', ':'])('may be a key in place of the user, followed by %j', async (colon) => {
    const { url } = await startService();
    const proxy_url = `http://${encodeURIComponent(SECRET)}${colon}@proxy:3128`;
    const places = await shown(await serving(url, { proxy_url }));
    expect(places['/config']).toContain('proxy_url: http://<secret>@proxy:3128/');
    expectNoSecretIn(places);
  });

  it('is not shown when the proxy rejects it and repeats it', async () => {
    const { url } = await startService();
    const server = createServer().on('connect', (request, socket) => {
      const seen = `${request.headers['proxy-authorization']}`;
      socket.end(`HTTP/1.1 407 No ${seen}\r\nX-Seen: ${seen}\r\nContent-Length: ${seen.length}\r\n\r\n${seen}`);
    });
    const program = await serving(url, withPassword(`127.0.0.1:${await listen(server)}`));
    await failing(program, 'network');
    const places = await shown(program);
    expect(places['stderr']).toContain('407 Proxy Authentication Required');
    expectNoSecretIn(places);
  });
});

/** Mistakes with which a secret stands where something else was expected, each as the keys of an upstream. */
const MISPLACED = [
  `authorization: ${SECRET}`,
  `authorization: { credentials:${SECRET} }`,
  `http_headers: { X-Key: { values: ["\\0${SECRET}"] } }`,
  `base_url: https://user:${SECRET}@example.com`,
];

describe('a secret in the wrong place', () => {
  it.each(MISPLACED)('is not shown by a rejected reload: %s', async (keys) => {
    const { url } = await startService();
    const program = await serving(url);
    writeFileSync(program.file, `upstreams:\n  main:\n    ${keys}\nstations: []\n`);
    const places = await shown(program);
    expect(places['reload']).toMatch(/config\.yaml:\d+:\d+: /);
    await eventually(() => expect(program.output().stderr).toContain('configuration reload failed'));
    expectNoSecretIn(places);
  });
});
