/** The way from the root to a station's page; undefined for a name that no path can hold, because browsers take it for a step. */
export function stationPath(name: string): string | undefined {
  return isStep(name) ? undefined : `stations/${encoded(name)}`;
}

/** And to the page of one of its resources. */
export function resourcePath(name: string, id: string): string | undefined {
  return isStep(name) || isStep(id) ? undefined : `stations/${encoded(name)}/resources/${encoded(id)}`;
}

export function probePath(name: string): string {
  return `probe?${new URLSearchParams({ station: name })}`;
}

function isStep(segment: string): boolean {
  return segment === '.' || segment === '..';
}

function encoded(segment: string): string {
  return encodeURIComponent(segment.toWellFormed());
}
