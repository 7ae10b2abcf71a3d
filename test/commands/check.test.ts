import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { AuthCheck } from '../../src/simulator/auth.ts';
import { type Fault, NAMED_FAULTS } from '../../src/simulator/faults.ts';
import type { ServiceOptions } from '../../src/simulator/service.ts';
import { run } from '../e2e/running-program.ts';
import { configOf, entriesOf, startExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { valuesOf } from '../metrics/parse-exposition.ts';
import { issue } from '../upstream/support/certificates.ts';
import { temporaryFile } from '../upstream/support/files.ts';
import { startProxy } from '../upstream/support/proxy.ts';
import { closedPort, listen } from '../upstream/support/service.ts';
import { checkLive } from './check-live.ts';

const YEAR_MS = 365 * 86_400_000;
const inAYear = () => new Date(Date.now() + YEAR_MS);

const authority = issue({ name: 'Our Authority', notAfter: inAYear() });
const caFile = () => temporaryFile('ca.pem', authority.cert);
const certificate = (hosts: readonly string[], notAfter = inAYear()) =>
  issue({ name: 'service', issuer: authority, hosts, notAfter });

const startService = (options: ServiceOptions = {}) => startTestService({ source: () => entriesOf(25), ...options });

const startFaulty = (...faults: readonly Fault[]) => startService({ faults: { '*': faults } });

describe('check --live, without failures', () => {
  it('prints a table of upstreams and one of stations, and exits with 0', async () => {
    const { url } = await startService();
    const { code, stdout, stderr, cell } = await checkLive(configOf(url, ['a', 'b'], { cache: { ttl: '60s' } }));
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^warning: \S+:3:5: upstreams\.main: no credentials are configured, expected one of authorization, .*\n$/,
    );
    expect(stdout).toMatch(/^\S+ is valid, stations: 2\n\nUPSTREAM /);
    expect(cell('main', 'SERVICE')).toBe(new URL(url).host);
    expect(cell('main', 'DNS')).toBe('not needed');
    expect(cell('main', 'CONNECTION')).toMatch(/^in \d+ ms$/);
    expect(cell('main', 'TLS')).toBe('none (plain HTTP)');
    expect(cell('main', 'CLOCK')).toBe('in sync');
    expect(cell('a', 'AUTHENTICATION')).toBe('not required');
    expect(cell('a', 'PERMISSION')).toBe('granted');
    expect(cell('a', 'FIRST PAGE')).toMatch(/^\d+ ms$/);
    expect(cell('a', 'TOTAL')).toBe('25');
    expect(cell('a', 'RESOURCES')).toBe('25');
    expect(cell('a', 'LISTING')).toBe('complete');
    expect(cell('a', 'REQUESTS')).toBe('180/h');
    expect(cell('all', 'RESOURCES')).toBe('50');
    expect(cell('all', 'REQUESTS')).toBe('360/h');
    expect(stdout).toMatch(
      /\ncapacity: upstream main: Refreshing once per ttl needs 0\.1 requests\/s, and [\d.,]+ are possible: [\d.,]+ % of the capacity\.\n/,
    );
    expect(stdout).toMatch(/\nstations: 2, ok: 2, failed: 0, warnings: 1\n$/);
  });

  it('prints the series and bytes that the exporter will publish', async () => {
    const { url } = await startService();
    const config = configOf(url, ['a', 'b'], { cache: { ttl: '1h' } });
    const { cell } = await checkLive(config);
    const exporter = await startExporter(config);
    const metrics = await exporter.scrape();
    const probe = await (await exporter.get('/probe?station=a')).text();
    await exporter.stop();
    const series = valuesOf(metrics, 'telemetry_station_exporter_series', 'station');
    expect(cell('a', 'SERIES')).toBe(`${series['a']}`);
    expect(cell('all', 'SERIES')).toBe(`${Number(series['a']) + Number(series['b'])}`);
    // The number of digits of the refresh duration varies.
    expect(Math.abs(Number(cell('a', 'BYTES')) - probe.length)).toBeLessThan(20);
    expect(Number(cell('a', 'GZIP'))).toBeLessThan(Number(cell('a', 'BYTES')));
    expect(Number(cell('all', 'BYTES'))).toBeLessThan(2 * Number(cell('a', 'BYTES')));
  });

  it('counts the requests of all listings, per scrape with a ttl of 0', async () => {
    const { url } = await startService();
    const config = configOf(url, ['a'], { station: { products: ['p', 'q'], alertability: true } });
    const { cell, stdout } = await checkLive(config);
    expect(cell('a', 'REQUESTS')).toBe('6/scrape');
    expect(stdout).toContain('With a ttl of 0, every scrape refreshes the station.');
    expect(stdout).not.toContain('in the background');
  });

  it('prints none when the service reports no total', async () => {
    const { url } = await startFaulty({ kind: 'totalIs', total: undefined });
    const { code, cell } = await checkLive(configOf(url, ['a']));
    expect(code).toBe(0);
    expect(cell('a', 'TOTAL')).toBe('none');
    expect(cell('a', 'LISTING')).toBe('complete');
  });

  it('notes that refreshes run in the background', async () => {
    const { url } = await startService();
    const { stdout } = await checkLive(
      configOf(url, ['a'], { cache: { refresh: 'background', ttl: '60s', error_ttl: '10s' } }),
    );
    expect(stdout).toContain('Refreshes run in the background');
    expect(stdout).not.toContain('A scrape refreshes');
  });

  it('queries only the stations of its shard and the upstreams they use', async () => {
    const service = await startService();
    const config = configOf(service.url, ['a', 'b', 'c', 'd']);
    const { stdout } = await checkLive(
      {
        ...config,
        upstreams: { ...config.upstreams, idle: { base_url: 'http://127.0.0.1:1' } },
        stations: config.stations.map((station) => ({ ...station, upstream: 'main' })),
      },
      '--shard=0',
      '--total-shards=2',
    );
    const requested = new Set(service.requests.map(({ station }) => station));
    expect(requested.size).toBeGreaterThan(0);
    expect(requested.size).toBeLessThan(4);
    expect(stdout).toContain(`\nstations: ${requested.size}, ok: ${requested.size}, `);
    expect(stdout).not.toContain('idle');
  });

  it('prints that the shard has no station', async () => {
    const service = await startService();
    const config = configOf(service.url, ['a']);
    const outputs = await Promise.all([0, 1].map((shard) => checkLive(config, `--shard=${shard}`, '--total-shards=2')));
    expect(outputs.map(({ code }) => code)).toEqual([0, 0]);
    expect(
      outputs.filter(({ stdout }) => stdout.endsWith('No station belongs to this shard: no request was sent.\n')),
    ).toHaveLength(1);
  });

  it('prints the certificate, and warns before it expires', async () => {
    const tls = certificate(['127.0.0.1'], new Date(Date.now() + 3.5 * 86_400_000));
    const { url } = await startService({ tls });
    const { code, cell, stdout } = await checkLive(
      configOf(url, ['a'], { upstream: { tls_config: { ca_file: caFile() } } }),
    );
    expect(code).toBe(0);
    expect(cell('main', 'TLS')).toBe('TLSv1.3, 3 days left, issued by Our Authority');
    expect(stdout).toMatch(
      /\nwarning: upstream main: The certificate of 127\.0\.0\.1:\d+ expires on \d{4}-\d\d-\d\d\.\n {2}what to do: /,
    );
    expect(stdout).toContain('failed: 0, warnings: 2\n');
  });

  it('warns of insecure_skip_verify', async () => {
    const { url } = await startService({ tls: certificate(['127.0.0.1']) });
    const { code, cell, stdout } = await checkLive(
      configOf(url, ['a'], { upstream: { tls_config: { insecure_skip_verify: true } } }),
    );
    expect(code).toBe(0);
    expect(cell('main', 'TLS')).toMatch(/^TLSv1\.3, 36\d days left, issued by Our Authority, not verified$/);
    expect(stdout).toContain('is not verified, because insecure_skip_verify is set');
  });

  it('connects through the proxy', async () => {
    const { url } = await startService();
    const proxy = await startProxy();
    const { code, cell } = await checkLive(configOf(url, ['a'], { upstream: { proxy_url: proxy.url.href } }));
    expect(code).toBe(0);
    expect(cell('main', 'DNS')).toBe('of the proxy: not needed');
    expect(proxy.tunnels.length).toBeGreaterThan(1);
  });
});

