import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { describe, expect, it } from 'vitest';
import type { AuthCheck } from '../../src/simulator/auth.ts';
import { type Fault, NAMED_FAULTS, replyWith, slow } from '../../src/simulator/faults.ts';
import { configFlag, resultOf, run } from '../e2e/running-program.ts';
import { configOf, entriesOf, startExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { valuesOf } from '../metrics/parse-exposition.ts';
import {
  first,
  reportedTotal,
  type ServiceOptions,
  type TestFault,
  wrongTotal,
} from '../simulator/simulated-service.ts';
import { issue } from '../upstream/support/certificates.ts';
import { temporaryFile } from '../upstream/support/files.ts';
import { startProxy } from '../upstream/support/proxy.ts';
import { closedPort, listen } from '../upstream/support/service.ts';
import { checkLive } from './check-live.ts';

const DAY_MS = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);

const authority = issue({ name: 'Our Authority', notAfter: inDays(365) });
const certificate = (host = '127.0.0.1', days = 365) =>
  issue({ name: 'service', issuer: authority, hosts: [host], notAfter: inDays(days) });

type Changes = Parameters<typeof configOf>[2];

const startService = (options: ServiceOptions = {}) => startTestService({ source: () => entriesOf(25), ...options });

/** The configuration of stations whose service has 25 resources. */
const configFor = async (options: ServiceOptions = {}, changes: Changes = {}, stations = ['a']) =>
  configOf((await startService(options)).url, stations, changes);

const faulty = (fault: TestFault, changes: Changes = {}, stations = ['a']) =>
  configFor({ faults: { '*': [fault] } }, changes, stations);

const withTls = (options: object = {}, tls: ServiceOptions['tls'] = certificate()) =>
  configFor({ tls }, { upstream: { tls_config: { ca_file: temporaryFile('ca.pem', authority.cert), ...options } } });

const clientsOf = (maxVersion: 'TLSv1.2' | 'TLSv1.3') => ({
  ...certificate(),
  requestCert: true,
  rejectUnauthorized: true,
  ca: authority.cert,
  maxVersion,
});

/** With another scheme in its URL. */
const withScheme = (scheme: string, { upstreams: { main }, ...config }: ReturnType<typeof configOf>) => ({
  ...config,
  upstreams: { main: { ...main, base_url: main.base_url.replace(/^\w+/, scheme) } },
});

