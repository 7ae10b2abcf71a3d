import type { Socket } from 'node:net';
import { type buildConnector, Client } from 'undici';
import { basicPair } from './basic.ts';
import { RequestFailure } from './request-failure.ts';
import { transportFailure } from './transport-failure.ts';

type Connector = buildConnector.connector;

interface ProxyOptions {
  readonly url: URL;
  /** Opens the connection to the proxy itself. */
  readonly toProxy: Connector;
  /** Speaks TLS with the service, over the tunnel's socket. */
  readonly throughTunnel: Connector;
  readonly timeoutMs: number;
}

/**
 * Connects through a tunnel that the proxy opens, for http services too: so the proxy is sent no request and no credential.
 * (undici's ProxyAgent settles its TLS settings once and for all, but certificate files change.)
 */
export function proxyConnector(proxy: ProxyOptions): Connector {
  return (target, callback) => {
    openTunnel(proxy, target).then(
      (socket) => {
        if (target.protocol === 'https:') proxy.throughTunnel({ ...target, httpSocket: socket }, callback);
        else callback(null, socket);
      },
      (error: Error) => callback(transportFailure(`proxy ${proxy.url.host}`, error), null),
    );
  };
}

async function openTunnel({ url, toProxy, timeoutMs }: ProxyOptions, target: buildConnector.Options): Promise<Socket> {
  const client = new Client(url.origin, { connect: toProxy, headersTimeout: timeoutMs });
  try {
    const authority = target.port === '' ? `${target.host}:${target.protocol === 'https:' ? 443 : 80}` : `${target.host}`;
    const { statusCode, socket } = await client.connect({ path: authority, headers: { host: authority, ...proxyCredentials(url) } });
    if (statusCode < 200 || statusCode > 299) {
      socket.destroy();
      throw new RequestFailure('network', `proxy ${url.host} answered ${statusCode} to CONNECT ${authority}`, { retryable: true });
    }
    // The socket has left the client, which hands over the very one that its connector made.
    return socket as Socket;
  } finally {
    client.destroy();
  }
}

function proxyCredentials({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  return { 'proxy-authorization': `Basic ${basicPair(decodeURIComponent(username), decodeURIComponent(password))}` };
}
