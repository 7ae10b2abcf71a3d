import * as z from 'zod';
import { isObject } from '../model/values.ts';
import type { ConfigPath } from '../schema/config-path.ts';

/** The part of JSON Schema that describes keys, and by its title what a value is. */
export interface KeySchema {
  readonly title?: string;
  readonly items?: KeySchema;
  readonly properties?: Readonly<Record<string, KeySchema>>;
  readonly additionalProperties?: KeySchema | false;
}

export function keySchema(schema: z.ZodType): KeySchema {
  return z.toJSONSchema(schema, { io: 'input' }) as KeySchema;
}

export function schemaAt(schema: KeySchema, path: ConfigPath): KeySchema {
  return path.reduce<KeySchema>(schemaOf, schema);
}

export function knownKeys(schema: KeySchema, path: ConfigPath): readonly string[] {
  return Object.keys(schemaAt(schema, path).properties ?? {});
}

/** The schema of an entry or a value; one that knows nothing if there is none. */
function schemaOf({ items, properties, additionalProperties }: KeySchema, part: string | number): KeySchema {
  return items ?? properties?.[part] ?? (additionalProperties || {});
}

interface TitledValue {
  readonly title: string;
  readonly path: ConfigPath;
  readonly value: unknown;
}

/** The values in lists and mappings that have a title in the schema. */
export function* titledValues(schema: KeySchema, value: unknown, path: ConfigPath = []): Iterable<TitledValue> {
  const { title } = schema;
  if (title !== undefined) yield { title, path, value };
  else
    for (const [part, inner] of entriesOf(value)) yield* titledValues(schemaOf(schema, part), inner, [...path, part]);
}

function entriesOf(value: unknown): Iterable<[string | number, unknown]> {
  if (Array.isArray(value)) return value.entries();
  return isObject(value) ? Object.entries(value) : [];
}

/** A copy of lists and mappings in which the texts with one of the titles are replaced. */
export function replacedTexts<Value>(
  schema: KeySchema,
  value: Value,
  titles: readonly string[],
  replace: (text: string) => string,
): Value {
  const copyOf = (inner: unknown, at: KeySchema): unknown => {
    if (at.title !== undefined) return titles.includes(at.title) ? replace(`${inner}`) : inner;
    if (Array.isArray(inner)) return inner.map((entry, index) => copyOf(entry, schemaOf(at, index)));
    if (!isObject(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).map(([key, one]) => [key, copyOf(one, schemaOf(at, key))]));
  };
  return copyOf(value, schema) as Value;
}
