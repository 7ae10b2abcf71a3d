import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer as createHttp2Server } from 'node:http2';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { configOf } from '../e2e/test-bed.ts';
import { issue } from '../service/support/certificates.ts';
import { temporaryFile } from '../service/support/files.ts';
import { startProxy } from '../service/support/proxy.ts';
import { closedPort, listen, replying, startRawService, startService } from '../service/support/service.ts';
import { checkLive } from './check-live.ts';

/** The report on a station: what failed, the words of the other side, and what to do. */
interface Report {
  readonly listing: string | RegExp;
  readonly what: string | RegExp;
  readonly reported: string | RegExp;
  readonly advice: string | RegExp;
}

/** The configuration of an upstream, and what `check --live` says of it. */
interface World {
  readonly name: string;
  readonly upstream: () => Promise<object>;
  readonly says: Partial<Report>;
}

/** Ports differ from run to run. */
const withoutPorts = (text: string) => text.replaceAll(/127\.0\.0\.1:\d+/g, 'HOST');

async function reportOf(upstream: object): Promise<Report> {
  const { stdout, cell } = await checkLive(configOf('http://127.0.0.1:1', ['a'], { upstream }));
  const block =
    /^failure: station a of upstream main: (.*) No refresh has succeeded yet\.\n {2}reported: (.*)\n {2}what to do: (.*)$/m;
  const [, what, reported, advice] = block.exec(withoutPorts(stdout)) ?? expect.unreachable(stdout);
  return { listing: `${cell('a', 'LISTING')}`, what: `${what}`, reported: `${reported}`, advice: `${advice}` };
}

async function expectReport({ upstream, says }: World): Promise<void> {
  const report = await reportOf(await upstream());
  const expected = Object.entries(says).map(([part, text]) => [
    part,
    typeof text === 'string' ? text : expect.stringMatching(text),
  ]);
  expect(report).toMatchObject(Object.fromEntries(expected));
}

/** An upstream whose token endpoint is at this URL. */
const tokensFrom = async (tokenUrl: URL | string) => {
  const { url } = await startService(replying('{"resources":[]}'));
  return { base_url: url.href, oauth2: { client_id: 'c', client_secret: 'hunter22', token_url: `${tokenUrl}` } };
};

const tokenEndpoint = (...reply: Parameters<typeof replying>) =>
  startService(replying(...reply)).then(({ url }) => tokensFrom(url));

const SIGN_IN = '<!doctype html><title>Sign in</title>';

