import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { renderConfig, resolveStations } from '../../src/config/resolve.ts';
import { StateMeanings } from '../../src/resources/alert-state.ts';
import { ResourceLabels } from '../../src/resources/resource-labels.ts';
import { loaded, RID } from './fixtures.ts';

describe('resolveStations', () => {
  it('prefers the settings of the station to the defaults', async () => {
    const { config } = await loaded(`
upstreams: { one: { base_url: "http://h" }, two: { base_url: "http://h" } }
cache: { ttl: 2m, max_stale: 1h, error_ttl: 3s, refresh: background }
metrics: { max_resources: 7, disabled: [telemetry_station_info] }
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
    products: [p, p]
    alertability: true
    products_ttl: 10m
    alertability_ttl: 1h30m
    cache: { ttl: 0.5s, error_ttl: 1s }
    metrics: { per_resource: false, max_firing_resources: 3, disabled: [telemetry_station_up] }
    labels: { team: storage }
`);
    expect(resolveStations(config)).toEqual([
      {
        name: 'prod',
        upstream: 'two',
        path: { subscription: 'a', resource_group: 'b', zone: 'c', telemetry_station: 'd' },
        filters: {
          resource_ids: ['i'],
          resource_type: 't',
          resource_types: ['u'],
          product: 'p',
          resource_display_name_prefix: 'web-',
          enabled_alert: false,
        },
        products: ['p'],
        alertability: true,
        productsTtlMs: 600_000,
        alertabilityTtlMs: 5_400_000,
        cache: { ttlMs: 500, maxStaleMs: 3_600_000, errorTtlMs: 1000, refresh: 'background' },
        metrics: {
          perResource: false,
          maxResources: 7,
          maxFiringResources: 3,
          disabled: new Set(['telemetry_station_up']),
        },
        refreshTimeoutMs: 120_000,
        labels: { team: 'storage' },
        resourceLabels: new ResourceLabels(),
        states: new StateMeanings(),
        labelValues: 1000,
        maxChanges: 1000,
      },
    ]);
  });

  it('takes the path from the resource ID, and omits a filter that is an empty list', async () => {
    const { config } = await loaded(
      `upstreams: { a: { base_url: "http://h" } }\nstations: [{ rid: ${RID}, filters: { resource_ids: [], product: p } }]`,
    );
    const [station] = resolveStations(config);
    expect(station?.path).toEqual({ subscription: 'sub', resource_group: 'rg', zone: 'z1', telemetry_station: 'ts' });
    expect(station?.filters).toEqual({ product: 'p' });
  });
});

describe('renderConfig', () => {
  it('shows the active configuration with all defaults and without secrets', async () => {
    const { config } = await loaded(`
upstreams:
  main:
    base_url: https://monitor.example.com/prefix
    timeout: 90s
    max_page_bytes: 1MB
    oauth2: { client_id: c, client_secret: hunter2, token_url: "https://t", endpoint_params: { key: hunter2 } }
    http_headers: { X-Key: { secrets: [hunter2], values: [plain], files: [key] } }
    proxy_url: http://user:hunter2@proxy:3128
stations:
  - rid: ${RID}
    cache: { ttl: 0 }
`);
    expect(parse(renderConfig(config))).toMatchObject({
      upstreams: {
        main: {
          timeout: '1m30s',
          refresh_timeout: '2m',
          page_size: 100,
          max_page_bytes: '1MB',
          oauth2: { client_secret: '<secret>', token_url: 'https://t/', endpoint_params: { key: '<secret>' } },
          http_headers: { 'X-Key': { values: ['plain'], secrets: ['<secret>'], files: ['conf/key'] } },
          proxy_url: 'http://<secret>@proxy:3128/',
        },
      },
      stations: [{ name: 'ts', upstream: 'main', rid: RID, cache: { ttl: '0s' } }],
      cache: { ttl: '1m', max_stale: '6h', refresh: 'scrape' },
      limits: { label_values: 1000 },
    });
    expect(renderConfig(config)).not.toContain('hunter2');
  });
});