/** Answers 400 to plain HTTP on a TLS port, as nginx does. */
async function tlsPortAnswering400(): Promise<number> {
  const secure = createTlsServer(certificate());
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

const token = (credentials: string) => ({ upstream: { authorization: { credentials } } });
const tokenCheck: AuthCheck = { authorization: { credentials: 'right-secret' } };
const hmacCheck = { hmac: { access_key_id: 'AK', secret_access_key: 'hmac-secret', signed_headers: ['x-date'] } };
const hmac = { upstream: hmacCheck };

/** Signatures are checked by a clock that differs from the local one. */
const withClock = (differenceMs: number) => configFor({ auth: hmacCheck, now: () => Date.now() + differenceMs }, hmac);

const BACKGROUND = { cache: { refresh: 'background', ttl: '60s', error_ttl: '10s' } };

/** What a report shows: cells by row and column, and texts. */
type Shown = [cells: Readonly<Record<string, string | RegExp>>, ...texts: (string | RegExp)[]];
type Case = [what: string, config: () => object | Promise<object>, ...Shown];

function expectReport({ stdout, stderr, cell }: Awaited<ReturnType<typeof checkLive>>, ...[cells, ...texts]: Shown) {
  for (const [place, text] of Object.entries(cells)) {
    const [row = '', column = ''] = place.split('.');
    expect(cell(row, column), place).toEqual(typeof text === 'string' ? text : expect.stringMatching(text));
  }
  for (const text of texts) expect(stdout).toMatch(text);
  expect(stdout + stderr).not.toMatch(/-secret/);
}

describe('check --live', () => {
  it('prints a table of upstreams and one of stations, and exits with 0', async () => {
    const report = await checkLive(await configFor({}, { cache: { ttl: '60s' } }, ['a', 'b']));
    expect(report.code).toBe(0);
    expect(report.stderr).toMatch(/^warning: \S+:3:5: upstreams\.main: no credentials are configured, .*\n$/);
    expectReport(
      report,
      {
        'main.SERVICE': /^127\.0\.0\.1:\d+$/,
        'main.DNS': 'not needed',
        'main.CONNECTION': /^in \d+ ms$/,
        'main.TLS': 'none (plain HTTP)',
        'main.CLOCK': 'in sync',
        'a.AUTHENTICATION': 'not required',
        'a.PERMISSION': 'granted',
        'a.FIRST PAGE': /^\d+ ms$/,
        'a.TOTAL': '25',
        'a.RESOURCES': '25',
        'a.LISTING': 'complete',
        'a.REQUESTS': '180/h',
        'all.RESOURCES': '50',
        'all.REQUESTS': '360/h',
      },
      /^\S+ is valid, stations: 2\n\nUPSTREAM /,
      /\nA scrape refreshes what is older than ttl: /,
      /^(?!.*(With a ttl of 0|Refreshes run in the background))/s,
      /\ncapacity: upstream main: Refreshing once per ttl needs 0\.1 requests\/s, and [\d.,]+ are possible: [\d.,]+ %/,
      /\nstations: 2, ok: 2, failed: 0, warnings: 1\n$/,
    );
  });

  it('prints the series and bytes that the exporter will publish', async () => {
    const config = await configFor({}, { cache: { ttl: '1h' } }, ['a', 'b']);
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
    const config = configOf(service.url, ['a', 'b', 'c', 'd'], { station: { upstream: 'main' } });
    const upstreams = { ...config.upstreams, idle: { base_url: 'http://127.0.0.1:1' } };
    const { stdout } = await checkLive({ ...config, upstreams }, '--shard=0', '--total-shards=2');
    const requested = new Set(service.requests.map(({ station }) => station));
    expect(requested.size).toBeGreaterThan(0);
    expect(requested.size).toBeLessThan(4);
    expect(stdout).toContain(`\nstations: ${requested.size}, ok: ${requested.size}, `);
    expect(stdout).not.toContain('idle');
  });

  it('prints that the shard has no station', async () => {
    const config = await configFor();
    const outputs = await Promise.all([0, 1].map((shard) => checkLive(config, `--shard=${shard}`, '--total-shards=2')));
    expect(outputs.map(({ code }) => code)).toEqual([0, 0]);
    expect(outputs.filter(({ stdout }) => /No station belongs to this shard.*\n$/.test(stdout))).toHaveLength(1);
  });

  it('connects through the proxy', async () => {
    const proxy = await startProxy();
    const report = await checkLive(await configFor({}, { upstream: { proxy_url: proxy.url.href } }));
    expect(report.code).toBe(0);
    expectReport(report, { 'main.DNS': 'of the proxy: not needed' });
    expect(proxy.tunnels.length).toBeGreaterThan(1);
  });

  it.each<Case>([
    [
      'an unknown host',
      () => configOf('http://no-such-host.invalid', ['a', 'b']),
      {
        'main.DNS': 'unknown host',
        'main.CONNECTION': 'unknown host',
        'main.CLOCK': '–',
        'a.FIRST PAGE': '–',
        'a.TOTAL': '–',
        'a.LISTING': 'failed: unknown host',
        'a.REQUESTS': '–',
      },
      '\nfailure: each of the stations a, b of upstream main: The host name of no-such-host.invalid cannot be resolved.\n  reported: no-such-host.invalid: getaddrinfo ',
      '\n  what to do: Check the host in base_url',
      'A failed station is refreshed again after error_ttl.',
      /\nstations: 2, ok: 0, failed: 2, warnings: 1\n$/,
    ],
    [
      'a refused connection',
      async () => configOf(`http://127.0.0.1:${await closedPort()}`, ['a']),
      { 'main.CONNECTION': 'connection refused' },
      /station a of upstream main: 127\.0\.0\.1:\d+ refused the connection/,
    ],
    [
      'a connect timeout',
      async () => {
        const silent = await listen(createServer((socket) => socket.on('error', () => undefined)));
        return configOf(`https://127.0.0.1:${silent}`, ['a'], { upstream: { timeout: '200ms' } });
      },
      { 'main.CONNECTION': 'connect timeout', 'main.TLS': '–' },
      /No connection to 127\.0\.0\.1:\d+ was established within the timeout\./,
      'firewall',
    ],
    [
      'stations that hang',
      () => faulty(NAMED_FAULTS.hang, { upstream: { timeout: '4s' } }, ['a', 'b']),
      { 'main.CONNECTION': /^in \d+ ms$/, 'a.LISTING': 'failed: timeout' },
      'The service did not answer in time.',
      'no complete reply within 4000 ms',
      '\nwarning: each of the stations a, b of upstream main: The station hangs',
    ],
    [
      'a refusal by the proxy',
      async () => {
        const { host } = (await startProxy(undefined, 407)).url;
        return configFor({}, { upstream: { proxy_url: `http://user:proxy-secret@${host}` } });
      },
      { 'main.CONNECTION': 'refused by proxy' },
      /The proxy 127\.0\.0\.1:\d+ did not open a tunnel to 127\.0\.0\.1:\d+\./,
      'answered 407 to CONNECT',
      'For a 407, add user and password to proxy_url.',
    ],
    [
      'an untrusted issuer',
      () => configFor({ tls: certificate() }),
      {
        'main.CONNECTION': 'established',
        'main.TLS': /^untrusted issuer, TLSv1\.3, 36\d days left, issued by Our Authority$/,
      },
      'was issued by an untrusted authority: Our Authority.',
      'set tls_config.ca_file',
    ],
    ...(['TLSv1.2', 'TLSv1.3'] as const).map(
      (version): Case => [
        `a required client certificate (${version})`,
        () => withTls({}, clientsOf(version)),
        { 'main.TLS': /^client certificate required/ },
        'it probably requires a client certificate.',
        'tls_config.cert_file and tls_config.key_file',
      ],
    ),
    [
      'an http URL of a TLS port',
      async () => withScheme('http', await withTls()),
      { 'main.TLS': 'port expects TLS' },
      'expects TLS on this port, but base_url is an http URL.',
      'what to do: Start base_url with https://.',
    ],
    [
      'an http URL of a TLS port that answers 400',
      async () => configOf(`http://127.0.0.1:${await tlsPortAnswering400()}`, ['a']),
      {},
      'expects TLS on this port, but base_url is an http URL.',
    ],
    [
      'rejected credentials',
      () => configFor({ auth: tokenCheck }, token('wrong-secret')),
      { 'a.AUTHENTICATION': 'rejected', 'a.PERMISSION': 'unknown' },
      'The service rejected the Bearer credentials of authorization (401).',
      'answered 401 Unauthorized',
    ],
    ...[[-3_600_000, '3[56]\\d\\d s ahead of'] as const, [3_600_000, '3[56]\\d\\d s behind'] as const].map(
      ([differenceMs, words]): Case => [
        `rejected signatures by a clock difference of ${differenceMs} ms`,
        () => withClock(differenceMs),
        { 'main.CLOCK': new RegExp(words), 'a.LISTING': 'failed: clock difference' },
        new RegExp(`The local clock is ${words} the service's, which is enough to invalidate signatures`),
        'NTP',
      ],
    ),
    [
      'a missing permission',
      () => faulty(replyWith(403), token('some-secret')),
      { 'a.AUTHENTICATION': 'accepted', 'a.PERMISSION': 'denied' },
      'The service accepted the Bearer credentials of authorization, but the account has no permission',
    ],
    [
      'an error status, without its control characters',
      () => faulty(replyWith(500, {}, '\u001b[2Jgone\nall')),
      { 'a.LISTING': 'failed: status' },
      'The service returned an error status.',
      /500 Internal Server Error.*gone all/,
      /^\P{Cc}+(\n\P{Cc}*)+$/u,
    ],
    [
      'too many requests, without advice of smaller pages',
      () => faulty(replyWith(429), { upstream: { max_retries: 2, page_size: 100 } }, ['a', 'b']),
      { 'a.LISTING': 'failed: rate_limited' },
      'failure: each of the stations a, b of upstream main: The service is limiting requests (429).',
      '429 Too Many',
      /The service throttled (\d+) of \1 requests \(429\)\. The limit is now \d\.\d requests\/s\.\n/,
      /^(?!.*(page size|lower page_size|Set page_size))/s,
    ],
    [
      'which of the stations failed',
      () => configFor({ faults: { b: [replyWith(503)] } }, {}, ['a', 'b', 'c']),
      { 'a.LISTING': 'complete', 'b.LISTING': 'failed: status', 'c.LISTING': 'complete', 'all.RESOURCES': '50' },
      /\nstations: 3, ok: 2, failed: 1, warnings: 1\n$/,
    ],
  ])('explains %s, and exits with 1', async (_, config, ...shown) => {
    const report = await checkLive(await config());
    expect(report.code).toBe(1);
    expectReport(report, ...shown);
    expect(report.stdout).toMatch(/\nfailure: .*\n {2}reported: .*\n {2}what to do: /);
  });

  it.each<Case>([
    ['no total', () => faulty(reportedTotal(undefined)), { 'a.TOTAL': 'none', 'a.LISTING': 'complete' }],
    [
      'the requests of all listings, per scrape with a ttl of 0',
      () => configFor({}, { station: { products: ['p', 'q'], alertability: true } }),
      { 'a.REQUESTS': '6/scrape' },
      /\nA scrape refreshes .*\nWith a ttl of 0, /s,
    ],
    [
      'a certificate that expires soon',
      () => withTls({}, certificate('127.0.0.1', 3.5)),
      { 'main.TLS': 'TLSv1.3, 3 days left, issued by Our Authority' },
      /\nwarning: upstream main: The certificate of 127\.0\.0\.1:\d+ expires on \d{4}-\d\d-\d\d\.\n {2}what to do: /,
      'failed: 0, warnings: 2\n',
    ],
    [
      'insecure_skip_verify',
      () => withTls({ insecure_skip_verify: true }),
      { 'main.TLS': /^TLSv1\.3, 36\d days left, issued by Our Authority, not verified$/ },
      'is not verified, because insecure_skip_verify is set',
    ],
    [
      'a clock difference while signatures are accepted',
      () => withClock(-120_000),
      {},
      /warning: upstream main: The local clock is 1[12]\d s ahead of that of 127\.0\.0\.1:\d+\./,
    ],
    [
      'an incomplete listing',
      () => faulty(wrongTotal(5)),
      { 'a.TOTAL': '30', 'a.RESOURCES': '25', 'a.LISTING': 'incomplete' },
      'warning: station a of upstream main: The listing is incomplete',
      'reported: the service reports a total of 30, but returned 25 distinct records',
    ],
    [
      'rejected records and invalid values',
      () => {
        const records = [wireRecord('b', { state: {}, sku: [] }), wireRecord('c', { state: [] }), { resource_id: '' }];
        return configFor({ source: () => records.map((record) => ({ record })) });
      },
      { 'a.LISTING': 'incomplete, 1 rejected' },
      'Records rejected because they have no usable resource_id: 1.',
      'Invalid field values dropped: sku (1), state (2).',
    ],
    ['an empty listing', () => configFor({ source: () => [] }), {}, 'The listing is empty.'],
    [
      'withheld series',
      () => configFor({}, { metrics: { max_resources: 3 } }),
      {},
      /more resources than metrics\.max_resources: \d+ per-resource series are withheld/,
    ],
    [
      'a page size that the service rejects',
      () => faulty({ ...replyWith(413), when: first(1) }, { upstream: { page_size: 80 } }),
      {},
      'The service rejected the page size: the refresh continued with 40 resources per page.',
      'what to do: Set page_size to 40,',
    ],
    [
      'throttling, without advice of smaller pages',
      () =>
        faulty(
          { ...replyWith(429, { 'retry-after': '0.01' }), when: first(2) },
          { upstream: { max_retries: 2, concurrency: 1 }, cache: { ttl: '60s' } },
        ),
      {},
      '\nwarning: upstream main: The service throttled 2 of 5 requests (429) and requested a pause of up to 1 s (Retry-After).\n  what to do: The exporter adapts its request rate, and data gets older. Send fewer requests',
      /warnings: 2\n$/,
    ],
    [
      'a capacity that does not suffice, with what to change',
      () => faulty(slow(20), { upstream: { concurrency: 1 }, cache: { ttl: '10ms' } }),
      {},
      /\nwarning: upstream main: Refreshing once per ttl needs 300 requests\/s, .* so data gets older than ttl\.\n {2}what to do: See https:.*#overload\n/,
      /^(?!.*\ncapacity: )/s,
    ],
  ])('reports %s, and exits with 0', async (_, config, ...shown) => {
    const report = await checkLive(await config());
    expect(report.code).toBe(0);
    expectReport(report, ...shown);
  });

  it.each([
    [{}, /A refresh takes \d+\.\d s, longer than the scrape timeout of 0\.001 s.*warnings: 2\n$/s],
    [BACKGROUND, /^(?!.*A scrape refreshes).*\nRefreshes run in the background: .*warnings: 1\n$/s],
  ])('warns of a refresh longer than the scrape timeout, unless in the background (%j)', async (changes, text) => {
    const { code, stdout } = await checkLive(await faulty(slow(20), changes), '--scrape.timeout=1ms');
    expect(code).toBe(0);
    expect(stdout).toMatch(text);
  });

  it('shows the progress of all stations on a terminal', async () => {
    const upstream = { max_retries: 1, concurrency: 1 };
    const fault: TestFault = {
      ...replyWith(503),
      when: ({ offset }, requests) => offset === 20 && requests.filter((one) => one.offset === 20).length === 1,
    };
    const config = await faulty(fault, { upstream });
    const { code, stderr } = await resultOf(['check', '--live', configFlag(config)], {}, 'exporter', 80);
    expect(code).toBe(0);
    const paints = stderr.split('\r\u001b[K');
    expect(paints[1]).toBe('1 station: 0 pages');
    expect(paints).toContain('1 station: 2 of 3 pages, 1 retry');
    expect(paints.at(-1)).toBe('');
  });

  it('exits immediately on SIGTERM', async () => {
    const service = await startService({ faults: { '*': [NAMED_FAULTS.hang] } });
    const config = configOf(service.url, ['a'], { upstream: { timeout: '1h', refresh_timeout: '1h' } });
    const { exit, signals, output } = run(['check', '--live', configFlag(config)]);
    await expect.poll(() => service.requests.length).toBe(1);
    signals.emit('SIGTERM');
    expect(await exit).toBe(143);
    expect(output().stderr).toMatch(/\naborted by SIGTERM .*\n$/);
  });
});

describe('check --live, limits on resources without alert rules', () => {
  const check = async (flags: readonly string[], station: object = { alertability: true }, faults: Fault[] = []) => {
    const source = () => [
      { record: wireRecord('covered'), alertable: true },
      { record: wireRecord('bare', { alert_rules_count: 0 }), alertable: true },
      { record: wireRecord('other', { alert_rules_count: 0 }), alertable: false },
    ];
    return checkLive(await configFor({ source, faults: { '*': faults } }, { station }, ['a', 'b']), ...flags);
  };

  it('fails and prints the resources of each station', async () => {
    const { code, stdout } = await check(['--min-coverage=0.95', '--max-without-rules=1']);
    expect(code).toBe(1);
    const verdict =
      '\nfailure: coverage is 0.5, expected at least 0.95: 2 of 4 resources that can have alerts have alert rules\n' +
      '\nfailure: 2 resources have no alert rules, expected at most 1\n';
    const end = stdout.slice(stdout.indexOf('\nstations: 2'));
    expect(end.slice(-verdict.length)).toBe(verdict);
    expect(end.slice(0, -verdict.length).replaceAll(/ .*(?=\n)/g, '')).toBe(
      '\nstations:\n\nWithout\nID\nbare\n\nWithout\nID\nbare\n',
    );
  });

  it('limits the gate to an owner, and prints its resources alone', async () => {
    const labels = [{ match: { resource_id: 'covered' }, labels: { team: 'web' } }, { labels: { team: 'other' } }];
    const source = () => [
      { record: wireRecord('covered'), alertable: true },
      { record: wireRecord('bare', { alert_rules_count: 0 }), alertable: true },
    ];
    const config = await configFor({ source }, { station: { alertability: true }, labels });
    const gate = (...flags: string[]) => checkLive(config, '--min-coverage=1', '--format=csv', ...flags);
    const web = await gate('--label=team=web');
    expect([web.code, web.stdout.split('\r\n').length]).toEqual([0, 2]);
    const other = await gate('--label=team=other');
    expect([other.code, other.stdout.split('\r\n').length]).toEqual([1, 3]);
    expect(other.stderr).toContain('failure: coverage of resources with team=other is 0, expected at least 1: ');
    const mistyped = await gate('--label=team=wbe');
    expect(mistyped).toMatchObject({ code: 1, stderr: expect.stringContaining('failure: no resource has team=wbe\n') });
    const unknown = await gate('--label=owner=web');
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('--label: expected a label of ') });
  });

  it.each([
    ['csv', /^station,resource_id,.*\r\na,bare,.*\r\nb,bare,.*\r\n$/],
    ['json', /^\[\n\{"station":"a","resource_id":"bare",.*\},\n\{"station":"b","resource_id":"bare",.*\}\n\]\n$/],
  ])('prints the resources as %s, and the report to stderr', async (format, expected) => {
    const { code, stdout, stderr } = await check([`--format=${format}`, '--max-without-rules=0']);
    expect(code).toBe(1);
    expect(stdout).toMatch(expected);
    expect(stderr).toMatch(/ is valid, stations: 2\n\nUPSTREAM .*\nfailure: 2 resources have no alert rules/s);
  });
});