describe('check --live, connection failures', () => {
  it('explains an unknown host', async () => {
    const { code, cell, stdout } = await checkLive(configOf('http://no-such-host.invalid', ['a', 'b']));
    expect(code).toBe(1);
    expect(cell('main', 'DNS')).toBe('unknown host');
    expect(cell('main', 'CONNECTION')).toBe('unknown host');
    expect(cell('main', 'CLOCK')).toBe('–');
    expect(cell('a', 'FIRST PAGE')).toBe('–');
    expect(cell('a', 'TOTAL')).toBe('–');
    expect(cell('a', 'LISTING')).toBe('failed: unknown host');
    expect(cell('a', 'REQUESTS')).toBe('–');
    expect(stdout).toContain(
      '\nfailure: stations a, b of upstream main: The host name of no-such-host.invalid cannot be resolved.\n  reported: no-such-host.invalid: getaddrinfo ',
    );
    expect(stdout).toContain('\n  what to do: Check the host in base_url');
    expect(stdout).toContain('A failed station is refreshed again after error_ttl.');
    expect(stdout).toMatch(/\nstations: 2, ok: 0, failed: 2, warnings: 1\n$/);
  });

  it('explains a refused connection', async () => {
    const port = await closedPort();
    const { code, cell, stdout } = await checkLive(configOf(`http://127.0.0.1:${port}`, ['a']));
    expect(code).toBe(1);
    expect(cell('main', 'CONNECTION')).toBe('connection refused');
    expect(stdout).toContain(
      `station a of upstream main: 127.0.0.1:${port} refused the connection: no process listens on that port.`,
    );
  });

  it('explains a connect timeout', async () => {
    const silent = await listen(createServer((socket) => socket.on('error', () => undefined)));
    const { code, cell, stdout } = await checkLive(
      configOf(`https://127.0.0.1:${silent}`, ['a'], { upstream: { timeout: '200ms' } }),
    );
    expect(code).toBe(1);
    expect(cell('main', 'CONNECTION')).toBe('connect timeout');
    expect(cell('main', 'TLS')).toBe('–');
    expect(stdout).toContain(`No connection to 127.0.0.1:${silent} was established within the timeout.`);
    expect(stdout).toContain('The usual cause is a firewall that drops packets.');
  });

  it('explains a request timeout', async () => {
    const { url } = await startFaulty({ kind: 'hang' });
    const { code, cell, stdout } = await checkLive(configOf(url, ['a'], { upstream: { timeout: '4s' } }));
    expect(code).toBe(1);
    expect(cell('main', 'CONNECTION')).toMatch(/^in \d+ ms$/);
    expect(cell('a', 'LISTING')).toBe('failed: timeout');
    expect(stdout).toContain('The service did not answer in time.');
    expect(stdout).toContain('no complete reply within 4000 ms');
  });

  it('explains a connection closed early', async () => {
    const { url } = await startFaulty({ kind: 'truncate' });
    const { code, stdout } = await checkLive(configOf(url, ['a']));
    expect(code).toBe(1);
    expect(stdout).toContain('closed the connection before the reply was complete.');
  });

  it('explains a refusal by the proxy, without printing its password', async () => {
    const { url } = await startService();
    const proxy = await startProxy(undefined, 407);
    const proxyUrl = new URL(proxy.url);
    proxyUrl.username = 'user';
    proxyUrl.password = 'proxy-pass';
    const { code, cell, stdout } = await checkLive(configOf(url, ['a'], { upstream: { proxy_url: proxyUrl.href } }));
    expect(code).toBe(1);
    expect(cell('main', 'CONNECTION')).toBe('refused by proxy');
    expect(stdout).toContain(`The proxy ${proxy.url.host} did not open a tunnel to ${new URL(url).host}.`);
    expect(stdout).toContain('answered 407 to CONNECT');
    expect(stdout).toContain('For a 407, add user and password to proxy_url.');
    expect(stdout).not.toContain('proxy-pass');
  });

  it('explains a proxy that refuses connections', async () => {
    const port = await closedPort();
    const { code, stdout } = await checkLive(
      configOf('http://service.invalid', ['a'], { upstream: { proxy_url: `http://127.0.0.1:${port}` } }),
    );
    expect(code).toBe(1);
    expect(stdout).toContain(`127.0.0.1:${port} refused the connection`);
    expect(stdout).toContain('Check the host and port in proxy_url');
  });
});

