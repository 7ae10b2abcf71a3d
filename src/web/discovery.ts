import { isIPv6 } from 'node:net';
import type { Request, RequestHandler } from 'express';
import type { ExporterPort } from './port.ts';
import { send } from './respond.ts';
import { pathPrefix, ROUTES } from './routes.ts';

/** One group of Prometheus' HTTP service discovery. */
interface TargetGroup {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** Where Prometheus reaches the exporter. */
interface Origin {
  /** host:port */
  readonly target: string;
  readonly secure: boolean;
}

/** The exporter as scrape targets, one per station; the series themselves carry the label `station`. */
export function serviceDiscovery(exporter: ExporterPort, externalUrl: URL | undefined): RequestHandler {
  const prefix = pathPrefix(externalUrl);
  return (request, response) => {
    const origin = externalUrl === undefined ? requestOrigin(request) : urlOrigin(externalUrl);
    const groups = exporter.names().map((name) => targetGroup(name, origin, prefix));
    send(response, 200, 'application/json', JSON.stringify(groups));
  };
}

function targetGroup(station: string, { target, secure }: Origin, prefix: string): TargetGroup {
  return {
    targets: [target],
    labels: {
      ...(secure && { __scheme__: 'https' }),
      __metrics_path__: `${prefix}${ROUTES.probe}`,
      __param_station: station,
    },
  };
}

function urlOrigin({ protocol, hostname, port }: URL): Origin {
  const secure = protocol === 'https:';
  return { target: `${hostname}:${port || defaultPort(secure)}`, secure };
}

function requestOrigin({ headers: { host }, secure, socket }: Request): Origin {
  return { target: hostTarget(host ?? '', secure) ?? socketTarget(socket.localAddress, socket.localPort), secure };
}

/** undefined when the Host header could not name a host and a port. */
export function hostTarget(host: string, secure: boolean): string | undefined {
  const [, name = '', ipv6, port = defaultPort(secure)] = /^(\[([^\]]*)\]|[\w.-]+)(?::(\d{1,5}))?$/.exec(host) ?? [];
  if (name === '' || (ipv6 !== undefined && !isIPv6(ipv6)) || Number(port) === 0 || Number(port) > 65_535) return undefined;
  return `${name}:${port}`;
}

/** A dual-stack socket calls an IPv4 address by its IPv6 name. */
export function socketTarget(address = '', port = 0): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/, '');
  return isIPv6(plain) ? `[${plain}]:${port}` : `${plain}:${port}`;
}

function defaultPort(secure: boolean): string {
  return secure ? '443' : '80';
}
