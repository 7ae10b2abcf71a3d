import { describe, expect, it } from 'vitest';
import { resolveStations } from '../../src/config/resolve.ts';
import type { StationSpec } from '../../src/station/station-spec.ts';
import { loaded, RID } from './fixtures.ts';

describe('resolveStations', () => {
  it('puts every default in its place', () => {
    const { config } = loaded(`upstreams: { main: { base_url: "http://h", refresh_timeout: 30s } }\nstations: [{ rid: ${RID} }]`);
    const specs: readonly StationSpec[] = resolveStations(config);
    expect(specs).toEqual([
      {
        name: 'ts',
        upstream: 'main',
        path: { subscription: 'sub', resourceGroup: 'rg', zone: 'z1', telemetryStation: 'ts' },
        filters: {},
        products: [],
        alertability: false,
        cache: { ttlMs: 60_000, maxStaleMs: 900_000, errorTtlMs: 10_000, refresh: 'scrape' },
        refreshTimeoutMs: 30_000,
        labels: {},
      },
    ]);
  });

  it('takes what the station says before the defaults', () => {
    const { config } = loaded(`
upstreams: { one: { base_url: "http://h" }, two: { base_url: "http://h" } }
cache: { ttl: 2m, max_stale: 1h, error_ttl: 3s, refresh: background }
stations:
  - name: prod
    upstream: two
    subscription: a
    resource_group: b
    zone: c
    telemetry_station: d
    filters:
      resource_ids: [i]
      resource_type: t
      resource_types: [u]
      product: p
      resource_display_name_prefix: web-
      enabled_alert: false
    products: [p]
    alertability: true
    cache: { ttl: 0.5s, error_ttl: 1s }
    labels: { team: storage }
`);
    expect(resolveStations(config)).toEqual([
      {
        name: 'prod',
        upstream: 'two',
        path: { subscription: 'a', resourceGroup: 'b', zone: 'c', telemetryStation: 'd' },
        filters: {
          resourceIds: ['i'],
          resourceType: 't',
          resourceTypes: ['u'],
          product: 'p',
          displayNamePrefix: 'web-',
          enabledAlert: false,
        },
        products: ['p'],
        alertability: true,
        cache: { ttlMs: 500, maxStaleMs: 3_600_000, errorTtlMs: 1000, refresh: 'background' },
        refreshTimeoutMs: 120_000,
        labels: { team: 'storage' },
      },
    ]);
  });

  it('leaves out a filter that is an empty list', () => {
    const { config } = loaded(
      `upstreams: { a: { base_url: "http://h" } }\nstations: [{ rid: ${RID}, filters: { resource_ids: [], product: p } }]`,
    );
    expect(resolveStations(config)[0]?.filters).toEqual({ product: 'p' });
  });
});
