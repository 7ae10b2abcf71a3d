import { isIPv6 } from 'node:net';
import type { Request } from 'express';
import ipaddr from 'ipaddr.js';
import type { StationSpec } from '../model/station-spec.ts';
import type { ExporterPort } from './port.ts';
import type { AbortableHandler } from './request-limit.ts';
import { send } from './respond.ts';
import { pathPrefix, ROUTES } from './routes.ts';

/** Where Prometheus reaches the exporter. */
interface Endpoint {
  /** host:port */
  readonly target: string;
  readonly secure: boolean;
}

/** Prometheus HTTP service discovery: a target group per station; the series themselves carry the label `station`. */
export function serviceDiscovery(exporter: ExporterPort, externalUrl: URL | undefined): AbortableHandler {
  const path = `${pathPrefix(externalUrl)}${ROUTES.probe}`;
  return (request, response) => {
    const { target, secure } = externalUrl === undefined ? requestEndpoint(request) : urlEndpoint(externalUrl);
    const scheme = secure && { __scheme__: 'https' };
    const groups = exporter.specs().map((spec) => ({
      targets: [target],
      labels: { ...scheme, __metrics_path__: path, __param_station: spec.name, ...metaLabels(spec) },
    }));
    send(response, 200, 'application/json', JSON.stringify(groups));
  };
}

/** The configuration of a station, for relabeling, for example to route by team or zone. */
function metaLabels({ name, upstream, path, labels }: StationSpec): Readonly<Record<string, string>> {
  const own = Object.entries(labels).map(([label, value]) => [`label_${label}`, value] as const);
  const all = [...Object.entries({ name, ...path, upstream }), ...own];
  return Object.fromEntries(all.map(([label, value]) => [`__meta_telemetry_station_${label}`, value]));
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
  const [, name, port = defaultPort(secure)] = /^(\[[\da-f:.]+\]|[\w.-]+)(?::([1-9]\d*))?$/i.exec(host) ?? [];
  return name !== undefined && URL.canParse(`http://${host}`) ? `${name}:${port}` : undefined;
}

/** A dual-stack socket reports an IPv4 address as IPv4-mapped IPv6. */
export function socketTarget(address = '127.0.0.1', port = 0): string {
  const own = ipaddr.process(address).toString();
  return isIPv6(own) ? `[${own}]:${port}` : `${own}:${port}`;
}

function defaultPort(secure: boolean): string {
  return secure ? '443' : '80';
}
