import { describe, expect, it } from 'vitest';
import { configJsonSchema, type JsonSchema } from '../../scripts/reference/configuration.ts';

/** All nested schemas with their paths. */
function* walk(schema: JsonSchema, path = ''): Iterable<readonly [string, JsonSchema]> {
  yield [path, schema];
  for (const [key, inner] of Object.entries(schema.properties ?? {})) yield* walk(inner, `${path}.${key}`);
  if (schema.items) yield* walk(schema.items, `${path}[]`);
  if (schema.additionalProperties) yield* walk(schema.additionalProperties, `${path}.*`);
}

const schemas = [...walk(configJsonSchema())];

const propertyAt = (path: string) => new Map(schemas).get(path) as JsonSchema & Record<string, unknown>;

describe('configJsonSchema', () => {
  it('describes all keys', () => {
    const keys = schemas.filter(([path]) => /\.[a-z_0-9]+$/.test(path));
    expect(keys.length).toBeGreaterThan(60);
    expect(keys.filter(([, { description }]) => description === undefined).map(([path]) => path)).toEqual([]);
  });

  it('allows no unknown keys', () => {
    const mappings = schemas.filter(([, { properties }]) => properties !== undefined);
    expect(mappings.filter(([, { additionalProperties }]) => additionalProperties !== false)).toEqual([]);
  });

  it('shows defaults as written in the file', () => {
    expect(propertyAt('.upstreams.*.timeout').default).toBe('10s');
    expect(propertyAt('.upstreams.*.max_page_bytes').default).toBe('16MiB');
    expect(propertyAt('.cache').default).toEqual({});
  });

  it('requires keys without a default', () => {
    expect(configJsonSchema()).toMatchObject({
      required: ['upstreams'],
      anyOf: [{ required: ['stations'] }, { required: ['station_files'] }],
    });
    expect(propertyAt('.upstreams.*').required).toEqual(['base_url']);
  });

  it('recognizes paths by their key names', () => {
    const files = schemas.filter(([, { title }]) => title === 'file').map(([path]) => path);
    const named = schemas.map(([path]) => path).filter((path) => /_file$|\.files\[\]$/.test(path));
    expect(files).toEqual(named);
  });
});
