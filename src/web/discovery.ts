import { isIPv6 } from 'node:net';
import type { Request, Response } from 'express';
import ipaddr from 'ipaddr.js';
import type { StationSpec } from '../model/station-spec.ts';
import type { ExporterPort } from './port.ts';
import { send } from './respond.ts';
import { pathPrefix, ROUTES } from './routes.ts';

/** A target group of Prometheus HTTP service discovery. */
interface TargetGroup {
  readonly targets: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
}

/** Where Prometheus reaches the exporter. */
interface Endpoint {
  /** host:port */
  readonly target: string;
  readonly secure: boolean;
}

/** One target group per station, with its configuration as `__meta_*` labels; the series themselves carry the label `station`. */
export function serviceDiscovery(
  exporter: ExporterPort,
  externalUrl: URL | undefined,
): (request: Request, response: Response) => void {
  const prefix = pathPrefix(externalUrl);
  return (request, response) => {
    const endpoint = externalUrl === undefined ? requestEndpoint(request) : urlEndpoint(externalUrl);
    const groups = exporter.specs().map((spec) => targetGroup(spec, endpoint, prefix));
    send(response, 200, 'application/json', JSON.stringify(groups));
  };
}

function targetGroup(spec: StationSpec, { target, secure }: Endpoint, prefix: string): TargetGroup {
  return {
    targets: [target],
    labels: {
      ...(secure && { __scheme__: 'https' }),
      __metrics_path__: `${prefix}${ROUTES.probe}`,
      __param_station: spec.name,
      ...Object.fromEntries(metaLabels(spec).map(([name, value]) => [`__meta_telemetry_station_${name}`, value])),
    },
  };
}

/** For relabeling, for example to route by team or zone. */
function metaLabels({ name, upstream, path, labels }: StationSpec): readonly (readonly [string, string])[] {
  return [
    ['name', name],
    ...Object.entries(path),
    ['upstream', upstream],
    ...Object.entries(labels).map(([label, value]) => [`label_${label}`, value] as const),
  ];
}

function urlEndpoint({ protocol, hostname, port }: URL): Endpoint {
  const secure = protocol === 'https:';
  return { target: `${hostname}:${port || defaultPort(secure)}`, secure };
}

function requestEndpoint({ headers: { host }, secure, socket }: Request): Endpoint {
  return { target: hostTarget(host ?? '', secure) ?? socketTarget(socket.localAddress, socket.localPort), secure };
}

/** undefined unless the Host header is a valid host with an optional port. */
export function hostTarget(host: string, secure: boolean): string | undefined {
  const [, name = '', ipv6, port = defaultPort(secure)] = /^(\[([^\]]*)\]|[\w.-]+)(?::(\d{1,5}))?$/.exec(host) ?? [];
  if (name === '' || (ipv6 !== undefined && !isIPv6(ipv6)) || Number(port) === 0 || Number(port) > 65_535)
    return undefined;
  return `${name}:${port}`;
}

/** A dual-stack socket reports an IPv4 address as IPv4-mapped IPv6. */
export function socketTarget(address = '127.0.0.1', port = 0): string {
  const own = ipaddr.process(address).toString();
  return isIPv6(own) ? `[${own}]:${port}` : `${own}:${port}`;
}

function defaultPort(secure: boolean): string {
  return secure ? '443' : '80';
}
