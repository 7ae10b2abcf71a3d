import * as z from 'zod';
import { crossChecked, given } from '../schema/cross-check.ts';
import { anyCase, editorPattern, nonEmptyText, optionalKey } from '../schema/scalar-schemas.ts';
import { LINK_PLACEHOLDERS } from './links.ts';

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
).meta({ anyOf: [given('station'), given('resource')] });

export const links = z.array(link);

/** The host is fixed: no value of the service can choose the scheme or the host. */
function template(kind: keyof typeof LINK_PLACEHOLDERS) {
  return z
    .string({ error: 'a URL template' })
    .superRefine((input, context) => {
      const message = templateProblem(input, LINK_PLACEHOLDERS[kind]);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ title: 'URL template', pattern: editorPattern(templatePattern(LINK_PLACEHOLDERS[kind])) });
}

const NOT_A_URL =
  'expected an http or https URL without user, with placeholders after the host only, such as https://host:8443/path?station={station}';

function templatePattern(placeholders: readonly string[]): string {
  return `^${anyCase('http')}[sS]?://[^/?#@{}\\s\\\\]+(?:[/?#](?:[^{}\\s]|\\{(?:${placeholders.join('|')})\\})*)?$`;
}

function templateProblem(input: string, placeholders: readonly string[]): string | undefined {
  const known = placeholders.map((placeholder) => `{${placeholder}}`);
  const rest = known.reduce((text, placeholder) => text.replaceAll(placeholder, 'x'), input);
  const [wrong] = /\{[^{}]*\}|[{}]/.exec(rest) ?? [];
  if (wrong !== undefined)
    return `unknown placeholder ${wrong}, expected one of ${known.join(', ')}; write %7B and %7D for literal braces`;
  return URL.canParse(rest) && new RegExp(templatePattern(placeholders)).test(input) ? undefined : NOT_A_URL;
}