describe('check --live, TLS failures', () => {
  const secured = async (
    tls: ServiceOptions['tls'] = certificate(['127.0.0.1']),
    config: object = { ca_file: caFile() },
  ) => {
    const { url } = await startService({ tls });
    return checkLive(configOf(url, ['a'], { upstream: { tls_config: config } }));
  };

  it('explains an untrusted issuer', async () => {
    const { code, cell, stdout } = await secured(certificate(['127.0.0.1']), {});
    expect(code).toBe(1);
    expect(cell('main', 'CONNECTION')).toBe('established');
    expect(cell('main', 'TLS')).toMatch(/^untrusted issuer, TLSv1\.3, 36\d days left, issued by Our Authority$/);
    expect(stdout).toContain('was issued by an untrusted authority: Our Authority.');
    expect(stdout).toContain('set tls_config.ca_file');
  });

  it('explains an expired certificate', async () => {
    const { code, cell, stdout } = await secured(certificate(['127.0.0.1'], new Date(Date.now() - 36 * 3_600_000)));
    expect(code).toBe(1);
    expect(cell('main', 'TLS')).toMatch(/^expired, TLSv1\.3, expired \d{4}-\d\d-\d\d, issued by Our Authority$/);
    expect(stdout).toMatch(/The certificate of 127\.0\.0\.1:\d+ expired on \d{4}-\d\d-\d\d\./);
  });

  it('explains a host name mismatch', async () => {
    const { code, cell, stdout } = await secured(certificate(['monitor.example.com']));
    expect(code).toBe(1);
    expect(cell('main', 'TLS')).toMatch(/^host name mismatch, /);
    expect(stdout).toContain('was issued for another host name: monitor.example.com.');
    expect(stdout).toContain('tls_config.server_name');
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('explains a required client certificate (%s)', async (maxVersion) => {
    const tls = {
      ...certificate(['127.0.0.1']),
      requestCert: true,
      rejectUnauthorized: true,
      ca: authority.cert,
      maxVersion,
    };
    const { code, cell, stdout } = await secured(tls);
    expect(code).toBe(1);
    expect(cell('main', 'TLS')).toMatch(/^client certificate required/);
    expect(stdout).toContain('it probably requires a client certificate.');
    expect(stdout).toContain('tls_config.cert_file and tls_config.key_file');
  });

  it('explains a rejected client certificate', async () => {
    const stranger = issue({ name: 'stranger' });
    const tls = { ...certificate(['127.0.0.1']), requestCert: true, rejectUnauthorized: true, ca: authority.cert };
    const config = {
      ca_file: caFile(),
      cert_file: temporaryFile('cert.pem', stranger.cert),
      key_file: temporaryFile('key.pem', stranger.key),
    };
    const { code, cell, stdout } = await secured(tls, config);
    expect(code).toBe(1);
    expect(cell('main', 'TLS')).toMatch(/^client certificate rejected, /);
    expect(stdout).toContain('it probably rejects the client certificate.');
  });

  it('explains a TLS version that is not allowed', async () => {
    const { code, stdout } = await secured(
      { ...certificate(['127.0.0.1']), maxVersion: 'TLSv1.2' },
      { ca_file: caFile(), min_version: 'TLS13' },
    );
    expect(code).toBe(1);
    expect(stdout).toContain('supports no TLS version that the configuration allows.');
  });

  it('explains a TLS file that cannot be read', async () => {
    const gone = temporaryFile('ca.pem', '');
    rmSync(gone);
    const { code, cell, stdout } = await secured(certificate(['127.0.0.1']), { ca_file: gone });
    expect(code).toBe(1);
    expect(cell('main', 'TLS')).toMatch(/^unusable file, /);
    expect(stdout).toContain(`reported: cannot read TLS file ${gone}: ENOENT`);
  });

  it('explains an https URL of a plain HTTP port', async () => {
    const { url } = await startService();
    const { code, cell, stdout } = await checkLive(configOf(url.replace('http:', 'https:'), ['a']));
    expect(code).toBe(1);
    expect(cell('main', 'TLS')).toBe('no TLS on this port');
    expect(stdout).toContain('does not use TLS on this port, but base_url is an https URL.');
    expect(stdout).toContain('reported: 127.0.0.1:');
    expect(stdout).toContain('SSL routines: wrong version number\n');
  });

  it('explains an http URL of a TLS port', async () => {
    const { url } = await startService({ tls: certificate(['127.0.0.1']) });
    const { code, cell, stdout } = await checkLive(configOf(url.replace('https:', 'http:'), ['a']));
    expect(code).toBe(1);
    expect(cell('main', 'TLS')).toBe('port expects TLS');
    expect(stdout).toContain('expects TLS on this port, but base_url is an http URL.');
    expect(stdout).toContain('what to do: Start base_url with https://.');
  });

  it('explains an http URL of a TLS port that answers 400', async () => {
    const port = await tlsPortAnswering400();
    const { code, stdout } = await checkLive(configOf(`http://127.0.0.1:${port}`, ['a']));
    expect(code).toBe(1);
    expect(stdout).toContain('expects TLS on this port, but base_url is an http URL.');
  });
});

/** As nginx does for plain HTTP on a TLS port. */
async function tlsPortAnswering400(): Promise<number> {
  const secure = createTlsServer(certificate(['127.0.0.1']));
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (start) => {
      if (start[0] !== TLS_HANDSHAKE) {
        socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n');
        return;
      }
      socket.pause();
      socket.unshift(start);
      secure.emit('connection', socket);
    });
  });
  return listen(server);
}

