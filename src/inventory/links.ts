import { PATH_KEYS } from '../model/listing.ts';
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

const STATION_PLACEHOLDERS = ['station', 'upstream', ...PATH_KEYS] as const;

/** The placeholders of each kind of template: those of a resource are the station's and the fields of the resource. */
export const LINK_PLACEHOLDERS: Readonly<Record<'station' | 'resource', readonly string[]>> = {
  station: STATION_PLACEHOLDERS,
  resource: [...STATION_PLACEHOLDERS, ...Object.keys(RESOURCE_COLUMNS)],
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

function stationValues({ name, upstream, path }: StationSpec): ReadonlyMap<string, string> {
  const values: Readonly<Record<(typeof STATION_PLACEHOLDERS)[number], string>> = { station: name, upstream, ...path };
  return new Map(Object.entries(values));
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
