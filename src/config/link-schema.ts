import * as z from 'zod';
import { PATH_KEYS } from '../model/listing.ts';
import { RESOURCE_COLUMNS } from '../resources/fields.ts';
import { crossChecked } from '../schema/cross-check.ts';
import { nonEmptyText, optionalKey } from '../schema/scalar-schemas.ts';

const STATION_PLACEHOLDERS = ['station', 'upstream', ...PATH_KEYS];

/** The placeholders of each kind of template: those of a resource are the station's and the fields of the resource. */
export const LINK_PLACEHOLDERS: Readonly<Record<'station' | 'resource', readonly string[]>> = {
  station: STATION_PLACEHOLDERS,
  resource: [...STATION_PLACEHOLDERS, ...Object.keys(RESOURCE_COLUMNS)],
};

/** A link to another tool, as URL templates with placeholders such as `{station}`. */
const link = crossChecked(
  z.strictObject({
    name: nonEmptyText.describe('Text of the link.'),
    station: optionalKey(template('station'), 'URL of the link on the page of a station.'),
    resource: optionalKey(template('resource'), 'URL of the link on the page of a resource.'),
  }),
  function* ({ station, resource }) {
    if (station === undefined && resource === undefined)
      yield { path: [], message: 'expected station, resource or both, got neither' };
  },
);

export const links = z.array(link);

/** The host is fixed: no value of the service can choose the scheme or the host. */
function template(kind: keyof typeof LINK_PLACEHOLDERS) {
  return z
    .string({ error: 'a URL template' })
    .superRefine((input, context) => {
      const message = templateProblem(input, LINK_PLACEHOLDERS[kind]);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ title: 'URL template' });
}

const NOT_A_URL =
  'expected an http or https URL without user, with placeholders after the host only, such as https://host:8443/path?station={station}';

/** The placeholders are known. */
const FIXED_HOST = /^https?:\/\/[^/?#@{}\s\\]+(?:[/?#]\S*)?$/i;

function templateProblem(input: string, placeholders: readonly string[]): string | undefined {
  const known = placeholders.map((placeholder) => `{${placeholder}}`);
  const rest = known.reduce((text, placeholder) => text.replaceAll(placeholder, 'x'), input);
  const [wrong] = /\{[^{}]*\}|[{}]/.exec(rest) ?? [];
  if (wrong !== undefined)
    return `unknown placeholder ${wrong}, expected one of ${known.join(', ')}; write %7B and %7D for literal braces`;
  return URL.canParse(rest) && FIXED_HOST.test(input) ? undefined : NOT_A_URL;
}
