import { describe, expect, it } from 'vitest';
import { renderConfig } from '../../src/config/resolve.ts';
import { loaded, problemsOf, RID, upstreamWith } from './fixtures.ts';

describe('renderConfig', () => {
  it('shows the configuration in force with every default, and no secret', () => {
    const { config } = loaded(`
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
    expect(renderConfig(config)).toBe(`upstreams:
  main:
    base_url: https://monitor.example.com/prefix
    timeout: 1m30s
    refresh_timeout: 2m
    concurrency: 8
    requests_per_second: 0
    max_retries: 2
    page_size: 100
    max_page_bytes: 1MB
    list_style: repeat
    oauth2:
      client_id: c
      client_secret: <secret>
      token_url: https://t/
      scopes: []
      endpoint_params:
        key: <secret>
    http_headers:
      X-Key:
        values:
          - plain
        secrets:
          - <secret>
        files:
          - conf/key
    proxy_url: http://user:<secret>@proxy:3128/
stations:
  - name: ts
    upstream: main
    rid: ${RID}
    filters: {}
    products: []
    alertability: false
    cache:
      ttl: 0s
    labels: {}
cache:
  ttl: 1m
  max_stale: 15m
  error_ttl: 10s
  refresh: scrape
metrics:
  per_resource: true
  max_resources: 100000
  disabled: []
`);
  });

  it.each([
    'authorization: { credentials: hunter2 }',
    'basic_auth: { username: u, password: hunter2 }',
    'hmac: { access_key_id: a, secret_access_key: hunter2 }',
    'proxy_url: http://:hunter2@proxy',
  ])('hides the secret of %s', (line) => {
    const text = renderConfig(loaded(upstreamWith(line)).config);
    expect(text).toContain('<secret>');
    expect(text).not.toContain('hunter2');
  });

  it.each([
    'authorization: { credentials_file: /f }',
    'basic_auth: { username: u, password_file: /f }',
    'hmac: { access_key_id: a, secret_access_key_file: /f }',
    'oauth2: { client_id: c, client_secret_file: /f, token_url: "http://t" }',
    'http_headers: { X: { files: [/f] } }',
    'tls_config: { ca_file: /f }',
  ])('shows the file of %s and no secret that is not there', (line) => {
    const text = renderConfig(loaded(upstreamWith(line)).config);
    expect(text).toContain('/f\n');
    expect(text).not.toContain('<secret>');
  });

  it('shows a proxy without a password as it is', () => {
    expect(renderConfig(loaded(upstreamWith('proxy_url: http://user@proxy:3128')).config)).toContain(
      'proxy_url: http://user@proxy:3128/\n',
    );
  });

  it('shows what can be loaded again', () => {
    const text = renderConfig(loaded(upstreamWith('authorization: { credentials: hunter2 }', 'timeout: 1s250ms')).config);
    expect(problemsOf(text)).toEqual([]);
    expect(renderConfig(loaded(text).config)).toBe(text);
  });
});
