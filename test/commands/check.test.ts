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
const certificate = (hosts: readonly string[] = ['127.0.0.1'], notAfter = inAYear()) =>
  issue({ name: 'service', issuer: authority, hosts, notAfter });
const requiringCertificates = () => ({
  ...certificate(),
  requestCert: true,
  rejectUnauthorized: true,
  ca: authority.cert,
});

const startService = (options: ServiceOptions = {}) => startTestService({ source: () => entriesOf(25), ...options });

const startFaulty = (...faults: readonly Fault[]) => startService({ faults: { '*': faults } });

const missingFile = () => {
  const file = temporaryFile('gone', '');
  rmSync(file);
  return file;
};

type Changes = Parameters<typeof configOf>[2];

/** A check, and what its output must show; cells by their row and column. */
interface Case {
  /** Instead of a healthy service. */
  readonly service?: () => ServiceOptions;
  readonly fault?: Fault;
  /** Instead of the URL of the service. */
  readonly url?: (service: string) => string | Promise<string>;
  readonly stations?: readonly string[];
  readonly changes?: () => Changes | Promise<Changes>;
  readonly flags?: readonly string[];
  readonly code?: number;
  readonly cells?: Readonly<Record<string, unknown>>;
  readonly shown?: readonly (string | RegExp)[];
  readonly hidden?: readonly (string | RegExp)[];
}

async function expectCheck(given: Case, defaultCode: number): Promise<void> {
  const { service, fault, url, stations = ['a'], changes, flags = [], code = defaultCode } = given;
  const started = await startService(service?.() ?? (fault && { faults: { '*': [fault] } }));
  const config = configOf((await url?.(started.url)) ?? started.url, stations, await changes?.());
  const result = await checkLive(config, ...flags);
  expect(result.code).toBe(code);
  const { cells = {}, shown = [], hidden = [] } = given;
  const found = Object.keys(cells).map((place) => {
    const [row = '', column = ''] = place.split(/ (.*)/s);
    return [place, result.cell(row, column)];
  });
  expect(Object.fromEntries(found)).toEqual(cells);
  for (const text of shown) expect(result.stdout).toMatch(text);
  for (const text of hidden) expect(result.stdout).not.toMatch(text);
}

const matching = (pattern: RegExp) => expect.stringMatching(pattern);

const token = { scheme: 'token', token: 'right-token' } as const;
const withToken = (credentials: string) => () => ({ upstream: { authorization: { credentials } } });

const hmac = { access_key_id: 'AK', secret_access_key: 'hmac-secret' };
const signed = (changes: object = {}, offsetMs = 0) => ({
  auth: {
    scheme: 'hmac',
    accessKeyId: 'AK',
    secretAccessKey: 'hmac-secret',
    signedHeaders: ['x-date'],
    skewMs: 300_000,
    ...changes,
  } as AuthCheck,
  now: () => Date.now() + offsetMs,
});

const BACKGROUND = { cache: { refresh: 'background', ttl: '60s', error_ttl: '10s' } };

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

  it.each<readonly [what: string, given: Case]>([
    [
      'the requests of all listings, per scrape with a ttl of 0',
      {
        changes: () => ({ station: { products: ['p', 'q'], alertability: true } }),
        cells: { 'a REQUESTS': '6/scrape' },
        shown: ['With a ttl of 0, every scrape refreshes the station.'],
        hidden: ['in the background'],
      },
    ],
    [
      'that the service reports no total',
      { fault: { kind: 'totalIs', total: undefined }, cells: { 'a TOTAL': 'none', 'a LISTING': 'complete' } },
    ],
    [
      'that refreshes run in the background',
      { changes: () => BACKGROUND, shown: ['Refreshes run in the background'], hidden: ['A scrape refreshes'] },
    ],
    [
      'the certificate, and warns before it expires',
      {
        service: () => ({ tls: certificate(['127.0.0.1'], new Date(Date.now() + 3.5 * 86_400_000)) }),
        changes: () => ({ upstream: { tls_config: { ca_file: caFile() } } }),
        cells: { 'main TLS': 'TLSv1.3, 3 days left, issued by Our Authority' },
        shown: [
          /\nwarning: upstream main: The certificate of 127\.0\.0\.1:\d+ expires on \d{4}-\d\d-\d\d\.\n {2}what to do: /,
          'failed: 0, warnings: 2\n',
        ],
      },
    ],
    [
      'that the certificate is not verified',
      {
        service: () => ({ tls: certificate() }),
        changes: () => ({ upstream: { tls_config: { insecure_skip_verify: true } } }),
        cells: { 'main TLS': matching(/^TLSv1\.3, 36\d days left, issued by Our Authority, not verified$/) },
        shown: ['is not verified, because insecure_skip_verify is set'],
      },
    ],
    [
      'that the credentials are accepted',
      {
        service: () => ({ auth: token }),
        changes: withToken('right-token'),
        cells: { 'a AUTHENTICATION': 'accepted' },
        hidden: ['right-token'],
      },
    ],
  ])('prints %s', (_, given) => expectCheck(given, 0));

  it('connects through the proxy', async () => {
    const proxy = await startProxy();
    await expectCheck(
      {
        changes: () => ({ upstream: { proxy_url: proxy.url.href } }),
        cells: { 'main DNS': 'of the proxy: not needed' },
      },
      0,
    );
    expect(proxy.tunnels.length).toBeGreaterThan(1);
  });
});