const TOKEN_ENDPOINTS: readonly World[] = [
  {
    name: 'refuses connections',
    upstream: async () => tokensFrom(`http://127.0.0.1:${await closedPort()}`),
    says: {
      listing: 'failed: token endpoint: connection refused',
      what: 'The token endpoint HOST refused the connection: no process listens on that port.',
      reported: /^auth: token endpoint HOST: connect ECONNREFUSED/,
      advice: /oauth2\.token_url/,
    },
  },
  {
    name: 'is unknown',
    upstream: () => tokensFrom('http://no-such-host.invalid/token'),
    says: {
      what: 'The host name of the token endpoint no-such-host.invalid cannot be resolved.',
      reported: /^auth: /,
      advice: /^Check the host in oauth2\.token_url/,
    },
  },
  {
    name: 'speaks no TLS',
    upstream: async () => tokensFrom((await startService(replying(''))).url.href.replace('http:', 'https:')),
    says: {
      listing: 'failed: token endpoint: no TLS on this port',
      what: 'The token endpoint HOST does not use TLS on this port, but oauth2.token_url is an https URL.',
      reported: /^auth: /,
      advice: /scheme and port of oauth2\.token_url/,
    },
  },
  {
    name: 'closes the connection',
    upstream: async () => tokensFrom((await startRawService((socket) => socket.destroy())).url),
    says: {
      what: 'The token endpoint HOST closed the connection before the reply was complete.',
      reported: /^auth: /,
      advice: /^(?!.*(base_url|cert_file)).*oauth2\.token_url/,
    },
  },
  {
    name: 'hangs',
    upstream: async () => ({ ...(await tokensFrom((await startService(() => undefined)).url)), timeout: '100ms' }),
    says: { what: 'The token endpoint HOST did not answer in time.', reported: /^auth: /, advice: /oauth2\.token_url/ },
  },
  ...(
    [
      [302, 'redirects token requests', /^Set oauth2\.token_url to the URL that issues tokens/],
      [400, 'rejected the client', /oauth2\.scopes/],
      [401, 'rejected the client', /client secret/],
      [403, 'denies access', /client credentials grant/],
      [404, 'accepts no token requests at this path', /path of oauth2\.token_url/],
      [405, 'accepts no token requests at this path', /path of oauth2\.token_url/],
      [429, 'is limiting token requests', /^(?!.*cache\.ttl)/],
      [500, 'fails', /^(?!.*service)/],
      [503, 'fails', /operators of the token endpoint/],
    ] as const
  ).map(([status, what, advice]) => ({
    name: `answers ${status}`,
    upstream: () => tokenEndpoint(SIGN_IN, status),
    says: {
      listing: new RegExp(`^failed: token endpoint: ${status} `),
      what: new RegExp(`^The token endpoint HOST ${what}`),
      reported: new RegExp(`^auth: token endpoint HOST answered ${status} `),
      advice,
    },
  })),
  {
    name: 'gets plain HTTP on a port with TLS',
    upstream: () => tokenEndpoint('Client sent an HTTP request to an HTTPS server.\n', 400),
    says: {
      listing: 'failed: token endpoint: TLS on this port',
      what: 'This port of the token endpoint HOST uses TLS, but oauth2.token_url is an http URL (400).',
      advice: 'Use https:// in oauth2.token_url.',
    },
  },
  {
    name: 'returns a reply that a proxy cut off',
    upstream: () => tokenEndpoint('{"access_token":"t0ken-1'),
    says: {
      listing: 'failed: token endpoint: reply cut off',
      reported: /^auth: the reply ends in the middle, after 24 bytes$/,
      advice: /^(?!.*sign-in)/,
    },
  },
  {
    name: 'returns a sign-in page',
    upstream: () => tokenEndpoint(SIGN_IN),
    says: {
      listing: 'failed: token endpoint: no access token',
      what: 'The token endpoint HOST returned no access token.',
      reported: /^auth: .* got an HTML or XML page \(37 bytes\): Sign in$/,
      advice: /oauth2\.token_url: the usual cause is a sign-in page/,
    },
  },
  {
    name: 'is not allowed by the proxy',
    upstream: async () => ({
      ...(await tokensFrom('http://tokens.example.com')),
      proxy_url: (await startProxy(undefined, 403)).url.origin,
    }),
    says: {
      listing: 'failed: token endpoint: refused by proxy',
      what: 'The proxy HOST did not open a tunnel to the token endpoint tokens.example.com.',
      reported: /^auth: proxy HOST refused the tunnel to http:\/\/tokens\.example\.com: 403/,
    },
  },
];

const PROXIES: readonly World[] = [
  {
    name: 'closes the connection',
    upstream: async () => ({ proxy_url: (await startRawService((socket) => socket.destroy())).url.origin }),
    says: {
      what: 'The proxy HOST closed the connection before the reply was complete.',
      advice: /^(?!.*(base_url|cert_file)).*proxy_url/,
    },
  },
  {
    name: 'allows tunnels to port 443 only',
    upstream: async () => ({ proxy_url: (await startProxy(undefined, 403)).url.origin }),
    says: {
      listing: 'failed: refused by proxy',
      what: 'The proxy HOST did not open a tunnel to HOST.',
      advice: /squid allows tunnels to port 443 only/,
    },
  },
];

const upstreamOf = async (listener: RequestListener, more: object = {}) => ({
  base_url: (await startService(listener)).url.href,
  ...more,
});

const service = (...reply: Parameters<typeof replying>) => upstreamOf(replying(...reply));

/** A reply of a gateway, as it was recorded. */
const recorded = (name: string) => {
  const [head = '', body = ''] = readFileSync(`test/service/gateway/${name}.http`, 'utf8').split(/\r?\n\r?\n/);
  return service(body, Number(head.split(' ')[1]), { 'Content-Type': 'application/json' });
};

const page = (title: string) => `<html>\r\n<head><title>${title}</title></head>\r\n<body><h1>400 Bad Request</h1>`;

/** A service with access tokens that it does not accept. */
const rejecting = async (...reply: Parameters<typeof replying>) => ({
  ...(await service(...reply)),
  oauth2: (await tokenEndpoint('{"access_token":"t0ken-12345"}')).oauth2,
});

const TOO_LONG = {
  what: /^The service, or a proxy before it, accepts no request that is so long \(4\d\d\)/,
  advice: /fewer resource_ids in the filters.* limit of the proxy/,
};

const SCOPE = {
  what: 'The service accepted the access token of oauth2, but it lacks a scope (403).',
  advice: /^Add the scope that the service names to oauth2\.scopes/,
};