describe('check', () => {
  it.each([[['check']], [['check', '--live']], [[]]])(
    'prints the problems of both files as --config.check does (%j)',
    async (command) => {
      const web = temporaryFile('web.yaml', 'odd: 1\n');
      const flags = [configFlag({ upstreams: {}, stations: 3, surprise: true }), `--web.config.file=${web}`];
      const result = await resultOf([...command, ...flags]);
      expect(result).toEqual(await resultOf(['--config.check', ...flags]));
      expect(result).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(`${web}:1:1: odd: `) });
      expect(result.stderr.split('\n')).toHaveLength(5);
    },
  );

  it('sends no request without --live', async () => {
    const service = await startService();
    const { code, stdout } = await resultOf(['check', configFlag(configOf(service.url, ['a']))]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\S+config\.yaml is valid, stations: 1\n$/);
    expect(service.requests).toEqual([]);
  });

  const checked = async (config: object, ...flags: string[]) => resultOf(['check', configFlag(config), ...flags]);

  it('prints the warnings of the configuration without changing the exit code', async () => {
    const upstream = { authorization: { credentials_file: 'missing-token' }, proxy_url: 'http://u:proxy-pass@h' };
    const { code, stderr } = await checked(configOf('http://h', ['a'], { upstream }));
    expect(code).toBe(0);
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(/^warning: \S+config\.yaml:\d+:\d+: upstreams\.main\.authorization\.credentials_file: /),
      expect.stringMatching(/^warning: \S+config\.yaml:\d+:\d+: upstreams\.main\.proxy_url: password in clear text/),
      '',
    ]);
  });

  it('warns of a web configuration that allows everyone', async () => {
    const web = `--web.config.file=${temporaryFile('web', '{}')}`;
    expect(await checked(configOf('http://h', ['a']), web)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('everyone has access'),
    });
  });

  it('warns of a web configuration that verifies client certificates of every public authority', async () => {
    const { cert, key } = issue({ name: 'server' });
    const tls = {
      cert_file: temporaryFile('cert.pem', cert),
      key_file: temporaryFile('key.pem', key),
      client_auth_type: 'RequireAndVerifyClientCert',
    };
    const web = `--web.config.file=${temporaryFile('web', JSON.stringify({ tls_server_config: tls }))}`;
    expect(await checked(configOf('http://h', ['a']), web)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('without a client_ca_file'),
    });
  });

  it('reports how many stations each shard has', async () => {
    const config = configOf('http://h', ['a', 'b', 'c', 'd', 'e']);
    const shares = await Promise.all(
      [0, 1].map(async (shard) => {
        const { stdout } = await checked(config, `--shard=${shard}`, '--total-shards=2');
        return Number(new RegExp(`stations: 5, (\\d) of them on shard ${shard} of 2\n`).exec(stdout)?.[1]);
      }),
    );
    expect(Number(shares[0]) + Number(shares[1])).toBe(5);
  });

  it('prints no warnings of the demo', async () => {
    expect(await resultOf(['check', '--demo'])).toMatchObject({ code: 0, stderr: '' });
  });
});