const TLS_HANDSHAKE = 0x16;

describe('check --live, credential failures', () => {
  it('explains rejected credentials, without printing them', async () => {
    const { url } = await startService({ auth: { scheme: 'token', token: 'right-token' } });
    const { code, cell, stdout } = await checkLive(
      configOf(url, ['a'], { upstream: { authorization: { credentials: 'wrong-token' } } }),
    );
    expect(code).toBe(1);
    expect(cell('a', 'AUTHENTICATION')).toBe('rejected');
    expect(cell('a', 'PERMISSION')).toBe('unknown');
    expect(stdout).toContain('The service rejected the Bearer credentials of authorization (401).');
    expect(stdout).not.toMatch(/hmac|clock of/);
    expect(stdout).toContain('answered 401 Unauthorized');
    expect(stdout).not.toContain('wrong-token');
  });

  it('prints that the credentials are accepted', async () => {
    const { url } = await startService({ auth: { scheme: 'token', token: 'right-token' } });
    const { code, cell, stdout } = await checkLive(
      configOf(url, ['a'], { upstream: { authorization: { credentials: 'right-token' } } }),
    );
    expect(code).toBe(0);
    expect(cell('a', 'AUTHENTICATION')).toBe('accepted');
    expect(stdout).not.toContain('right-token');
  });

  const hmac = { access_key_id: 'AK', secret_access_key: 'hmac-secret' };
  const signed = (skewMs: number): AuthCheck => ({
    scheme: 'hmac',
    accessKeyId: 'AK',
    secretAccessKey: 'hmac-secret',
    signedHeaders: ['x-date'],
    skewMs,
  });

  it.each([
    [-3_600_000, /36\d\d s ahead of/],
    [3_600_000, /3[56]\d\d s behind/],
  ])('explains rejected signatures by the clock difference (%i ms)', async (offsetMs, difference) => {
    const { url } = await startService({ auth: signed(300_000), now: () => Date.now() + offsetMs });
    const { code, cell, stdout } = await checkLive(configOf(url, ['a'], { upstream: { hmac } }));
    expect(code).toBe(1);
    expect(cell('main', 'CLOCK')).toMatch(difference);
    expect(cell('a', 'LISTING')).toBe('failed: clock difference');
    expect(stdout).toMatch(
      new RegExp(`The local clock is ${difference.source} the service's, which is enough to invalidate signatures`),
    );
    expect(stdout).toContain('NTP');
    expect(stdout).not.toContain('hmac-secret');
  });

  it('does not mention a clock that is in sync', async () => {
    const { url } = await startService({ auth: { ...signed(300_000), accessKeyId: 'another' } as AuthCheck });
    const { code, cell, stdout } = await checkLive(configOf(url, ['a'], { upstream: { hmac } }));
    expect(code).toBe(1);
    expect(cell('main', 'CLOCK')).toBe('in sync');
    expect(stdout).toContain('The service rejected the signature of hmac (401).');
  });

  it('reports that no credentials are configured', async () => {
    const { url } = await startService({ auth: { scheme: 'token', token: 'right-token' } });
    const { code, cell, stdout } = await checkLive(configOf(url, ['a']));
    expect(code).toBe(1);
    expect(cell('a', 'AUTHENTICATION')).toBe('no credentials');
    expect(stdout).toContain('The service requires credentials (401), and no credentials are configured.');
  });

  it('warns of a clock difference while signatures are accepted', async () => {
    const { url } = await startService({ auth: signed(300_000), now: () => Date.now() - 120_000 });
    const { code, stdout } = await checkLive(configOf(url, ['a'], { upstream: { hmac } }));
    expect(code).toBe(0);
    expect(stdout).toMatch(/warning: upstream main: The local clock is 1[12]\d s ahead of that of 127\.0\.0\.1:\d+\./);
  });

  it('explains a missing credential file', async () => {
    const service = await startService();
    const file = temporaryFile('token', '');
    rmSync(file);
    const { code, cell, stdout } = await checkLive(
      configOf(service.url, ['a'], { upstream: { authorization: { credentials_file: file } } }),
    );
    expect(code).toBe(1);
    expect(cell('a', 'AUTHENTICATION')).toBe('no credentials');
    expect(stdout).toContain('The credentials could not be read or obtained, so no request was sent.');
    expect(stdout).toContain(`reported: cannot read credential file ${file}: ENOENT`);
    expect(service.requests).toEqual([]);
  });
});