const CLOCKS = {
  listing: 'failed: token expired',
  what: /^The service rejected the access token of oauth2 as expired or not yet valid \(401\)/,
  advice: /^Compare the clocks of the token endpoint and of the service/,
};

const REPLIES: readonly World[] = [
  {
    name: 'a missing client certificate, as nginx reports it',
    upstream: () => service(page('400 No required SSL certificate was sent'), 400),
    says: {
      listing: 'failed: client certificate required',
      reported: /: 400 No required SSL certificate was sent$/,
      advice: /^Set tls_config\.cert_file/,
    },
  },
  {
    name: 'plain HTTP on a port with TLS, as nginx reports it',
    upstream: () => service(page('400 The plain HTTP request was sent to HTTPS port'), 400),
    says: { listing: 'failed: TLS on this port', advice: 'Use https:// in base_url.' },
  },
  {
    name: 'plain HTTP on a port with TLS, as Go reports it',
    upstream: () => service('Client sent an HTTP request to an HTTPS server.\n', 400),
    says: { listing: 'failed: TLS on this port' },
  },
  {
    name: 'headers that are too long, as nginx reports them',
    upstream: () => service(page('400 Request Header Or Cookie Too Large'), 400),
    says: { ...TOO_LONG, reported: /: 400 Request Header Or Cookie Too Large$/ },
  },
  { name: 'a 414', upstream: () => service('', 414), says: TOO_LONG },
  { name: 'a 431', upstream: () => service('', 431), says: TOO_LONG },
  {
    name: 'a 403 with an HTML page',
    upstream: async () => ({
      ...(await service(page('Access &amp;\n Control'), 403)),
      authorization: { credentials: 'hunter22' },
    }),
    says: {
      what: /^A proxy or firewall denies this host access to HOST \(403\)/,
      reported: /: Access & Control$/,
      advice: /^(?!.*Grant)/,
    },
  },
  {
    name: 'a 403 without the form of a gateway, as of Envoy',
    upstream: () => rejecting('RBAC: access denied', 403),
    says: {
      what: /^HOST, or a proxy or firewall before it, denies access \(403\)/,
      reported: /: RBAC: access denied$/,
      advice: /proxies and firewalls/,
    },
  },
  {
    name: 'a 403 that names a scope as the reason',
    upstream: () =>
      rejecting('{"code":7,"message":"denied","details":[{"reason":"ACCESS_TOKEN_SCOPE_INSUFFICIENT"}]}', 403),
    says: SCOPE,
  },
  {
    name: 'a 403 that names a scope',
    upstream: () => rejecting('{"message":"scope monitor.read required"}', 403),
    says: SCOPE,
  },
  {
    name: 'a 403 that names a scope in its challenge',
    upstream: () =>
      rejecting('', 403, { 'WWW-Authenticate': 'Bearer error="insufficient_scope", scope="monitor.read"' }),
    says: { ...SCOPE, reported: /: Bearer error="insufficient_scope", scope="monitor\.read"$/ },
  },
  {
    name: 'an expired token, which was issued just before',
    upstream: () => rejecting('{"code":16,"message":"token is expired"}', 401),
    says: CLOCKS,
  },
  {
    name: 'a token that is not valid yet, in its challenge',
    upstream: () => rejecting('', 401, { 'WWW-Authenticate': 'Bearer error_description="token not valid yet"' }),
    says: CLOCKS,
  },
  {
    name: 'an expired token, which no token endpoint issues',
    upstream: async () => ({ ...(await service('token is expired', 401)), authorization: { credentials: 'hunter22' } }),
    says: { listing: 'failed: 401 Unauthorized', advice: /^Check whether they have expired/ },
  },
  {
    name: 'an invalid argument',
    upstream: () => recorded('error-page-size'),
    says: {
      what: 'It is the right service, but it rejects a parameter of the request (400).',
      reported: /: code 3, page\.size: value must be inside range: invalid ListRequest\.Page/,
      advice: /^Check page_size and the filters/,
    },
  },
  ...[
    '{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"page size"}}',
    '{"code":"invalid_argument","message":"page size"}',
  ].map((body) => ({
    name: `an invalid argument whose code is a name: ${body}`,
    upstream: () => service(body, 400),
    says: {
      what: 'It is the right service, but it rejects a parameter of the request (400).',
      reported: /: page size$/,
      advice: /^Check page_size and the filters/,
    },
  })),
  {
    name: 'another rejection by gRPC',
    upstream: () => service('{"code":9,"message":"station is being migrated"}', 400),
    says: { what: 'It is the right service, but it rejects the request (400).', advice: /^(?!.*base_url)/ },
  },
  {
    name: 'ABORTED',
    upstream: () => recorded('error-code-10'),
    says: {
      listing: 'failed: 409 Conflict',
      what: 'The service aborted the request (409).',
      advice: /^The exporter retries/,
    },
  },
  {
    name: 'CANCELLED',
    upstream: () => recorded('error-code-1'),
    says: { listing: 'failed: 499', what: 'The service aborted the request (499).', advice: /^The exporter retries/ },
  },
  {
    name: 'UNIMPLEMENTED',
    upstream: () => recorded('error-code-12'),
    says: { what: 'The server does not implement this listing (501).', advice: /does not retry\.$/ },
  },
  {
    name: 'a 421',
    upstream: () => service('', 421),
    says: {
      what: 'The server does not serve the host name of the request, HOST (421).',
      advice: /base_url: it is sent as Host.*server_name/,
    },
  },
  {
    name: 'a sign-in page',
    upstream: () => service(page('Sign in')),
    says: { reported: /^body: expected JSON, got an HTML or XML page \(\d+ bytes\): Sign in$/, advice: /sign-in page/ },
  },
  {
    name: 'a page of a firewall that repeats a secret',
    upstream: () => rejecting(page(`${'x'.repeat(95)}t0ken-12345`)),
    says: { reported: /bytes\): not shown, because it repeats a secret$/ },
  },
  {
    name: 'an empty reply',
    upstream: () => service('', 204),
    says: {
      listing: 'failed: empty reply',
      advice: /^(?!.*(browser|sign-in)).*a listing without resources is not empty/,
    },
  },
];

