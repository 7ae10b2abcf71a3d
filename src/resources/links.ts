import { PATH_KEYS } from '../model/listing.ts';
import { fieldsOf } from '../text/records.ts';
import { RESOURCE_COLUMNS, type Resource } from './fields.ts';
import type { ResourceSpec } from './spec.ts';

/** A link to another tool, as URL templates with placeholders such as `{station}`. */
export interface LinkTemplate {
  readonly name: string;
  /** The URL on the page of a station. */
  readonly station?: string;
  /** The URL on the page of a resource. */
  readonly resource?: string;
}

export interface Link {
  readonly name: string;
  readonly url: string;
}

const STATION_PLACEHOLDERS = ['station', 'upstream', ...PATH_KEYS];

/** The placeholders of each kind of template: those of a resource are the station's and the fields of the resource. */
export const LINK_PLACEHOLDERS: Readonly<Record<'station' | 'resource', readonly string[]>> = {
  station: STATION_PLACEHOLDERS,
  resource: [...STATION_PLACEHOLDERS, ...Object.keys(RESOURCE_COLUMNS)],
};

/** The links of a station, or of one of its resources. */
export function linksOf(
  links: readonly LinkTemplate[],
  { name: station, upstream, path }: ResourceSpec,
  resource?: Resource,
): readonly Link[] {
  const fields = resource && fieldsOf(RESOURCE_COLUMNS, resource);
  const values: Readonly<Record<string, unknown>> = { station, upstream, ...path, ...fields };
  // The schema rejects unknown placeholders.
  const expanded = (_: string, placeholder: string) => linkEncoded(`${values[placeholder] ?? ''}`);
  return links.flatMap((link) => {
    const template = resource ? link.resource : link.station;
    return template === undefined ? [] : [{ name: link.name, url: template.replaceAll(/\{(\w+)\}/g, expanded) }];
  });
}

/** Also the characters that `encodeURIComponent` leaves, and that end a URL in text or in Markdown. */
function linkEncoded(value: string): string {
  return encodeURIComponent(value.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
}
