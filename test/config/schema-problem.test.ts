import { describe, expect, it } from 'vitest';
import { configJsonSchema } from '../../scripts/reference/configuration.ts';
import { knownKeys } from '../../src/config/schema-problem.ts';

describe('knownKeys', () => {
  it('returns the keys of nested mappings, also in lists and under free names', () => {
    expect(knownKeys(configJsonSchema(), [])).toEqual([
      'upstreams',
      'stations',
      'station_files',
      'cache',
      'metrics',
      'limits',
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