describe('check --live, service failures', () => {
  it('explains a missing permission', async () => {
    const { url } = await startFaulty({ kind: 'status', code: 403 });
    const { code, cell, stdout } = await checkLive(
      configOf(url, ['a'], { upstream: { authorization: { credentials: 'some-token' } } }),
    );
    expect(code).toBe(1);
    expect(cell('a', 'AUTHENTICATION')).toBe('accepted');
    expect(cell('a', 'PERMISSION')).toBe('denied');
    expect(stdout).toContain(
      'The service accepted the Bearer credentials of authorization, but the account has no permission',
    );
  });

  it.each<readonly [what: string, fault: Fault, listing: string, meaning: string, reported: string]>([
    [
      'an unknown station',
      { kind: 'status', code: 404 },
      'not_found',
      'The service does not know this station (404).',
      '404 Not Found',
    ],
    [
      'too many requests',
      { kind: 'status', code: 429, retryAfter: 1 },
      'rate_limited',
      'The service is limiting requests (429).',
      '429 Too Many',
    ],
    [
      'an error status',
      { kind: 'status', code: 500 },
      'status',
      'The service returned an error status.',
      '500 Internal Server Error',
    ],
    [
      'a redirect',
      { kind: 'status', code: 302, headers: { location: 'https://sso.invalid' } },
      'status',
      'The service returned an error status.',
      'sso.invalid',
    ],
    [
      'an HTML page',
      NAMED_FAULTS.html,
      'body',
      'The reply is not a listing.',
      'expected JSON, got an HTML or XML page',
    ],
    [
      'JSON without resources',
      { kind: 'status', code: 200, body: '{}' },
      'body',
      'The reply is not a listing.',
      'expected a JSON object with a field "resources"',
    ],
  ])('explains %s', async (_what, fault, listing, meaning, reported) => {
    const { url } = await startFaulty(fault);
    const { code, cell, stdout } = await checkLive(configOf(url, ['a']));
    expect(code).toBe(1);
    expect(cell('a', 'AUTHENTICATION')).toBe('unknown');
    expect(cell('a', 'LISTING')).toBe(`failed: ${listing}`);
    expect(stdout).toContain(`failure: station a of upstream main: `);
    expect(stdout).toContain(meaning);
    expect(stdout).toContain(reported);
    expect(stdout).toContain('\n  what to do: ');
  });

  it('prints which stations failed', async () => {
    const service = await startService();
    service.setFaults('b', [{ kind: 'status', code: 503 }]);
    const { code, cell, stdout } = await checkLive(configOf(service.url, ['a', 'b', 'c']));
    expect(code).toBe(1);
    expect(['a', 'b', 'c'].map((name) => cell(name, 'LISTING'))).toEqual(['complete', 'failed: status', 'complete']);
    expect(cell('all', 'RESOURCES')).toBe('50');
    expect(stdout).toMatch(/\nstations: 3, ok: 2, failed: 1, warnings: 1\n$/);
  });
});