describe('check --live, failures', () => {
  it.each<readonly [what: string, given: Case]>([
    [
      'an unknown host',
      {
        url: () => 'http://no-such-host.invalid',
        stations: ['a', 'b'],
        cells: {
          'main DNS': 'unknown host',
          'main CONNECTION': 'unknown host',
          'main CLOCK': '–',
          'a FIRST PAGE': '–',
          'a TOTAL': '–',
          'a LISTING': 'failed: unknown host',
          'a REQUESTS': '–',
        },
        shown: [
          '\nfailure: stations a, b of upstream main: The host name of no-such-host.invalid cannot be resolved.\n  reported: no-such-host.invalid: getaddrinfo ',
          '\n  what to do: Check the host in base_url',
          'A failed station is refreshed again after error_ttl.',
          /\nstations: 2, ok: 0, failed: 2, warnings: 1\n$/,
        ],
      },
    ],
    [
      'a refused connection',
      {
        url: async () => `http://127.0.0.1:${await closedPort()}`,
        cells: { 'main CONNECTION': 'connection refused' },
        shown: [
          /station a of upstream main: 127\.0\.0\.1:\d+ refused the connection: no process listens on that port\./,
        ],
      },
    ],
    [
      'a connect timeout',
      {
        url: async () => {
          const silent = createServer((socket) => socket.on('error', () => undefined));
          return `https://127.0.0.1:${await listen(silent)}`;
        },
        changes: () => ({ upstream: { timeout: '200ms' } }),
        cells: { 'main CONNECTION': 'connect timeout', 'main TLS': '–' },
        shown: ['was established within the timeout.', 'The usual cause is a firewall that drops packets.'],
      },
    ],
    [
      'a request timeout',
      {
        fault: { kind: 'hang' },
        changes: () => ({ upstream: { timeout: '4s' } }),
        cells: { 'main CONNECTION': matching(/^in \d+ ms$/), 'a LISTING': 'failed: timeout' },
        shown: [
          'The service did not answer in time.',
          'no complete reply within 4000 ms',
          '\nwarning: station a of upstream main: The station hangs: its latest request got no reply.',
        ],
      },
    ],
    [
      'a connection closed early',
      { fault: { kind: 'truncate' }, shown: ['closed the connection before the reply was complete.'] },
    ],
    [
      'a refusal by the proxy, without printing its password',
      {
        changes: async () => {
          const { host } = (await startProxy(undefined, 407)).url;
          return { upstream: { proxy_url: `http://user:proxy-pass@${host}` } };
        },
        cells: { 'main CONNECTION': 'refused by proxy' },
        shown: [
          /The proxy 127\.0\.0\.1:\d+ did not open a tunnel to 127\.0\.0\.1:\d+\./,
          'answered 407 to CONNECT',
          'For a 407, add user and password to proxy_url.',
        ],
        hidden: ['proxy-pass'],
      },
    ],
    [
      'a proxy that refuses connections',
      {
        url: () => 'http://service.invalid',
        changes: async () => ({ upstream: { proxy_url: `http://127.0.0.1:${await closedPort()}` } }),
        shown: [/127\.0\.0\.1:\d+ refused the connection/, 'Check the host and port in proxy_url'],
      },
    ],
    [
      'an untrusted issuer',
      {
        service: () => ({ tls: certificate() }),
        cells: {
          'main CONNECTION': 'established',
          'main TLS': matching(/^untrusted issuer, TLSv1\.3, 36\d days left, issued by Our Authority$/),
        },
        shown: ['was issued by an untrusted authority: Our Authority.', 'set tls_config.ca_file'],
      },
    ],
    [
      'an expired certificate',
      {
        service: () => ({ tls: certificate(['127.0.0.1'], new Date(Date.now() - 36 * 3_600_000)) }),
        changes: () => ({ upstream: { tls_config: { ca_file: caFile() } } }),
        cells: { 'main TLS': matching(/^expired, TLSv1\.3, expired \d{4}-\d\d-\d\d, issued by Our Authority$/) },
        shown: [/The certificate of 127\.0\.0\.1:\d+ expired on \d{4}-\d\d-\d\d\./],
      },
    ],
    [
      'a host name mismatch',
      {
        service: () => ({ tls: certificate(['monitor.example.com']) }),
        changes: () => ({ upstream: { tls_config: { ca_file: caFile() } } }),
        cells: { 'main TLS': matching(/^host name mismatch, /) },
        shown: ['was issued for another host name: monitor.example.com.', 'tls_config.server_name'],
      },
    ],
    ...(['TLSv1.2', 'TLSv1.3'] as const).map((maxVersion): [string, Case] => [
      `a required client certificate (${maxVersion})`,
      {
        service: () => ({ tls: { ...requiringCertificates(), maxVersion } }),
        changes: () => ({ upstream: { tls_config: { ca_file: caFile() } } }),
        cells: { 'main TLS': matching(/^client certificate required/) },
        shown: ['it probably requires a client certificate.', 'tls_config.cert_file and tls_config.key_file'],
      },
    ]),
    [
      'a rejected client certificate',
      {
        service: () => ({ tls: requiringCertificates() }),
        changes: () => {
          const { cert, key } = issue({ name: 'stranger' });
          const files = { cert_file: temporaryFile('cert.pem', cert), key_file: temporaryFile('key.pem', key) };
          return { upstream: { tls_config: { ca_file: caFile(), ...files } } };
        },
        cells: { 'main TLS': matching(/^client certificate rejected, /) },
        shown: ['it probably rejects the client certificate.'],
      },
    ],
    [
      'a TLS version that is not allowed',
      {
        service: () => ({ tls: { ...certificate(), maxVersion: 'TLSv1.2' } }),
        changes: () => ({ upstream: { tls_config: { ca_file: caFile(), min_version: 'TLS13' } } }),
        shown: ['supports no TLS version that the configuration allows.'],
      },
    ],
    [
      'a TLS file that cannot be read',
      {
        service: () => ({ tls: certificate() }),
        changes: () => ({ upstream: { tls_config: { ca_file: missingFile() } } }),
        cells: { 'main TLS': matching(/^unusable file, /) },
        shown: [/reported: cannot read TLS file \S+: ENOENT/],
      },
    ],
    [
      'an https URL of a plain HTTP port',
      {
        url: (service) => service.replace('http:', 'https:'),
        cells: { 'main TLS': 'no TLS on this port' },
        shown: [
          'does not use TLS on this port, but base_url is an https URL.',
          /reported: 127\.0\.0\.1:.* SSL routines: wrong version number\n/,
        ],
      },
    ],
    [
      'an http URL of a TLS port',
      {
        service: () => ({ tls: certificate() }),
        url: (service) => service.replace('https:', 'http:'),
        cells: { 'main TLS': 'port expects TLS' },
        shown: ['expects TLS on this port, but base_url is an http URL.', 'what to do: Start base_url with https://.'],
      },
    ],
    [
      'an http URL of a TLS port that answers 400',
      {
        url: async () => `http://127.0.0.1:${await tlsPortAnswering400()}`,
        shown: ['expects TLS on this port, but base_url is an http URL.'],
      },
    ],
    [
      'rejected credentials, without printing them',
      {
        service: () => ({ auth: token }),
        changes: withToken('wrong-token'),
        cells: { 'a AUTHENTICATION': 'rejected', 'a PERMISSION': 'unknown' },
        shown: ['The service rejected the Bearer credentials of authorization (401).', 'answered 401 Unauthorized'],
        hidden: [/hmac|clock of|wrong-token/],
      },
    ],
    ...(
      [
        [-3_600_000, '36\\d\\d s ahead of'],
        [3_600_000, '3[56]\\d\\d s behind'],
      ] as const
    ).map(([offsetMs, difference]): [string, Case] => [
      `rejected signatures by the clock difference (${offsetMs} ms)`,
      {
        service: () => signed({}, offsetMs),
        changes: () => ({ upstream: { hmac } }),
        cells: { 'main CLOCK': matching(new RegExp(difference)), 'a LISTING': 'failed: clock difference' },
        shown: [new RegExp(`The local clock is ${difference} the service's, which is enough to invalidate`), 'NTP'],
        hidden: ['hmac-secret'],
      },
    ]),
    [
      'rejected signatures without a clock difference',
      {
        service: () => signed({ accessKeyId: 'another' }),
        changes: () => ({ upstream: { hmac } }),
        cells: { 'main CLOCK': 'in sync' },
        shown: ['The service rejected the signature of hmac (401).'],
      },
    ],
    [
      'missing credentials',
      {
        service: () => ({ auth: token }),
        cells: { 'a AUTHENTICATION': 'no credentials' },
        shown: ['The service requires credentials (401), and no credentials are configured.'],
      },
    ],
    [
      'a missing credential file',
      {
        changes: () => ({ upstream: { authorization: { credentials_file: missingFile() } } }),
        cells: { 'a AUTHENTICATION': 'no credentials', 'a FIRST PAGE': '–' },
        shown: [
          'The credentials could not be read or obtained, so no request was sent.',
          /reported: cannot read credential file \S+: ENOENT/,
        ],
      },
    ],
    [
      'a missing permission',
      {
        fault: { kind: 'status', code: 403 },
        changes: withToken('some-token'),
        cells: { 'a AUTHENTICATION': 'accepted', 'a PERMISSION': 'denied' },
        shown: ['The service accepted the Bearer credentials of authorization, but the account has no permission'],
      },
    ],
    ...(
      [
        [{ kind: 'status', code: 404 }, 'not_found', 'The service does not know this station (404).', '404 Not Found'],
        [{ kind: 'status', code: 500 }, 'status', 'The service returned an error status.', '500 Internal Server Error'],
        [
          { kind: 'status', code: 302, headers: { location: 'https://sso.invalid' } },
          'status',
          'The service returned an error status.',
          'sso.invalid',
        ],
        [NAMED_FAULTS.html, 'body', 'The reply is not a listing.', 'expected JSON, got an HTML or XML page'],
        [
          { kind: 'status', code: 200, body: '{}' },
          'body',
          'The reply is not a listing.',
          'expected a JSON object with a field "resources"',
        ],
      ] as const satisfies readonly (readonly [Fault, string, string, string])[]
    ).map(([fault, reason, meaning, reported]): [string, Case] => [
      `a reply: ${reported}`,
      {
        fault,
        cells: { 'a AUTHENTICATION': 'unknown', 'a LISTING': `failed: ${reason}` },
        shown: [`failure: station a of upstream main: ${meaning}`, reported, '\n  what to do: '],
      },
    ]),
    [
      'requests that are all throttled, with the rate',
      {
        fault: { kind: 'status', code: 429 },
        stations: ['a', 'b'],
        changes: () => ({ upstream: { max_retries: 2, page_size: 100 } }),
        cells: { 'a LISTING': 'failed: rate_limited' },
        shown: [
          'failure: stations a, b of upstream main: The service is limiting requests (429).',
          /The service throttled (\d+) of \1 requests \(429\)\. The limit is now \d\.\d requests\/s\.\n/,
        ],
        hidden: [/page size|lower page_size|Set page_size/],
      },
    ],
    [
      'a reply with control characters, which it escapes',
      {
        fault: { kind: 'status', code: 500, body: '\u001b[2Jgone\nall' },
        shown: ['gone all'],
        hidden: ['\u001b'],
      },
    ],
    [
      'the failure of one of several stations',
      {
        service: () => ({ faults: { b: [{ kind: 'status', code: 503 }] } }),
        stations: ['a', 'b', 'c'],
        cells: {
          'a LISTING': 'complete',
          'b LISTING': 'failed: status',
          'c LISTING': 'complete',
          'all RESOURCES': '50',
        },
        shown: [/\nstations: 3, ok: 2, failed: 1, warnings: 1\n$/],
      },
    ],
  ])('explains %s', (_, given) => expectCheck(given, 1));
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

describe('check --live, warnings', () => {
  it.each<readonly [what: string, given: Case]>([
    [
      'an incomplete listing',
      {
        fault: { kind: 'totalLies', delta: 5 },
        cells: { 'a TOTAL': '30', 'a RESOURCES': '25', 'a LISTING': 'incomplete' },
        shown: [
          'warning: station a of upstream main: The listing is incomplete: resources may be missing',
          'reported: the service reports a total of 30, but returned 25 distinct records',
        ],
      },
    ],
    [
      'rejected records and invalid values',
      {
        service: () => {
          const changes = [{}, { state: {}, sku: [] }, { state: [] }, { resource_id: '' }];
          return { source: () => changes.map((change, at) => ({ record: wireRecord(`r${at}`, change) })) };
        },
        shown: [
          'Records rejected because they have no usable resource_id: 1.',
          'Invalid field values dropped: sku (1), state (2).',
        ],
      },
    ],
    ['an empty listing', { service: () => ({ source: () => [] }), shown: ['The listing is empty.'] }],
    [
      'withheld series',
      {
        changes: () => ({ metrics: { max_resources: 3 } }),
        shown: [/The station has more resources than metrics\.max_resources: \d+ per-resource series are withheld/],
      },
    ],
    [
      'a refresh longer than the scrape timeout',
      {
        fault: { kind: 'latency', ms: 20 },
        flags: ['--scrape.timeout=1ms'],
        shown: [/A refresh takes \d+\.\d s, longer than the scrape timeout of 0\.001 s/],
      },
    ],
    [
      'no such refresh in the background',
      {
        fault: { kind: 'latency', ms: 20 },
        changes: () => BACKGROUND,
        flags: ['--scrape.timeout=1ms'],
        shown: ['warnings: 1\n'],
      },
    ],
    [
      'a page size that the service rejects',
      {
        fault: { kind: 'status', code: 413, when: { first: 1 } },
        changes: () => ({ upstream: { page_size: 80 } }),
        shown: [
          'The service rejected the page size: the refresh continued with 40 resources per page.',
          'what to do: Set page_size to 40,',
        ],
      },
    ],
    [
      'throttling, without advice on the page size',
      {
        fault: { kind: 'status', code: 429, retryAfter: '0.01', when: { first: 2 } },
        changes: () => ({ upstream: { max_retries: 2, concurrency: 1 }, cache: { ttl: '60s' } }),
        shown: [
          '\nwarning: upstream main: The service throttled 2 of 5 requests (429) and requested a pause of up to 1 s (Retry-After).\n  what to do: The exporter adapts its request rate, and data gets older. Send fewer requests: raise cache.ttl or page_size, or remove products.',
          /warnings: 2\n$/,
        ],
      },
    ],
    [
      'a clock difference while signatures are accepted',
      {
        service: () => signed({}, -120_000),
        changes: () => ({ upstream: { hmac } }),
        shown: [/warning: upstream main: The local clock is 1[12]\d s ahead of that of 127\.0\.0\.1:\d+\./],
      },
    ],
    [
      'a capacity that does not suffice',
      {
        fault: { kind: 'latency', ms: 20 },
        changes: () => ({ upstream: { concurrency: 1 }, cache: { ttl: '10ms' } }),
        shown: [
          /\nwarning: upstream main: Refreshing once per ttl needs 300 requests\/s, and [\d.]+ are possible: [\d,]+ % of the capacity, so data gets older than ttl\.\n {2}what to do: See https:.*#overload\n/,
        ],
        hidden: ['\ncapacity: '],
      },
    ],
  ])('warns of %s, without changing the exit code', (_, given) => expectCheck(given, 0));
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
    expect(paints).toContain('1 station: 2 of 3 pages, 1 retry');
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
