import type { Request } from 'express';
import type { ResourceSpec } from '../resources/spec.ts';
import { requireNoParameters } from './data.ts';
import type { ExporterPort } from './port.ts';
import type { PageRenderer } from './request-limit.ts';
import { RequestError, send } from './respond.ts';
import { pathPrefix, ROUTES } from './routes.ts';

/** Prometheus HTTP service discovery: a target group per station; the series themselves carry the label `station`. */
export function serviceDiscovery(exporter: ExporterPort, externalUrl: URL | undefined): PageRenderer {
  const path = `${pathPrefix(externalUrl)}${ROUTES.probe}`;
  return (request, response) => {
    requireNoParameters(request);
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
function metaLabels({ name, upstream, path, labels }: ResourceSpec): Readonly<Record<string, string>> {
  const own = Object.entries(labels).map(([label, value]) => [`label_${label}`, value] as const);
  const all = [...Object.entries({ name, ...path, upstream }), ...own];
  return Object.fromEntries(all.map(([label, value]) => [`__meta_telemetry_station_${label}`, value]));
}

/** Where the client reaches the exporter. */
function requestUrl({ headers: { host = '' }, protocol }: Request): URL {
  const url = `${protocol}://${host}`;
  if (URL.canParse(url)) return new URL(url);
  throw new RequestError(400, 'Expected a Host header of a host and an optional port.\n');
}