describe('check --live, warnings', () => {
  it('warns of an incomplete listing, without changing the exit code', async () => {
    const { url } = await startFaulty({ kind: 'totalLies', delta: 5 });
    const { code, cell, stdout } = await checkLive(configOf(url, ['a']));
    expect(code).toBe(0);
    expect(cell('a', 'TOTAL')).toBe('30');
    expect(cell('a', 'RESOURCES')).toBe('25');
    expect(cell('a', 'LISTING')).toBe('incomplete');
    expect(stdout).toContain(
      'warning: station a of upstream main: The listing is incomplete: resources may be missing',
    );
    expect(stdout).toContain('reported: the service reports a total of 30, but returned 25 distinct records');
  });

  it('warns of rejected records and invalid values', async () => {
    const records = [
      wireRecord('a'),
      wireRecord('b', { state: {}, sku: [] }),
      wireRecord('c', { state: [] }),
      { resource_id: '' },
    ];
    const { url } = await startService({ source: () => records.map((record) => ({ record })) });
    const { code, stdout } = await checkLive(configOf(url, ['a']));
    expect(code).toBe(0);
    expect(stdout).toContain('Records rejected because they have no usable resource_id: 1.');
    expect(stdout).toContain('Invalid field values dropped: sku (1), state (2).');
  });

  it('warns of an empty listing', async () => {
    const { url } = await startService({ source: () => [] });
    const { code, stdout } = await checkLive(configOf(url, ['a']));
    expect(code).toBe(0);
    expect(stdout).toContain('The listing is empty.');
  });

  it('warns of withheld series', async () => {
    const { url } = await startService();
    const { code, stdout } = await checkLive(configOf(url, ['a'], { metrics: { max_resources: 3 } }));
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /The station has more resources than metrics\.max_resources: \d+ per-resource series are withheld/,
    );
  });

  it('warns of a refresh longer than the scrape timeout, unless refreshes run in the background', async () => {
    const { url } = await startFaulty({ kind: 'latency', ms: 20 });
    const { code, stdout } = await checkLive(configOf(url, ['a']), '--scrape.timeout=1ms');
    expect(code).toBe(0);
    expect(stdout).toMatch(/A refresh takes \d+\.\d s, longer than the scrape timeout of 0\.001 s/);
    const background = configOf(url, ['a'], { cache: { refresh: 'background', ttl: '60s', error_ttl: '10s' } });
    expect((await checkLive(background, '--scrape.timeout=1ms')).stdout).toContain('warnings: 1\n');
  });

  it('warns of a page size that the service rejects', async () => {
    const { url } = await startFaulty({ kind: 'status', code: 413, when: { first: 1 } });
    const { code, stdout } = await checkLive(configOf(url, ['a'], { upstream: { page_size: 80 } }));
    expect(code).toBe(0);
    expect(stdout).toContain('The service rejected the page size: the refresh continued with 40 resources per page.');
    expect(stdout).toContain('what to do: Set page_size to 40,');
  });

  it('warns of throttling, and does not advise smaller pages', async () => {
    const { url } = await startFaulty({ kind: 'status', code: 429, retryAfter: '0.01', when: { first: 2 } });
    const { code, stdout } = await checkLive(
      configOf(url, ['a'], { upstream: { max_retries: 2, concurrency: 1 }, cache: { ttl: '60s' } }),
    );
    expect(code).toBe(0);
    expect(stdout).toContain(
      '\nwarning: upstream main: The service throttled 2 of 5 requests (429) and requested a pause of up to 1 s (Retry-After).\n  what to do: The exporter adapts its request rate, and data gets older. Send fewer requests: raise cache.ttl or page_size, or remove products.',
    );
    expect(stdout).toMatch(/warnings: 2\n$/);
  });

  it('reports the rate when every request is throttled, and fails', async () => {
    const { url } = await startFaulty({ kind: 'status', code: 429 });
    const { code, stdout } = await checkLive(
      configOf(url, ['a', 'b'], { upstream: { max_retries: 2, page_size: 100 } }),
    );
    expect(code).toBe(1);
    expect(stdout).toContain('failure: stations a, b of upstream main: The service is limiting requests (429).');
    expect(stdout).toMatch(
      /The service throttled (\d+) of \1 requests \(429\)\. The limit is now \d\.\d requests\/s\.\n/,
    );
    expect(stdout).not.toMatch(/page size|lower page_size|Set page_size/);
  });

  it('warns of stations that hang', async () => {
    const { url } = await startService({ faults: { a: [{ kind: 'hang' }], b: [{ kind: 'hang' }] } });
    const { code, stdout } = await checkLive(configOf(url, ['a', 'b'], { upstream: { timeout: '4s' } }));
    expect(code).toBe(1);
    expect(stdout).toContain(
      '\nwarning: stations a, b of upstream main: The station hangs: its latest request got no reply.',
    );
  });

  it('warns when the capacity does not suffice, with what to change', async () => {
    const { url } = await startFaulty({ kind: 'latency', ms: 20 });
    const { code, stdout } = await checkLive(
      configOf(url, ['a'], { upstream: { concurrency: 1 }, cache: { ttl: '10ms' } }),
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /\nwarning: upstream main: Refreshing once per ttl needs 300 requests\/s, and [\d.]+ are possible: [\d,]+ % of the capacity, so data gets older than ttl\.\n {2}what to do: See https:.*#overload\n/,
    );
    expect(stdout).not.toContain('\ncapacity: ');
  });

  it('escapes control characters in messages of the service', async () => {
    const { url } = await startFaulty({ kind: 'status', code: 500, body: '\u001b[2Jgone\nall' });
    const { stdout } = await checkLive(configOf(url, ['a']));
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toContain('gone all');
  });
});

