import { describe, expect, it } from 'vitest';
import { recordLimits, upstreamOptions } from '../../src/app/wiring.ts';
import { configSchema } from '../../src/config/schema.ts';
import { configOf } from '../e2e/test-bed.ts';

const configured = (config: object) => configSchema.parse(config);

function optionsOf(upstream: object) {
  const { upstreams } = configured({ ...configOf('', ['a']), upstreams: { main: upstream } });
  return upstreamOptions('main', upstreams['main'] ?? expect.unreachable(), 'agent/1');
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
    const upstream = {
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
    expect(optionsOf(upstream)).toEqual({
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

  it('gives a password as text, also an empty one, or as its file', () => {
    const secretOf = (secret: object) => optionsOf({ base_url, basic_auth: { username: 'u', ...secret } }).auth?.secret;
    expect(secretOf({ password: '' })).toEqual({ text: '' });
    expect(secretOf({ password_file: '/password' })).toEqual({ file: '/password' });
  });
});

describe('recordLimits', () => {
  const MIB = 1024 * 1024;
  const limitsOf = (limits: object, heapBytes?: number) =>
    recordLimits(configured({ ...configOf('http://h', ['a']), limits }), 1, heapBytes);

  it('leaves at least 1,000 bytes of the heap for each record, whatever the heap', () => {
    for (const heapMib of [96, 256, 512, 4096, 16_384]) {
      const { records, records_per_station } = limitsOf({}, heapMib * MIB);
      expect((heapMib * MIB) / records).toBeGreaterThan(1000);
      expect(records_per_station).toBeLessThan(records);
    }
    expect(limitsOf({}, 259 * MIB)).toEqual({ records: 111_189, records_per_station: 83_392 });
    expect(limitsOf({}, 10 * MIB)).toEqual({ records: 1000, records_per_station: 750 });
    expect(limitsOf({}).records).toBeGreaterThan(1000);
  });

  it('leave room for the history of every station', () => {
    const { records } = recordLimits(configured(configOf('http://h', ['a'])), 1000, 560 * MIB);
    const historyBytes = 1000 * 128 * 1024;
    expect(records * 1400 + historyBytes).toBeLessThan(512 * MIB);
    expect(records).toBeGreaterThan(200_000);
  });

  it('are those of the configuration', () => {
    expect(limitsOf({ records: 400 }, MIB)).toEqual({ records: 400, records_per_station: 300 });
    expect(limitsOf({ records_per_station: 5 }, 259 * MIB)).toEqual({ records: 111_189, records_per_station: 5 });
  });
});
