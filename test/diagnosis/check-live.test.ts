import { rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { AuthCheck } from '../../src/simulator/answer.ts';
import type { Fault } from '../../src/simulator/faults.ts';
import type { ServiceOptions } from '../../src/simulator/service.ts';
import { configOf, entriesOf, startExporter, wireRecord } from '../e2e/harness.ts';
import { run } from '../e2e/running-program.ts';
import { serviceOf } from '../e2e/stage.ts';
import { valuesOf } from '../metrics/parse-exposition.ts';
import { issue } from '../upstream/support/certificates.ts';
import { temporaryFile } from '../upstream/support/files.ts';
import { startProxy } from '../upstream/support/proxy.ts';
import { closedPort, listen } from '../upstream/support/service.ts';
import { checkLive } from './live.ts';

const YEAR_MS = 365 * 86_400_000;
const inAYear = () => new Date(Date.now() + YEAR_MS);

const authority = issue({ name: 'Our Authority', notAfter: inAYear() });
const caFile = () => temporaryFile('ca.pem', authority.cert);
const certificate = (hosts: readonly string[], notAfter = inAYear()) => issue({ name: 'service', issuer: authority, hosts, notAfter });

const startService = (options: ServiceOptions = {}) => serviceOf({ source: () => entriesOf(25), ...options });

const startFaulty = (...faults: readonly Fault[]) => startService({ faults: { '*': faults } });

describe('check --live, when all is well', () => {
  it('prints what each upstream and each station gives, and exits with 0', async () => {
    const { url } = await startService();
    const { code, stdout, stderr, cell } = await checkLive(configOf(url, ['a', 'b'], { cache: { ttl: '60s' } }));
    expect(code).toBe(0);
    expect(stderr).toBe('');
    expect(stdout).toMatch(/^\S+ is valid, stations: 2\n\nUPSTREAM /);
    expect(cell('main', 'SERVICE')).toBe(new URL(url).host);
    expect(cell('main', 'DNS')).toBe('no name to resolve');
    expect(cell('main', 'CONNECTION')).toMatch(/^in \d+ ms$/);
    expect(cell('main', 'TLS')).toBe('none, plain HTTP');
    expect(cell('main', 'CLOCK')).toBe('in step');
    expect(cell('a', 'AUTHENTICATION')).toBe('none needed');
    expect(cell('a', 'PERMISSION')).toBe('granted');
    expect(cell('a', 'FIRST PAGE')).toMatch(/^\d+ ms$/);
    expect(cell('a', 'TOTAL')).toBe('25');
    expect(cell('a', 'RESOURCES')).toBe('25');
    expect(cell('a', 'LISTING')).toBe('complete');
    expect(cell('a', 'REQUESTS')).toBe('180/h');
    expect(cell('all', 'RESOURCES')).toBe('50');
    expect(cell('all', 'REQUESTS')).toBe('360/h');
    expect(stdout).toMatch(/\nstations: 2, well: 2, failed: 0, warnings: 0\n$/);
  });

  it('tells the series and bytes that the exporter will publish', async () => {
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
    // How long the refresh took is published with more or fewer digits.
    expect(Math.abs(Number(cell('a', 'BYTES')) - probe.length)).toBeLessThan(20);
    expect(Number(cell('a', 'GZIP'))).toBeLessThan(Number(cell('a', 'BYTES')));
    expect(Number(cell('all', 'BYTES'))).toBeLessThan(2 * Number(cell('a', 'BYTES')));
  });

  it('counts the requests of all listings, and by the scrape where nothing is kept', async () => {
    const { url } = await startService();
    const config = configOf(url, ['a'], { station: { products: ['p', 'q'], alertability: true } });
    const { cell, stdout } = await checkLive(config);
    expect(cell('a', 'REQUESTS')).toBe('6/scrape');
    expect(stdout).toContain('With a ttl of 0 every scrape asks');
    expect(stdout).not.toContain('A timer asks');
  });

  it('says so when the service gives no total', async () => {
    const { url } = await startFaulty({ kind: 'omitTotal' });
    const { code, cell } = await checkLive(configOf(url, ['a']));
    expect(code).toBe(0);
    expect(cell('a', 'TOTAL')).toBe('none');
    expect(cell('a', 'LISTING')).toBe('complete');
  });

  it('says that a timer asks when refreshes happen in the background', async () => {
    const { url } = await startService();
    const { stdout } = await checkLive(configOf(url, ['a'], { cache: { refresh: 'background', ttl: '60s', error_ttl: '10s' } }));
    expect(stdout).toContain('A timer asks for each refresh');
    expect(stdout).not.toContain('A scrape asks');
  });

  it('asks the stations of its shard alone, and no upstream in vain', async () => {
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
    const asked = new Set(service.requests.map(({ station }) => station));
    expect(asked.size).toBeGreaterThan(0);
    expect(asked.size).toBeLessThan(4);
    expect(stdout).toContain(`\nstations: ${asked.size}, well: ${asked.size}, `);
    expect(stdout).not.toContain('idle');
  });

  it('says so when its shard has no station', async () => {
    const service = await startService();
    const config = configOf(service.url, ['a']);
    const outputs = await Promise.all([0, 1].map((shard) => checkLive(config, `--shard=${shard}`, '--total-shards=2')));
    expect(outputs.map(({ code }) => code)).toEqual([0, 0]);
    expect(outputs.filter(({ stdout }) => stdout.endsWith('No station belongs to this shard: nothing was asked.\n'))).toHaveLength(1);
  });

  it('tells what certificate it saw, and warns before it ends', async () => {
    const tls = certificate(['127.0.0.1'], new Date(Date.now() + 3.5 * 86_400_000));
    const { url } = await startService({ tls });
    const { code, cell, stdout } = await checkLive(configOf(url, ['a'], { upstream: { tls_config: { ca_file: caFile() } } }));
    expect(code).toBe(0);
    expect(cell('main', 'TLS')).toBe('TLSv1.3, 3 days left, issued by Our Authority');
    expect(stdout).toMatch(/\nwarning: upstream main: The certificate of 127\.0\.0\.1:\d+ ends on \d{4}-\d\d-\d\d\.\n {2}what to do: /);
    expect(stdout).toContain('failed: 0, warnings: 1\n');
  });

  it('warns of a certificate that nobody verifies', async () => {
    const { url } = await startService({ tls: certificate(['127.0.0.1']) });
    const { code, cell, stdout } = await checkLive(configOf(url, ['a'], { upstream: { tls_config: { insecure_skip_verify: true } } }));
    expect(code).toBe(0);
    expect(cell('main', 'TLS')).toMatch(/^TLSv1\.3, 36\d days left, issued by Our Authority, not verified$/);
    expect(stdout).toContain('is not verified, because insecure_skip_verify is set');
  });

  it('goes through the proxy', async () => {
    const { url } = await startService();
    const proxy = await startProxy();
    const { code, cell } = await checkLive(configOf(url, ['a'], { upstream: { proxy_url: proxy.url.href } }));
    expect(code).toBe(0);
    expect(cell('main', 'DNS')).toBe('behind a proxy (no name to resolve)');
    expect(proxy.tunnels.length).toBeGreaterThan(1);
  });
});

describe('check --live, with a trouble of the connection', () => {
  it('names a host that cannot be resolved', async () => {
    const { code, cell, stdout } = await checkLive(configOf('http://no-such-host.invalid', ['a', 'b']));
    expect(code).toBe(1);
    expect(cell('main', 'DNS')).toBe('unknown name');
    expect(cell('main', 'CONNECTION')).toBe('unknown name');
    expect(cell('main', 'CLOCK')).toBe('-');
    expect(cell('a', 'FIRST PAGE')).toBe('-');
    expect(cell('a', 'TOTAL')).toBe('-');
    expect(cell('a', 'LISTING')).toBe('failed: unknown name');
    expect(cell('a', 'REQUESTS')).toBe('-');
    expect(stdout).toContain(
      '\nfailure: stations a, b of upstream main: The name of no-such-host.invalid cannot be resolved to an address.\n  reported: no-such-host.invalid: getaddrinfo ',
    );
    expect(stdout).toContain('\n  what to do: Compare the host in base_url with the real one');
    expect(stdout).toContain('A station that fails costs something else');
    expect(stdout).toMatch(/\nstations: 2, well: 0, failed: 2, warnings: 0\n$/);
  });

  it('names a connection that is refused', async () => {
    const port = await closedPort();
    const { code, cell, stdout } = await checkLive(configOf(`http://127.0.0.1:${port}`, ['a']));
    expect(code).toBe(1);
    expect(cell('main', 'CONNECTION')).toBe('refused');
    expect(stdout).toContain(`station a of upstream main: 127.0.0.1:${port} refuses the connection: nothing listens on that port.`);
  });

  it('names a connection that never comes about', async () => {
    const silent = await listen(createServer((socket) => socket.on('error', () => undefined)));
    const { code, cell, stdout } = await checkLive(configOf(`https://127.0.0.1:${silent}`, ['a'], { upstream: { timeout: '200ms' } }));
    expect(code).toBe(1);
    expect(cell('main', 'CONNECTION')).toBe('no connection in time');
    expect(cell('main', 'TLS')).toBe('-');
    expect(stdout).toContain(`No connection to 127.0.0.1:${silent} comes about within the timeout.`);
    expect(stdout).toContain('A firewall that drops packets silently is the usual cause.');
  });

  it('names a service that does not answer in time', async () => {
    const { url } = await startFaulty({ kind: 'hang' });
    const { code, cell, stdout } = await checkLive(configOf(url, ['a'], { upstream: { timeout: '200ms' } }));
    expect(code).toBe(1);
    expect(cell('main', 'CONNECTION')).toMatch(/^in \d+ ms$/);
    expect(cell('a', 'LISTING')).toBe('failed: timeout');
    expect(stdout).toContain('The service did not answer in time.');
    expect(stdout).toContain('no complete reply within 200 ms');
  });

  it('names a connection that breaks off', async () => {
    const { url } = await startFaulty({ kind: 'truncate' });
    const { code, stdout } = await checkLive(configOf(url, ['a']));
    expect(code).toBe(1);
    expect(stdout).toContain('breaks the connection off before its reply is complete.');
  });

  it('names a proxy that refuses', async () => {
    const { url } = await startService();
    const proxy = await startProxy(undefined, 407);
    const proxyUrl = new URL(proxy.url);
    proxyUrl.username = 'user';
    proxyUrl.password = 'proxy-pass';
    const { code, cell, stdout } = await checkLive(configOf(url, ['a'], { upstream: { proxy_url: proxyUrl.href } }));
    expect(code).toBe(1);
    expect(cell('main', 'CONNECTION')).toBe('the proxy refuses');
    expect(stdout).toContain(`The proxy ${proxy.url.host} does not let us through to ${new URL(url).host}.`);
    expect(stdout).toContain('answered 407 to CONNECT');
    expect(stdout).toContain('After a 407 put user and password into proxy_url');
    expect(stdout).not.toContain('proxy-pass');
  });

  it('names a proxy that is not there', async () => {
    const port = await closedPort();
    const { code, stdout } = await checkLive(
      configOf('http://service.invalid', ['a'], { upstream: { proxy_url: `http://127.0.0.1:${port}` } }),
    );
    expect(code).toBe(1);
    expect(stdout).toContain(`127.0.0.1:${port} refuses the connection`);
    expect(stdout).toContain('Compare host and port in proxy_url');
  });
});

describe('check --live, with a trouble of TLS', () => {
  const secured = async (tls: ServiceOptions['tls'] = certificate(['127.0.0.1']), config: object = { ca_file: caFile() }) => {
    const { url } = await startService({ tls });
    return checkLive(configOf(url, ['a'], { upstream: { tls_config: config } }));
  };

  it('names an unknown authority', async () => {
    const { code, cell, stdout } = await secured(certificate(['127.0.0.1']), {});
    expect(code).toBe(1);
    expect(cell('main', 'CONNECTION')).toBe('made');
    expect(cell('main', 'TLS')).toMatch(/^unknown authority, TLSv1\.3, 36\d days left, issued by Our Authority$/);
    expect(stdout).toContain('was issued by an authority that is not trusted here: Our Authority.');
    expect(stdout).toContain('name that as tls_config.ca_file');
  });

  it('names an expired certificate', async () => {
    const { code, cell, stdout } = await secured(certificate(['127.0.0.1'], new Date(Date.now() - 36 * 3_600_000)));
    expect(code).toBe(1);
    expect(cell('main', 'TLS')).toMatch(/^expired, TLSv1\.3, ended \d{4}-\d\d-\d\d, issued by Our Authority$/);
    expect(stdout).toMatch(/The certificate of 127\.0\.0\.1:\d+ has expired, on \d{4}-\d\d-\d\d\./);
  });

  it('names a wrong host name', async () => {
    const { code, cell, stdout } = await secured(certificate(['monitor.example.com']));
    expect(code).toBe(1);
    expect(cell('main', 'TLS')).toMatch(/^wrong host name, /);
    expect(stdout).toContain('is made out to another host name: monitor.example.com.');
    expect(stdout).toContain('tls_config.server_name');
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('names a client certificate that is demanded (%s)', async (maxVersion) => {
    const tls = { ...certificate(['127.0.0.1']), requestCert: true, rejectUnauthorized: true, ca: authority.cert, maxVersion };
    const { code, cell, stdout } = await secured(tls);
    expect(code).toBe(1);
    expect(cell('main', 'TLS')).toMatch(/^client certificate demanded/);
    expect(stdout).toContain('it probably demands a client certificate.');
    expect(stdout).toContain('tls_config.cert_file and tls_config.key_file');
  });

  it('names a client certificate that is refused', async () => {
    const stranger = issue({ name: 'stranger' });
    const tls = { ...certificate(['127.0.0.1']), requestCert: true, rejectUnauthorized: true, ca: authority.cert };
    const config = {
      ca_file: caFile(),
      cert_file: temporaryFile('cert.pem', stranger.cert),
      key_file: temporaryFile('key.pem', stranger.key),
    };
    const { code, cell, stdout } = await secured(tls, config);
    expect(code).toBe(1);
    expect(cell('main', 'TLS')).toMatch(/^client certificate refused, /);
    expect(stdout).toContain('it probably does not accept the client certificate.');
  });

  it('names a version that is not allowed', async () => {
    const { code, stdout } = await secured(
      { ...certificate(['127.0.0.1']), maxVersion: 'TLSv1.2' },
      { ca_file: caFile(), min_version: 'TLS13' },
    );
    expect(code).toBe(1);
    expect(stdout).toContain('speaks no version of TLS that is allowed here.');
  });

  it('names a file that cannot be used', async () => {
    const gone = temporaryFile('ca.pem', '');
    rmSync(gone);
    const { code, cell, stdout } = await secured(certificate(['127.0.0.1']), { ca_file: gone });
    expect(code).toBe(1);
    expect(cell('main', 'TLS')).toMatch(/^unusable file, /);
    expect(stdout).toContain(`reported: cannot read the TLS file ${gone}: ENOENT`);
  });

  it('names a port that speaks no TLS', async () => {
    const { url } = await startService();
    const { code, cell, stdout } = await checkLive(configOf(url.replace('http:', 'https:'), ['a']));
    expect(code).toBe(1);
    expect(cell('main', 'TLS')).toBe('no TLS spoken');
    expect(stdout).toContain('does not speak TLS on this port, but base_url begins with https.');
    expect(stdout).toContain('reported: 127.0.0.1:');
    expect(stdout).toContain('SSL routines: wrong version number\n');
  });

  it('names a port that speaks TLS where plain HTTP was expected', async () => {
    const { url } = await startService({ tls: certificate(['127.0.0.1']) });
    const { code, cell, stdout } = await checkLive(configOf(url.replace('https:', 'http:'), ['a']));
    expect(code).toBe(1);
    expect(cell('main', 'TLS')).toBe('none, though TLS is spoken there');
    expect(stdout).toContain('speaks TLS on this port, but base_url begins with http.');
    expect(stdout).toContain('what to do: Begin base_url with https://.');
  });

  it('names it also when the service complains in HTTP', async () => {
    const port = await complainingTlsPort();
    const { code, stdout } = await checkLive(configOf(`http://127.0.0.1:${port}`, ['a']));
    expect(code).toBe(1);
    expect(stdout).toContain('speaks TLS on this port, but base_url begins with http.');
  });
});

/** As web servers do that notice plain HTTP on a port for TLS. */
async function complainingTlsPort(): Promise<number> {
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

describe('check --live, with a trouble of the credentials', () => {
  it('names credentials that are refused, and keeps them to itself', async () => {
    const { url } = await startService({ auth: { scheme: 'token', token: 'right-token' } });
    const { code, cell, stdout } = await checkLive(configOf(url, ['a'], { upstream: { authorization: { credentials: 'wrong-token' } } }));
    expect(code).toBe(1);
    expect(cell('a', 'AUTHENTICATION')).toBe('refused');
    expect(cell('a', 'PERMISSION')).toBe('unknown');
    expect(stdout).toContain('The service does not accept the credentials (401).');
    expect(stdout).toContain('answered 401 Unauthorized');
    expect(stdout).not.toContain('wrong-token');
  });

  it('accepts credentials that the service accepts', async () => {
    const { url } = await startService({ auth: { scheme: 'token', token: 'right-token' } });
    const { code, cell, stdout } = await checkLive(configOf(url, ['a'], { upstream: { authorization: { credentials: 'right-token' } } }));
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
  ])('names the clock when it makes signatures invalid (the service is at %i ms)', async (offsetMs, difference) => {
    const { url } = await startService({ auth: signed(300_000), now: () => Date.now() + offsetMs });
    const { code, cell, stdout } = await checkLive(configOf(url, ['a'], { upstream: { hmac } }));
    expect(code).toBe(1);
    expect(cell('main', 'CLOCK')).toMatch(difference);
    expect(cell('a', 'LISTING')).toBe('failed: clock');
    expect(stdout).toMatch(
      new RegExp(`the clock of this machine is ${difference.source} the service's: that alone makes it reject signatures`),
    );
    expect(stdout).toContain('best by NTP');
    expect(stdout).not.toContain('hmac-secret');
  });

  it('does not blame a clock that is in step', async () => {
    const { url } = await startService({ auth: { ...signed(300_000), accessKeyId: 'another' } as AuthCheck });
    const { code, cell, stdout } = await checkLive(configOf(url, ['a'], { upstream: { hmac } }));
    expect(code).toBe(1);
    expect(cell('main', 'CLOCK')).toBe('in step');
    expect(stdout).toContain('The service does not accept the credentials (401).');
  });

  it('warns of a clock that is off though signatures are still accepted', async () => {
    const { url } = await startService({ auth: signed(300_000), now: () => Date.now() - 120_000 });
    const { code, stdout } = await checkLive(configOf(url, ['a'], { upstream: { hmac } }));
    expect(code).toBe(0);
    expect(stdout).toMatch(/warning: upstream main: The clock of this machine is 1[12]\d s ahead of that of 127\.0\.0\.1:\d+\./);
  });

  it('names a credential file that is missing', async () => {
    const service = await startService();
    const file = temporaryFile('token', '');
    rmSync(file);
    const { code, cell, stdout } = await checkLive(
      configOf(service.url, ['a'], { upstream: { authorization: { credentials_file: file } } }),
    );
    expect(code).toBe(1);
    expect(cell('a', 'AUTHENTICATION')).toBe('not available');
    expect(stdout).toContain('The credentials could not be had, so the service was not asked.');
    expect(stdout).toContain(`reported: cannot read the credential file ${file}: ENOENT`);
    expect(service.requests).toEqual([]);
  });
});

describe('check --live, with a trouble of the service', () => {
  it('names a permission that is missing', async () => {
    const { url } = await startFaulty({ kind: 'status', code: 403 });
    const { code, cell, stdout } = await checkLive(configOf(url, ['a'], { upstream: { authorization: { credentials: 'some-token' } } }));
    expect(code).toBe(1);
    expect(cell('a', 'AUTHENTICATION')).toBe('accepted');
    expect(cell('a', 'PERMISSION')).toBe('denied');
    expect(stdout).toContain('The credentials are valid, but may not list this station (403).');
  });

  it.each<readonly [what: string, fault: Fault, listing: string, words: string, said: string]>([
    [
      'a station that is not found',
      { kind: 'status', code: 404 },
      'not_found',
      'The service knows no such station (404).',
      '404 Not Found',
    ],
    [
      'too many requests',
      { kind: 'status', code: 429, retryAfter: 1 },
      'rate_limited',
      'takes no more requests for now (429).',
      '429 Too Many',
    ],
    [
      'an error of the service',
      { kind: 'status', code: 500 },
      'status',
      'The service answered with an error.',
      '500 Internal Server Error',
    ],
    ['a redirect', { kind: 'redirect', location: 'https://sso.invalid' }, 'status', 'The service answered with an error.', 'sso.invalid'],
    ['a page of HTML', { kind: 'html' }, 'body', 'something that is not the listing it should be.', 'expected JSON, got a page of HTML'],
    [
      'a reply of another form',
      { kind: 'wrongJson', value: {} },
      'body',
      'something that is not the listing',
      'expected a field "resources"',
    ],
  ])('names %s', async (_what, fault, listing, words, said) => {
    const { url } = await startFaulty(fault);
    const { code, cell, stdout } = await checkLive(configOf(url, ['a']));
    expect(code).toBe(1);
    expect(cell('a', 'AUTHENTICATION')).toBe('unknown');
    expect(cell('a', 'LISTING')).toBe(`failed: ${listing}`);
    expect(stdout).toContain(`failure: station a of upstream main: `);
    expect(stdout).toContain(words);
    expect(stdout).toContain(said);
    expect(stdout).toContain('\n  what to do: ');
  });

  it('tells the stations apart that fail from those that do not', async () => {
    const service = await startService();
    service.setFaults('b', [{ kind: 'status', code: 503 }]);
    const { code, cell, stdout } = await checkLive(configOf(service.url, ['a', 'b', 'c']));
    expect(code).toBe(1);
    expect(['a', 'b', 'c'].map((name) => cell(name, 'LISTING'))).toEqual(['complete', 'failed: status', 'complete']);
    expect(cell('all', 'RESOURCES')).toBe('50');
    expect(stdout).toMatch(/\nstations: 3, well: 2, failed: 1, warnings: 0\n$/);
  });
});

describe('check --live, with doubts about the data', () => {
  it('names an incomplete listing, which is no failure', async () => {
    const { url } = await startFaulty({ kind: 'totalLies', delta: 5 });
    const { code, cell, stdout } = await checkLive(configOf(url, ['a']));
    expect(code).toBe(0);
    expect(cell('a', 'TOTAL')).toBe('30');
    expect(cell('a', 'RESOURCES')).toBe('25');
    expect(cell('a', 'LISTING')).toBe('incomplete');
    expect(stdout).toContain('warning: station a of upstream main: The listing is incomplete: it may miss resources');
    expect(stdout).toContain('reported: the service reports a total of 30, but 25 different records came');
  });

  it('names records and values that could not be read', async () => {
    const records = [wireRecord('a'), wireRecord('b', { state: {}, sku: [] }), wireRecord('c', { state: [] }), { resource_id: '' }];
    const { url } = await startService({ source: () => records.map((record) => ({ record })) });
    const { code, stdout } = await checkLive(configOf(url, ['a']));
    expect(code).toBe(0);
    expect(stdout).toContain('Records without a usable resource_id are left out: 1.');
    expect(stdout).toContain('Values that could not be read are left out: sku (1), state (2).');
  });

  it('names a listing that is empty', async () => {
    const { url } = await startService({ source: () => [] });
    const { code, stdout } = await checkLive(configOf(url, ['a']));
    expect(code).toBe(0);
    expect(stdout).toContain('The listing is empty.');
  });

  it('names series that are withheld', async () => {
    const { url } = await startService();
    const { code, stdout } = await checkLive(configOf(url, ['a'], { metrics: { max_resources: 3 } }));
    expect(code).toBe(0);
    expect(stdout).toMatch(/There are more resources than metrics\.max_resources, so \d+ series of single resources are withheld/);
  });

  it('names a refresh that takes longer than a scrape waits', async () => {
    const { url } = await startFaulty({ kind: 'latency', ms: 20 });
    const { code, stdout } = await checkLive(configOf(url, ['a']), '--scrape.timeout=1ms');
    expect(code).toBe(0);
    expect(stdout).toMatch(/A refresh takes \d+\.\d s, longer than the 0\.001 s that a scrape waits/);
    const background = configOf(url, ['a'], { cache: { refresh: 'background', ttl: '60s', error_ttl: '10s' } });
    expect((await checkLive(background, '--scrape.timeout=1ms')).stdout).toContain('warnings: 0\n');
  });

  it('names pages that are too large for the service', async () => {
    const { url } = await startFaulty({ kind: 'status', code: 413, when: { first: 1 } });
    const { code, stdout } = await checkLive(configOf(url, ['a'], { upstream: { page_size: 80 } }));
    expect(code).toBe(0);
    expect(stdout).toContain('The service found the pages too large: the refresh went on with 40 resources per page.');
    expect(stdout).toContain('what to do: Set page_size to 40,');
  });

  it('shows what the service says as text', async () => {
    const { url } = await startFaulty({ kind: 'status', code: 500, body: '\u001b[2Jgone\nall' });
    const { stdout } = await checkLive(configOf(url, ['a']));
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toContain('gone all');
  });
});

describe('check', () => {
  const mistakes = 'upstreams: {}\nstations: 3\nsurprise: true\n';

  it.each([[['check']], [['check', '--live']]])('tells the mistakes of both files as --config.check does (%j)', async (command) => {
    const flags = [`--config.file=${temporaryFile('config.yaml', mistakes)}`, `--web.config.file=${temporaryFile('web.yaml', 'odd: 1\n')}`];
    const before = run(['--config.check', ...flags]);
    const now = run([...command, ...flags]);
    expect([await before.exit, await now.exit]).toEqual([1, 1]);
    expect(now.output()).toEqual(before.output());
    expect(now.output().stdout).toBe('');
    expect(now.output().stderr.split('\n')).toHaveLength(5);
  });

  it('tells the mistakes of the web configuration alone', async () => {
    const { url } = await startService();
    const web = temporaryFile('web.yaml', 'odd: 1\n');
    const { code, stdout, stderr } = await checkLive(configOf(url, ['a']), `--web.config.file=${web}`);
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(`${web}:1:1: odd: `);
  });

  it('asks nobody without --live', async () => {
    const service = await startService();
    const file = temporaryFile('config.yaml', stringify(configOf(service.url, ['a'])));
    const { exit, output } = run(['check', `--config.file=${file}`]);
    expect(await exit).toBe(0);
    expect(output()).toEqual({ stdout: `${file} is valid, stations: 1\n`, stderr: '' });
    expect(service.requests).toEqual([]);
  });

  it('needs a host name that tells the shard when asked to look there', async () => {
    const { url } = await startService();
    const { code, stderr } = await checkLive(configOf(url, ['a']), '--shard=auto');
    expect(code).toBe(1);
    expect(stderr).toContain('--shard=auto: expected a host name');
  });

  it.each(['SIGINT', 'SIGTERM'])('ends at once on %s', async (signal) => {
    const service = await startFaulty({ kind: 'hang' });
    const file = temporaryFile(
      'config.yaml',
      stringify(configOf(service.url, ['a'], { upstream: { timeout: '1h', refresh_timeout: '1h' } })),
    );
    const { exit, signals, output } = run(['check', '--live', `--config.file=${file}`]);
    await expect.poll(() => service.requests.length).toBe(1);
    signals.emit(signal);
    expect(await exit).toBe(1);
    expect(output().stderr).toBe(`ended by ${signal} before every station had answered\n`);
  });
});