describe('check --live, limits on resources without alert rules', () => {
  const check = async (flags: readonly string[], station: object, faults: readonly Fault[] = []) => {
    const source = () => [
      { record: wireRecord('covered'), alertable: true },
      { record: wireRecord('bare', { alert_rules_count: 0 }), alertable: true },
      { record: wireRecord('other', { alert_rules_count: 0 }), alertable: false },
    ];
    const { url } = await startService({ source, faults: { '*': faults } });
    return checkLive(configOf(url, ['a', 'b'], { station }), ...flags);
  };

  it('fails and prints the resources of each station', async () => {
    const { code, stdout } = await check(['--min-coverage=0.95', '--max-without-rules=1'], { alertability: true });
    expect(code).toBe(1);
    expect(stdout).toContain(
      '\nfailure: coverage is 0.5, expected at least 0.95: 2 of 4 alertable resources have alert rules\n' +
        '\nfailure: 2 resources have no alert rules, expected at most 1\n',
    );
    expect(stdout.slice(stdout.indexOf('\nstations: 2')).replaceAll(/ .*(?=\n)/g, '')).toBe(
      '\nstations:\n\nWithout\nID\nbare\n\nWithout\nID\nbare\n',
    );
  });

  it('succeeds within the limits', async () => {
    const { code, stdout } = await check(['--min-coverage=0.5', '--max-without-rules=2'], { alertability: true });
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/failure|Without/);
  });

  it('counts all resources where it is not known which can have alerts', async () => {
    const { code, stdout } = await check(['--max-without-rules=3'], {});
    expect(code).toBe(1);
    expect(stdout).toContain('failure: 4 resources have no alert rules, expected at most 3\n');
    expect(stdout).toMatch(/\nWithout alert rules in b:\nID .*\nbare .*\nother .*\n$/);
  });

  it.each([
    ['csv', /^station,resource_id,.*\r\na,bare,.*\r\nb,bare,.*\r\n$/],
    ['json', /^\[\n\{"station":"a","resource_id":"bare",.*\},\n\{"station":"b","resource_id":"bare",.*\}\n\]\n$/],
  ])('prints the resources as %s, and the report to stderr', async (format, expected) => {
    const { code, stdout, stderr } = await check([`--format=${format}`, '--max-without-rules=0'], {
      alertability: true,
    });
    expect(code).toBe(1);
    expect(stdout).toMatch(expected);
    expect(stderr).toMatch(/ is valid, stations: 2\n\nUPSTREAM .*\nfailure: 2 resources have no alert rules/s);
  });

  it.each(['--min-coverage=0', '--max-without-rules=99'])('fails for an incomplete listing (%s)', async (flag) => {
    const { code, stdout } = await check([flag], { alertability: true }, [{ kind: 'totalIs', total: 9 }]);
    expect(code).toBe(1);
    expect(stdout).toContain('failure: coverage of a is unknown: its listing is incomplete\n');
  });
});

