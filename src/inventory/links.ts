import { RESOURCE_COLUMNS, type Resource } from '../model/resource.ts';
import type { StationSpec } from '../model/station-spec.ts';

/** A link to another tool, as URL templates with placeholders such as `{station}`. */
export interface LinkTemplate {
  readonly name: string;
  /** For the page of a station. */
  readonly station?: string;
  /** For the page of a resource. */
  readonly resource?: string;
}

export interface Link {
  readonly name: string;
  readonly url: string;
}

const STATION_VALUES = {
  station: ({ name }) => name,
  upstream: ({ upstream }) => upstream,
  subscription: ({ path }) => path.subscription,
  resource_group: ({ path }) => path.resourceGroup,
  zone: ({ path }) => path.zone,
  telemetry_station: ({ path }) => path.telemetryStation,
} as const satisfies Readonly<Record<string, (spec: StationSpec) => string>>;

/** The placeholders of each kind of template: those of a resource are the station's and the fields of the resource. */
export const LINK_PLACEHOLDERS: Readonly<Record<'station' | 'resource', readonly string[]>> = {
  station: Object.keys(STATION_VALUES),
  resource: [...Object.keys(STATION_VALUES), ...Object.keys(RESOURCE_COLUMNS)],
};

export function stationLinks(links: readonly LinkTemplate[], spec: StationSpec): readonly Link[] {
  return expanded(links, 'station', stationValues(spec));
}

export function resourceLinks(links: readonly LinkTemplate[], spec: StationSpec, resource: Resource): readonly Link[] {
  const columns = Object.entries(RESOURCE_COLUMNS).map(
    ([name, { value }]) => [name, `${value(resource) ?? ''}`] as const,
  );
  return expanded(links, 'resource', new Map([...stationValues(spec), ...columns]));
}

function stationValues(spec: StationSpec): ReadonlyMap<string, string> {
  return new Map(Object.entries(STATION_VALUES).map(([name, value]) => [name, value(spec)]));
}

function expanded(
  links: readonly LinkTemplate[],
  kind: 'station' | 'resource',
  values: ReadonlyMap<string, string>,
): readonly Link[] {
  return links.flatMap(({ name, [kind]: template }) => {
    if (template === undefined) return [];
    // The schema rejects unknown placeholders.
    return [{ name, url: template.replaceAll(/\{(\w+)\}/g, (_, key: string) => encoded(values.get(key) as string)) }];
  });
}

/** Also the characters that `encodeURIComponent` leaves, and that end a URL in text or in Markdown. */
function encoded(value: string): string {
  return encodeURIComponent(value.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
}
