/** Path patterns of every endpoint except the configurable telemetry path. */
export const ROUTES = {
  status: '/',
  probe: '/probe',
  discovery: '/sd',
  search: '/search',
  changes: '/changes',
  coverage: '/coverage',
  config: '/config',
  favicon: '/favicon.ico',
  stations: '/stations',
  station: '/stations/:name',
  refreshes: '/stations/:name/refreshes',
  stationChanges: '/stations/:name/changes',
  resources: '/stations/:name/resources',
  resource: '/stations/:name/resources/:id',
  healthy: '/-/healthy',
  ready: '/-/ready',
  reload: '/-/reload',
  ownMetrics: '/-/metrics',
} as const;

/** Whether a path belongs to one of the endpoints, or may do so: those of stations and of the lifecycle have a common beginning. */
export function isEndpoint(path: string): boolean {
  return Object.values<string>(ROUTES).includes(path) || /^\/(?:stations|-)\//.test(path);
}

/** Relative to the root. */
export function stationPath(name: string, rest = ''): string {
  return `stations/${segmentEncoded(name)}${rest}`;
}

/** `name`: of a station, or undefined for the changes of all. `query`: the parameters that select changes. */
export function changesPath(name: string | undefined, query: Readonly<Record<string, string>> = {}): string {
  const parameters = new URLSearchParams(query).toString();
  const path = `${ROUTES.changes}${parameters === '' ? '' : `?${parameters}`}`;
  return name === undefined ? path.slice(1) : stationPath(name, path);
}

/** undefined for the ids `.` and `..`, which browsers resolve as path steps even when percent-encoded. */
export function resourcePath(name: string, id: string): string | undefined {
  return id === '.' || id === '..' ? undefined : stationPath(name, `/resources/${segmentEncoded(id)}`);
}

export function probePath(name: string): string {
  return `${ROUTES.probe.slice(1)}?${new URLSearchParams({ station: name })}`;
}

function segmentEncoded(segment: string): string {
  return encodeURIComponent(segment.toWellFormed());
}

/** The external URL's path without its trailing slash; '' for the root. */
export function pathPrefix(externalUrl: URL | undefined): string {
  return externalUrl === undefined ? '' : externalUrl.pathname.replace(/\/+$/, '');
}

/** A route pattern that matches the path literally. */
export function literalPath(path: string): string {
  return path.replace(/[{}()[\]+?!:*\\]/g, '\\$&');
}

/** The query of a request. */
export function searchParams({ url }: { readonly url: string }): URLSearchParams {
  return new URLSearchParams(url.split('?').slice(1).join('?'));
}
