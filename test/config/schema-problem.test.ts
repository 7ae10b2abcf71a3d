import { describe, expect, it } from 'vitest';
import { configJsonSchema, type JsonSchema } from '../../scripts/reference/configuration.ts';
import { knownKeys } from '../../src/config/schema-problem.ts';

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

  it('accepts environment variables in durations and sizes', () => {
    const duration = JSON.stringify(propertyAt('.cache.ttl'));
    const durationPattern = new RegExp(JSON.parse(/"pattern":("(?:[^"\\]|\\.)*")/.exec(duration)?.[1] ?? '""'));
    const sizePattern = new RegExp(propertyAt('.upstreams.*.max_page_bytes')['pattern'] as string);
    expect(['1h30m', '250ms', '0.5s', '0', '$' + '{TTL}'].filter((text) => !durationPattern.test(text))).toEqual([]);
    expect(['', '1m1h', '10 s', '5'].filter((text) => durationPattern.test(text))).toEqual([]);
    expect(['16MiB', '1.5KB', '$' + '{SIZE}'].filter((text) => !sizePattern.test(text))).toEqual([]);
    expect(['', '16', '1 MB', 'MiB'].filter((text) => sizePattern.test(text))).toEqual([]);
  });

  it('recognizes paths by their key names', () => {
    const files = schemas.filter(([, { title }]) => title === 'file').map(([path]) => path);
    const named = schemas.map(([path]) => path).filter((path) => /_file$|\.files\[\]$/.test(path));
    expect(files).toEqual(named);
  });
});

describe('knownKeys', () => {
  it('returns the keys of nested mappings, also in lists and under free names', () => {
    expect(knownKeys(configJsonSchema(), [])).toEqual([
      'upstreams',
      'stations',
      'station_files',
      'cache',
      'metrics',
      'limits',
      'resource_labels',
      'links',
    ]);
    expect(knownKeys(configJsonSchema(), ['stations', 3, 'cache'])).toEqual(['ttl', 'max_stale', 'error_ttl']);
    expect(knownKeys(configJsonSchema(), ['upstreams', 'any', 'http_headers', 'X-Any'])).toEqual([
      'values',
      'secrets',
      'files',
    ]);
  });

  it('returns no keys where there is no mapping', () => {
    expect(knownKeys(configJsonSchema(), ['cache', 'nothing', 'there'])).toEqual([]);
  });
});
