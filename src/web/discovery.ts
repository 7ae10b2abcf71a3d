import { isIPv6 } from 'node:net';
import type { Request } from 'express';
import ipaddr from 'ipaddr.js';
import type { StationSpec } from '../model/station-spec.ts';
import type { ExporterPort } from './port.ts';
import { hostUrl } from './request-checks.ts';
import type { PageRenderer } from './request-limit.ts';
import { send } from './respond.ts';
import { pathPrefix, ROUTES } from './routes.ts';

/** Prometheus HTTP service discovery: a target group per station; the series themselves carry the label `station`. */
export function serviceDiscovery(exporter: ExporterPort, externalUrl: URL | undefined): PageRenderer {
  const path = `${pathPrefix(externalUrl)}${ROUTES.probe}`;
  return (request, response) => {
    const { protocol, hostname, port } = externalUrl ?? requestUrl(request);
    const isSecure = protocol === 'https:';
    const target = `${hostname}:${port || (isSecure ? 443 : 80)}`;
    const schemeLabel = isSecure ? { __scheme__: 'https' } : {};
    const groups = exporter.specs().map((spec) => ({
      targets: [target],
      labels: { ...schemeLabel, __metrics_path__: path, __param_station: spec.name, ...metaLabels(spec) },
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

/** Where the client reaches the exporter: at the address of the socket without a valid Host header. */
function requestUrl({
  headers: { host = '' },
  protocol,
  socket,
}: Request): Pick<URL, 'protocol' | 'hostname' | 'port'> {
  const url = hostUrl(host, protocol);
  if (url && url.port !== '0') return url;
  // Not a URL, which has no notation for the zone of a link-local address.
  return { protocol: `${protocol}:`, hostname: socketHost(socket.localAddress), port: `${socket.localPort}` };
}

/** A dual-stack socket reports an IPv4 address as IPv4-mapped IPv6. */
export function socketHost(address = '127.0.0.1'): string {
  const own = ipaddr.process(address).toString();
  return isIPv6(own) ? `[${own}]` : own;
}
