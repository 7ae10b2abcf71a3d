import { describe, expect, it } from 'vitest';
import { upstreamOptions } from '../../src/service/upstream-options.ts';
import { upstream } from '../../src/service/upstream-schema.ts';

function optionsOf(config: object, env = {}) {
  return upstreamOptions('main', upstream.parse(config), 'agent/1', env);
}

const base_url = 'https://monitor.example.com/prefix';

describe('upstreamOptions', () => {
  it('maps every limit, the TLS settings and the proxy, and makes one header of each value, secret and file', () => {
    const tls_config = {
      ca_file: '/ca',
      cert_file: '/cert',
      key_file: '/key',
      server_name: 'name',
      insecure_skip_verify: true,
      min_version: 'TLS13',
    };
    const config = {
      base_url,
      timeout: '1500ms',
      concurrency: 3,
      requests_per_second: 0.5,
      max_retries: 0,
      page_size: 7,
      max_page_bytes: '2KiB',
      list_style: 'comma',
      http_headers: { 'X-A': { values: ['1', '2'], secrets: ['3'], files: ['/run/4'] }, 'X-B': { values: ['5'] } },
      tls_config,
      proxy_url: 'http://u:p@proxy:3128',
    };
    expect(optionsOf(config)).toEqual({
      name: 'main',
      baseUrl: new URL(base_url),
      timeoutMs: 1500,
      concurrency: 3,
      requestsPerSecond: 0.5,
      maxRetries: 0,
      pageSize: 7,
      maxPageBytes: 2048,
      listStyle: 'comma',
      headers: [
        { name: 'X-A', value: '1' },
        { name: 'X-A', value: '2' },
        { name: 'X-A', value: { text: '3' } },
        { name: 'X-A', value: { file: '/run/4' } },
        { name: 'X-B', value: '5' },
      ],
      tls: tls_config,
      proxyUrl: new URL('http://u:p@proxy:3128'),
      userAgent: 'agent/1',
    });
    expect(optionsOf({ base_url, tls_config: {} }).tls).toEqual({ insecure_skip_verify: false });
  });

  it('uses the proxy of the environment if that is configured, and otherwise names its variable', () => {
    const env = { HTTPS_PROXY: 'http://u:p@proxy:3128' };
    const used = { proxyUrl: new URL('http://u:p@proxy:3128'), unusedProxy: undefined };
    expect(optionsOf({ base_url, proxy_from_environment: true }, env)).toMatchObject(used);
    expect(optionsOf({ base_url }, env)).toMatchObject({ proxyUrl: undefined, unusedProxy: 'HTTPS_PROXY' });
    expect(optionsOf({ base_url, proxy_url: 'http://other' }, env)).toMatchObject({ unusedProxy: undefined });
    expect(optionsOf({ base_url, proxy_from_environment: true }, { ...env, NO_PROXY: 'example.com' })).toMatchObject({
      proxyUrl: undefined,
    });
  });
});
