import { describe, expect, it } from 'vitest';
import { configOf } from '../e2e/test-bed.ts';
import { startProxy } from '../service/support/proxy.ts';
import { closedPort, replying, startRawService, startService } from '../service/support/service.ts';
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
    name: 'returns a sign-in page',
    upstream: () => tokenEndpoint(SIGN_IN),
    says: {
      listing: 'failed: token endpoint: no access token',
      what: 'The token endpoint HOST returned no access token.',
      reported: /^auth: /,
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

describe('check --live, a token endpoint that', () => {
  it.each(TOKEN_ENDPOINTS)('$name is named, with its key', expectReport);
});

describe('check --live, a proxy that', () => {
  it.each(PROXIES)('$name is named, with its key', expectReport);
});
