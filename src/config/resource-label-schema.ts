import * as z from 'zod';
import { OWN_FAMILIES } from '../exposition/own-families.ts';
import { PARAMETERS } from '../query/parameters.ts';
import { STATION_FAMILIES } from '../resources/families.ts';
import { RESOURCE_COLUMNS } from '../resources/fields.ts';
import { crossChecked } from '../schema/cross-check.ts';
import { ALERTING_LABELS, labelName } from '../schema/label-name.ts';
import { codecOf, type Fail, optionalKey } from '../schema/scalar-schemas.ts';
import { AnchoredRegExp } from '../text/anchored-regexp.ts';
import { quoted } from '../text/quoted.ts';

/** Labels of families, and names of columns and of parameters of URLs, which label names are too. */
const RESERVED_LABELS = new Set([
  ...Object.values({ ...STATION_FAMILIES, ...OWN_FAMILIES }).flatMap(({ labels }) => labels),
  ...Object.keys(RESOURCE_COLUMNS),
  ...Object.keys(PARAMETERS),
  'format',
  ...ALERTING_LABELS,
  // Prometheus gives them a meaning.
  'le',
  'quantile',
  // Every object has these properties.
  ...Object.getOwnPropertyNames(Object.prototype).filter((name) => !name.startsWith('__')),
]);

const expression = codecOf(
  z.string().meta({ title: 'regular expression' }),
  z.instanceof(AnchoredRegExp),
  parseExpression,
  // zod also encodes an absent key.
  (value) => value?.source,
);

const match = z.strictObject({
  station: optionalKey(expression, 'Name of the station.'),
  resource_type: optionalKey(expression, 'Type of the resource, as the service sends it.'),
  product: optionalKey(expression, 'Product of the resource; needs `products`.'),
  name: optionalKey(expression, 'Name of the resource.'),
  display_name: optionalKey(expression, 'Display name of the resource.'),
  resource_id: optionalKey(expression, 'ID of the resource.'),
});

const entry = crossChecked(
  z.strictObject({
    match: match
      .prefault({})
      .describe(
        'Regular expressions (RE2 syntax, as in Prometheus), each of which must match the whole text; without any, all resources match.',
      ),
    labels: optionalKey(
      z.record(
        labelName(RESERVED_LABELS, (name) =>
          ALERTING_LABELS.includes(name)
            ? 'Prometheus or the alert rules set or remove this label'
            : 'the exporter already uses this name',
        ),
        z.string(),
      ),
      'Labels of the resources that match; each name multiplies the series of aggregates by its values.',
    ),
    alertable: optionalKey(
      z.boolean(),
      '`false` exempts the resources that match: they need no alert rules. With `true` they are not exempt, although an entry below may exempt them.',
    ),
  }),
  function* ({ labels, alertable }) {
    if (labels === undefined && alertable === undefined)
      yield { path: ['labels'], message: 'missing, expected a mapping of labels, or alertable: false' };
  },
);

export const resourceLabels = z.array(entry);

function parseExpression(source: string, fail: Fail): AnchoredRegExp {
  try {
    return new AnchoredRegExp(source);
  } catch (error) {
    const reason = String(error).replaceAll(/^.*regexp: |: `.*$/gs, '');
    return fail(`expected a regular expression in the syntax of RE2, got ${quoted(source)}: ${reason}`);
  }
}
