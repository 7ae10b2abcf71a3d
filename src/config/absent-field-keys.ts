import * as z from 'zod';
import { INVALID } from '../model/values.ts';
import { ABSENT_FIELDS } from '../resources/fields.ts';
import { optionalKey } from '../schema/scalar-schemas.ts';

const values = ABSENT_FIELDS.map(({ wire, read, ifAbsent }) => {
  const error = { error: `${ifAbsent}` };
  const value = z
    .union([z.string().min(1, error), z.number()], error)
    .refine((given) => read(given) !== INVALID, { error: `expected ${ifAbsent}` })
    .meta({ title: 'string or number' });
  return [wire, optionalKey(value, `The value of \`${wire}\` in records that lack it.`)] as const;
});

/** The key of an upstream that says what it means when records lack a field. */
export const absentFieldKeys = {
  absent_fields: z
    .strictObject(Object.fromEntries(values))
    .prefault({})
    .describe(
      'Values of fields that the service leaves out, as gateways do with zeros, such as `{ alert_rules_count: 0 }`. Without one, they are unknown; null always is.',
    ),
};