describe('check', () => {
  const invalidConfig = 'upstreams: {}\nstations: 3\nsurprise: true\n';

  it.each([[['check']], [['check', '--live']]])(
    'prints the problems of both files as --config.check does (%j)',
    async (command) => {
      const flags = [
        `--config.file=${temporaryFile('config.yaml', invalidConfig)}`,
        `--web.config.file=${temporaryFile('web.yaml', 'odd: 1\n')}`,
      ];
      const before = run(['--config.check', ...flags]);
      const now = run([...command, ...flags]);
      expect([await before.exit, await now.exit]).toEqual([1, 1]);
      expect(now.output()).toEqual(before.output());
      expect(now.output().stdout).toBe('');
      expect(now.output().stderr.split('\n')).toHaveLength(5);
    },
  );

  it('prints the problems of the web configuration', async () => {
    const { url } = await startService();
    const web = temporaryFile('web.yaml', 'odd: 1\n');
    const { code, stdout, stderr } = await checkLive(configOf(url, ['a']), `--web.config.file=${web}`);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(`${web}:1:1: odd: `);
  });

  it('shows the progress of all stations on a terminal', async () => {
    const { url } = await startFaulty({ kind: 'status', code: 503, when: { offset: 20, first: 1 } });
    const config = configOf(url, ['a'], { upstream: { max_retries: 1, concurrency: 1 } });
    const file = temporaryFile('config.yaml', stringify(config));
    const { exit, output } = run(['check', '--live', `--config.file=${file}`], {}, 'exporter', 80);
    expect(await exit).toBe(0);
    const paints = output().stderr.split('\r\u001b[K');
    expect(paints.slice(1, 2)).toEqual(['1 station: 0 pages']);
    expect(paints).toContainEqual(expect.stringMatching(/^1 station: 2 of 3 pages, 1 retry \[#+\.+\]$/));
    expect(paints.at(-1)).toBe('');
  });

  it('sends no request without --live', async () => {
    const service = await startService();
    const file = temporaryFile('config.yaml', stringify(configOf(service.url, ['a'])));
    const { exit, output } = run(['check', `--config.file=${file}`]);
    expect(await exit).toBe(0);
    expect(output().stdout).toBe(`${file} is valid, stations: 1\n`);
    expect(service.requests).toEqual([]);
  });

  it('prints the warnings of the configuration without changing the exit code', async () => {
    const upstream = { authorization: { credentials_file: 'missing-token' }, proxy_url: 'http://u:proxy-pass@h' };
    const file = temporaryFile('config.yaml', stringify(configOf('http://h', ['a'], { upstream })));
    const { exit, output } = run(['check', `--config.file=${file}`]);
    expect(await exit).toBe(0);
    expect(
      output()
        .stderr.split('\n')
        .map((line) => line.replaceAll(/\/\S*\//g, '')),
    ).toEqual([
      expect.stringMatching(
        /^warning: config\.yaml:\d+:\d+: upstreams\.main\.authorization\.credentials_file: missing-token does not exist/,
      ),
      expect.stringMatching(/^warning: config\.yaml:\d+:\d+: upstreams\.main\.proxy_url: password in clear text/),
      '',
    ]);
  });

  it('warns of a telemetry station that is configured twice, and not of one with other filters', async () => {
    const config = configOf('http://h', ['a'], { upstream: { authorization: { credentials_file: '/dev/null' } } });
    const [station] = config.stations;
    const stations = [station, { ...station, name: 'b' }, { ...station, name: 'c', filters: { product: 'p' } }];
    const file = temporaryFile('config.yaml', stringify({ ...config, stations }));
    const { exit, output } = run(['check', `--config.file=${file}`]);
    expect(await exit).toBe(0);
    expect(output().stderr.match(/same telemetry station/g)).toHaveLength(1);
    expect(output().stderr).toMatch(
      /config\.yaml:\d+:5: stations\[1\]: same telemetry station and filters as station "a", expected different filters/,
    );
  });

  it('warns of a web configuration that allows everyone', async () => {
    const file = temporaryFile('config.yaml', stringify(configOf('http://h', ['a'])));
    const { exit, output } = run(['check', `--config.file=${file}`, `--web.config.file=${temporaryFile('web', '{}')}`]);
    expect(await exit).toBe(0);
    expect(output().stderr).toContain('everyone has access');
  });

  it('reports how many stations each shard has', async () => {
    const file = temporaryFile('config.yaml', stringify(configOf('http://h', ['a', 'b', 'c', 'd', 'e'])));
    const shares = await Promise.all(
      [0, 1].map(async (shard) => {
        const { exit, output } = run(['check', `--config.file=${file}`, `--shard=${shard}`, '--total-shards=2']);
        await exit;
        return /stations: 5, (\d) of them on shard (\d) of 2\n/.exec(output().stdout)?.slice(1).map(Number);
      }),
    );
    expect(shares.map((share) => share?.[1])).toEqual([0, 1]);
    expect((shares[0]?.[0] ?? 0) + (shares[1]?.[0] ?? 0)).toBe(5);
  });

  it('prints no warnings of the demo', async () => {
    const { exit, output } = run(['check', '--demo']);
    expect(await exit).toBe(0);
    expect(output().stderr).toBe('');
  });

  it('rejects --shard=auto without an ordinal in the host name', async () => {
    const { url } = await startService();
    const { code, stderr } = await checkLive(configOf(url, ['a']), '--shard=auto');
    expect(code).toBe(1);
    expect(stderr).toContain('--shard=auto: expected a host name');
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('exits immediately on %s with code %i', async (signal, code) => {
    const service = await startFaulty({ kind: 'hang' });
    const file = temporaryFile(
      'config.yaml',
      stringify(configOf(service.url, ['a'], { upstream: { timeout: '1h', refresh_timeout: '1h' } })),
    );
    const { exit, signals, output } = run(['check', '--live', `--config.file=${file}`]);
    await expect.poll(() => service.requests.length).toBe(1);
    signals.emit(signal);
    expect(await exit).toBe(code);
    expect(output().stderr.split('\n').at(-2)).toBe(`aborted by ${signal} before every station was checked`);
  });
});
