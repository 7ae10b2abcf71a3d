import { generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { setTimeout as after } from 'node:timers/promises';
import { type ClientMetadata, Provider } from 'oidc-provider';
import { onTestFinished } from 'vitest';
import { replyWith } from '../../lab/simulator/faults.ts';
import { closedPort } from '../service/support/service.ts';
import type { SimulatedService } from '../simulator/simulated-service.ts';
import { startThrough } from './support/through.ts';
import { describeWorlds } from './support/worlds.ts';

const SCOPE = 'monitor.read';
const CLIENT_ID = 'exporter+1:% &=/~';
const CLIENT_SECRET = 's3cr3t+:%41 &=?"\\';
const LIFETIME_S = 600;

interface ProviderOptions {
  readonly method?: ClientMetadata['token_endpoint_auth_method'];
  readonly lifetimeS?: number;
}

/** oidc-provider, which issues JSON Web Tokens for the service. */
class Oidc {
  readonly #port: number;
  readonly #options: ProviderOptions;
  #publicKey: KeyObject | undefined;
  #server: Server | undefined;

  constructor(port: number, options: ProviderOptions) {
    this.#port = port;
    this.#options = options;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** With a key of its own: tokens issued before are no longer valid. */
  async start(): Promise<void> {
    const { method = 'client_secret_basic', lifetimeS = LIFETIME_S } = this.#options;
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    this.#publicKey = publicKey;
    const provider = new Provider(this.url, {
      jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256' }] },
      clients: [
        {
          client_id: CLIENT_ID,
          client_secret: CLIENT_SECRET,
          grant_types: ['client_credentials'],
          redirect_uris: [],
          response_types: [],
          token_endpoint_auth_method: method,
        },
      ],
      scopes: [SCOPE],
      features: {
        devInteractions: { enabled: false },
        clientCredentials: { enabled: true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => 'urn:service',
          getResourceServerInfo: () => ({
            scope: SCOPE,
            audience: 'service',
            accessTokenTTL: lifetimeS,
            accessTokenFormat: 'jwt',
          }),
        },
      },
    });
    this.#server = createServer(provider.callback()).listen(this.#port, '127.0.0.1');
    await new Promise((resolve) => this.#server?.once('listening', resolve));
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await this.#server?.[Symbol.asyncDispose]();
    this.#server = undefined;
  }

  /** What the service says of a request with this header; undefined: it is accepted. */
  problem(authorization = ''): { readonly status: number; readonly message: string } | undefined {
    const [, signed = '', payload = '', signature = ''] = /^Bearer ([^.]*\.([^.]*))\.(.*)$/.exec(authorization) ?? [];
    if (
      !this.#publicKey ||
      !verify('sha256', Buffer.from(signed), this.#publicKey, Buffer.from(signature, 'base64url'))
    )
      return { status: 401, message: 'the token has no valid signature' };
    const { exp, scope } = JSON.parse(Buffer.from(payload, 'base64url').toString());
    if (exp * 1000 < Date.now()) return { status: 401, message: 'token is expired' };
    return scope === SCOPE ? undefined : { status: 403, message: `scope ${SCOPE} required` };
  }
}

/** The exporter with oauth2, and a service that verifies each token. */
async function startWorld(options: ProviderOptions = {}, oauth2: (url: string) => object = () => ({})) {
  const oidc = new Oidc(await closedPort(), options);
  await oidc.start();
  onTestFinished(() => oidc.stop());
  const verified = async (service: SimulatedService) => {
    const isProblem = (status: number) => () =>
      oidc.problem(service.requests.at(-1)?.headers.authorization)?.status === status;
    const reply = (status: number, code: number, message: string) => ({
      ...replyWith(status, {}, JSON.stringify({ code, message })),
      when: isProblem(status),
    });
    service.setFaults('*', [reply(401, 16, 'the token is not valid'), reply(403, 7, `scope ${SCOPE} required`)]);
    return service.url;
  };
  const settings = {
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
    token_url: `${oidc.url}/token`,
    scopes: [SCOPE],
    ...oauth2(oidc.url),
  };
  return { oidc, ...(await startThrough(verified, { upstream: { oauth2: settings } })) };
}

const TRUE = { promise: 'no refresh is lost, and every number is true', publishes: /^true$/ };
const told = (what: string) => ({ promise: `down: auth, and ${what} is named`, publishes: /^(down: auth|told)$/ });

describeWorlds(
  'oidc-provider',
  [],
  [
    {
      world: 'client_secret_basic, special characters in id and secret',
      ...TRUE,
      run: async () => (await startWorld()).follow(3),
    },
    {
      world: 'client_secret_post',
      ...TRUE,
      run: async () => (await startWorld({ method: 'client_secret_post' })).follow(3),
    },
    {
      world: 'tokens of eleven seconds',
      ...TRUE,
      run: async () => (await startWorld({ lifetimeS: 11 })).follow(6, () => after(2200)),
    },
    {
      world: 'the keys are rotated',
      ...TRUE,
      run: async () => {
        const world = await startWorld();
        await world.oidc.stop();
        await world.oidc.start();
        return world.follow(3);
      },
    },
    {
      world: 'the provider is gone while the token is valid',
      ...TRUE,
      run: async () => {
        const world = await startWorld();
        await world.oidc.stop();
        return world.follow(3);
      },
    },
    {
      world: 'a wrong secret',
      ...told('the token endpoint'),
      run: async () =>
        (await startWorld({}, () => ({ client_secret: 'another secret' }))).told(/token endpoint 127.*client secret/),
    },
    {
      world: 'a token without the scope of the service',
      promise: 'down: forbidden, and oauth2.scopes is named',
      publishes: /^(down: forbidden|told)$/,
      run: async () => (await startWorld({}, () => ({ scopes: [] }))).told(/oauth2\.scopes/),
    },
    {
      world: 'token_url with a path that the provider does not know',
      ...told('oauth2.token_url'),
      run: async () => (await startWorld({}, (url) => ({ token_url: `${url}/oauth/token` }))).told(/oauth2\.token_url/),
    },
    {
      world: 'token_url of a port where nothing listens',
      ...told('oauth2.token_url'),
      run: async () => {
        const token_url = `http://127.0.0.1:${await closedPort()}/token`;
        return (await startWorld({}, () => ({ token_url }))).told(/oauth2\.token_url/);
      },
    },
    {
      world: 'token_url with a query',
      ...TRUE,
      run: async () => (await startWorld({}, (url) => ({ token_url: `${url}/token?tenant=a` }))).follow(3),
    },
  ],
);