const authority = issue({ name: 'authority' });
const identity = issue({ name: 'service', issuer: authority, hosts: ['127.0.0.1'] });

/** The upstream of a server with TLS on this port. */
const secureOf = (port: number, more: object = {}) => ({
  base_url: `https://127.0.0.1:${port}`,
  tls_config: { ca_file: temporaryFile('ca.pem', authority.cert), ...more },
});

const HTTP2 = {
  listing: 'failed: HTTP/2 on this port',
  advice: 'Set base_url to a port with HTTP/1.1, such as that of the gateway, instead of the gRPC port.',
};

const SETTINGS_FRAME = Buffer.from([0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0x40, 0]);

const PROTOCOLS: readonly World[] = [
  {
    name: 'HTTP/2 without TLS',
    upstream: async () => ({ base_url: `http://127.0.0.1:${await listen(createHttp2Server())}` }),
    says: { ...HTTP2, reported: 'network: HOST: expected HTTP/1.1, got HTTP/2' },
  },
  {
    name: 'gRPC without TLS',
    upstream: async () => ({ base_url: (await startRawService((socket) => socket.end(SETTINGS_FRAME))).url.href }),
    says: { ...HTTP2, reported: 'network: HOST: expected HTTP/1.1, got HTTP/2' },
  },
  {
    name: 'HTTP/2 only, by ALPN',
    upstream: async () => secureOf(await listen(createTlsServer({ ...identity, ALPNProtocols: ['h2'] }))),
    says: { ...HTTP2, what: /because only HTTP\/1\.1 was offered \(ALPN\)/ },
  },
  {
    name: 'an older version of TLS',
    upstream: async () =>
      secureOf((await startService(replying(''), { ...identity, maxVersion: 'TLSv1.2' })).port, {
        min_version: 'TLS13',
      }),
    says: {
      listing: 'failed: TLS version refused',
      what: 'HOST uses none of the TLS versions that were offered: TLS13.',
    },
  },
  {
    name: 'a certificate that OpenSSL refuses',
    upstream: async () => {
      const weak = issue({ name: 'service', issuer: authority, hosts: ['127.0.0.1'], modulusLength: 768 });
      const tls = { ...weak, ciphers: 'ALL:@SECLEVEL=0', maxVersion: 'TLSv1.2' } as const;
      return secureOf((await startService(replying(''), tls)).port);
    },
    says: {
      listing: 'failed: certificate refused',
      what: 'OpenSSL refuses the certificate of HOST, or one of its issuers.',
      reported: 'tls: HOST: EE certificate key too weak',
      advice: /a short key/,
    },
  },
];

describe('check --live, a service that answers with', () => {
  it.each(REPLIES)('$name is explained', expectReport);
});

describe('check --live, a port with', () => {
  it.each(PROTOCOLS)('$name is explained', expectReport);
});

describe('check --live, a token endpoint that', () => {
  it.each(TOKEN_ENDPOINTS)('$name is named, with its key', expectReport);
});

describe('check --live, a proxy that', () => {
  it.each(PROXIES)('$name is named, with its key', expectReport);
});
