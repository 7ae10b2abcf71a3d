import { RESOURCE_COLUMNS, type Resource } from '../resources/fields.ts';
import type { ResourceSpec } from '../resources/spec.ts';
import type { LinkTemplate } from '../status/station-status.ts';
import { fieldsOf } from '../text/records.ts';

export interface Link {
  readonly name: string;
  readonly url: string;
}

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
