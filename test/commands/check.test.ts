import { describe, expect, it } from 'vitest';
import { limitedPages, NAMED_FAULTS, replyWith, slow } from '../../lab/simulator/faults.ts';
import { configFlag, resultOf, run } from '../e2e/running-program.ts';
import { configOf, entriesOf, startExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { issue } from '../service/support/certificates.ts';
import { temporaryFile } from '../service/support/files.ts';
import { fixedSize, type ServiceOptions, type TestFault } from '../simulator/simulated-service.ts';
import { checkLive } from './check-live.ts';

const inAYear = new Date(Date.now() + 365 * 86_400_000);
const authority = issue({ name: 'Our Authority', notAfter: inAYear });
const certificate = issue({ name: 'service', issuer: authority, hosts: ['127.0.0.1'], notAfter: inAYear });

type Changes = Parameters<typeof configOf>[2];

const startService = (options: ServiceOptions = {}) => startTestService({ source: () => entriesOf(25), ...options });

/** The configuration of stations whose service has 25 resources. */
const configFor = async (options: ServiceOptions = {}, changes: Changes = {}, stations = ['a']) =>
  configOf((await startService(options)).url, stations, changes);

const faulty = (faults: readonly TestFault[], changes: Changes = {}, stations = ['a']) =>
  configFor({ faults: { '*': faults } }, changes, stations);

/** Trusts the authority. */
const withTls = (tls: NonNullable<ServiceOptions['tls']>) =>
  configFor({ tls }, { upstream: { tls_config: { ca_file: temporaryFile('ca.pem', authority.cert) } } });

const clientsOf = (maxVersion: 'TLSv1.2' | 'TLSv1.3') => ({
  ...certificate,
  requestCert: true,
  rejectUnauthorized: true,
  ca: authority.cert,
  maxVersion,
});

/** What a report shows: cells by row and column, and texts. */
type Shown = [cells: Readonly<Record<string, string | RegExp>>, ...texts: (string | RegExp)[]];
type Case = [what: string, config: () => object | Promise<object>, ...Shown];

function expectReport({ stdout, cell }: Awaited<ReturnType<typeof checkLive>>, ...[cells, ...texts]: Shown) {
  for (const [place, text] of Object.entries(cells)) {
    const [row = '', column = ''] = place.split('.');
    expect(cell(row, column), place).toEqual(typeof text === 'string' ? text : expect.stringMatching(text));
  }
  for (const text of texts) expect(stdout).toMatch(text);
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
        'main.CONNECTION': /^in \d+ ms, plain HTTP$/,
        'a.TOTAL': '25',
        'a.RESOURCES': '25',
        'a.LISTING': 'complete',
        'a.REQUESTS': '180/h',
        'all.RESOURCES': '50',
        'all.REQUESTS': '360/h',
      },
      /^\S+ is valid, stations: 2\n\nUPSTREAM /,
      /\nA scrape refreshes what is older than ttl: /,
      /^(?!.*Refreshes run in the background)/s,
      /\ncapacity: upstream main: [\d.,]+ requests\/s are possible, 0\.1 are needed\n/,
      /\nstations: 2, ok: 2, failed: 0, warnings: 1\n$/,
    );
  });

  it('prints the series that the exporter will publish', async () => {
    const config = await configFor({}, { cache: { ttl: '1h' } }, ['a', 'b']);
    const { cell } = await checkLive(config);
    const exporter = await startExporter(config);
    const metrics = await exporter.scrape();
    await exporter.stop();
    const own = 'telemetry_station_exporter_series_withheld';
    const samples = [...metrics].flatMap(([name, family]) => (name === own ? [] : family.samples));
    const seriesOf = (station: string) => samples.filter(({ labels }) => labels['station'] === station).length;
    expect(cell('a', 'SERIES')).toBe(`${seriesOf('a')}`);
    expect(cell('all', 'SERIES')).toBe(`${seriesOf('a') + seriesOf('b')}`);
  });

  it('queries only the stations of its shard and the upstreams they use', async () => {
    const service = await startService();
    const config = configOf(service.url, ['a', 'b', 'c', 'd'], { station: { upstream: 'main' } });
    const upstreams = { ...config.upstreams, idle: { base_url: 'http://127.0.0.1:1' } };
    const { stdout } = await checkLive({ ...config, upstreams }, '--shard=0', '--total-shards=2');
    const { size } = new Set(service.requests.map(({ station }) => station));
    expect(size).toBeGreaterThan(0);
    expect(size).toBeLessThan(4);
    expect(stdout).toContain(` is valid, stations: 4, ${size} of them on shard 0 of 2\n`);
    expect(stdout).toContain(`\nstations: ${size}, ok: ${size}, `);
    expect(stdout).not.toContain('idle');
  });

  it.each<Case>([
    [
      'an unknown host',
      () => configOf('http://no-such-host.invalid', ['a', 'b']),
      {
        'main.CONNECTION': 'unknown host',
        'a.TOTAL': '–',
        'a.LISTING': 'failed: unknown host',
        'a.REQUESTS': '–',
      },
      '\nfailure: 2 stations of upstream main: The host name of no-such-host.invalid cannot be resolved. No refresh has succeeded yet.\n  stations: a, b\n  reported: network: no-such-host.invalid: getaddrinfo ',
      '\n  what to do: Check the host in base_url',
      /\nstations: 2, ok: 0, failed: 2, warnings: 1\n$/,
    ],
    [
      'an untrusted issuer',
      () => configFor({ tls: certificate }),
      {
        'main.CONNECTION': /^untrusted issuer, TLSv1\.3, 36\d days left, issued by Our Authority$/,
      },
      'was issued by an untrusted authority.',
      'set tls_config.ca_file',
    ],
    // With TLS 1.3 the connection may be closed before the alert is read.
    ...(
      [
        ['TLSv1.2', /^failed: client certificate required$/],
        ['TLSv1.3', /^failed: (client certificate required|connection closed)$/],
      ] as const
    ).map(
      ([version, listing]): Case => [
        `a required client certificate (${version})`,
        () => withTls(clientsOf(version)),
        { 'a.LISTING': listing },
        /what to do: .*set tls_config\.cert_file and tls_config\.key_file/i,
      ],
    ),
    [
      'an error status, without its control characters',
      () => faulty([replyWith(500, {}, '\u001b[2Jgone\nall')]),
      { 'a.LISTING': 'failed: 500 Internal Server Error' },
      'The service returned an error status.',
      /500 Internal Server Error.*gone all/,
      /^\P{Cc}+(\n\P{Cc}*)+$/u,
    ],
    [
      'too many requests, without advice of smaller pages',
      () => faulty([replyWith(429)], { upstream: { max_retries: 2, page_size: 100 } }, ['a', 'b']),
      { 'a.LISTING': 'failed: 429 Too Many Requests' },
      'failure: 2 stations of upstream main: The service is limiting requests (429).',
      '429 Too Many',
      /^(?!.*(page size|lower page_size|Set page_size))/s,
    ],
  ])('explains %s, and exits with 1', async (_, config, ...shown) => {
    const report = await checkLive(await config());
    expect(report.code).toBe(1);
    expectReport(report, ...shown);
    expect(report.stdout).toMatch(/\nfailure: .*\n {2}(stations: .*\n {2})?reported: .*\n {2}what to do: /);
  });

  it.each<[what: string, pageSize: number, faults: TestFault[], line: string | undefined]>([
    ['returns fewer than requested', 20, [limitedPages(10)], 'the service returns at most 10 per page'],
    ['returns as many as requested', 10, [], undefined],
    ['ignores the page size', 10, [fixedSize(100)], undefined],
  ])('says whether a larger page_size helps where the service %s', async (_, page_size, faults, line) => {
    const { stdout } = await checkLive(await faulty(faults, { upstream: { page_size } }));
    const [, shown] = /^page size: upstream main: (.*?):/m.exec(stdout) ?? [];
    expect(shown).toBe(line);
  });

  it('says which page size it uses where the service rejects larger ones', async () => {
    const tooLarge: TestFault = {
      reply: ({ body }) => (JSON.parse(String(body)).page.size > 10 ? { status: 413 } : {}),
    };
    const { stdout } = await checkLive(await faulty([tooLarge], { upstream: { page_size: 20 } }));
    expect(stdout).toContain('page size: upstream main: pages of 10 are requested from 1 station, because');
  });

  it('says how many resources each entry of resource_labels matches, and warns of none, or none left', async () => {
    const entry = (match: object) => ({ match, labels: { team: 'web' } });
    const labels = [
      entry({ name: 'name-r1' }),
      entry({ name: 'name-r1.*' }),
      entry({ station: 'b' }),
      entry({}),
      entry({ name: '.*' }),
    ];
    const { stdout } = await checkLive(await configFor({}, { labels }));
    expect(stdout.match(/^resource_labels\[.*$/gm)).toEqual([
      'resource_labels[0] (name: name-r1): 1 resource',
      'resource_labels[1] (name: name-r1.*): 11 resources, of which earlier entries leave 10',
      'resource_labels[2] (station: b): 0 resources',
      'resource_labels[3] (all): 25 resources, of which earlier entries leave 14',
      'resource_labels[4] (name: .*): 25 resources, of which earlier entries leave 0',
    ]);
    expect(stdout).toContain(
      'warning: resource_labels: Earlier entries decide about all resources that match\nresource_labels[4] (name: .*).'.replace(
        '\n',
        ' ',
      ),
    );
    expect(stdout).toContain('warning: resource_labels: No resource matches resource_labels[2] (station: b).\n');
    const { stdout: failing } = await checkLive(await faulty([replyWith(500)], { labels }));
    expect(failing).not.toContain('No resource matches');
  });

  it('warns of a refresh longer than --scrape.timeout', async () => {
    const { code, stdout } = await checkLive(await faulty([slow(20)]), '--scrape.timeout=1ms');
    expect(code).toBe(0);
    expect(stdout).toMatch(/A refresh takes up to \d+\.\d s, longer than the scrape timeout of 0\.001 s/);
  });

  it('exits immediately on SIGTERM', async () => {
    const service = await startService({ faults: { '*': [NAMED_FAULTS.hang] } });
    const config = configOf(service.url, ['a'], { upstream: { timeout: '1h', refresh_timeout: '1h' } });
    const { exit, signals, output } = run(['check', '--live', configFlag(config)]);
    await expect.poll(() => service.requests.length).toBe(1);
    signals.emit('SIGTERM');
    expect(await exit).toBe(143);
    expect(output().stderr).toMatch(/^warning: [^\n]+\n$/);
  });
});

describe('check --live, limits on resources without alert rules', () => {
  /** The report on two stations with the same resources. */
  const check = async (...flags: string[]) => {
    const source = () => [
      { record: wireRecord('covered'), alertable: true },
      { record: wireRecord('bare', { alert_rules_count: 0 }), alertable: true },
      { record: wireRecord('other', { alert_rules_count: 0 }), alertable: false },
    ];
    const labels = [{ match: { resource_id: 'covered' }, labels: { team: 'web' } }, { labels: { team: 'other' } }];
    return checkLive(await configFor({ source }, { station: { alertability: true }, labels }, ['a', 'b']), ...flags);
  };

  it('fails and prints the resources of each station', async () => {
    const { code, stdout } = await check('--min-coverage=0.95', '--max-without-rules=1');
    expect(code).toBe(1);
    const verdict =
      '\nfailure: coverage is 0.5, expected at least 0.95: 2 of 4 resources have alert rules\n' +
      '\nfailure: 2 resources have no alert rules, expected at most 1\n';
    const end = stdout.slice(stdout.indexOf('\nstations: 2'));
    expect(end.slice(-verdict.length)).toBe(verdict);
    expect(end.slice(0, -verdict.length).replaceAll(/ .*(?=\n)/g, '')).toBe(
      '\nstations:\n\nWithout\nID\nbare\n\nWithout\nID\nbare\n',
    );
  });

  it('limits the gate to an owner, and prints its resources alone', async () => {
    const gate = (label: string) => check('--min-coverage=1', '--format=csv', `--label=${label}`);
    const web = await gate('team=web');
    expect([web.code, web.stdout.split('\r\n').length]).toEqual([0, 2]);
    const other = await gate('team=other');
    expect([other.code, other.stdout.split('\r\n').length]).toEqual([1, 4]);
    expect(other.stderr).toContain('failure: coverage of resources with team=other is 0, expected at least 1: ');
    const unknown = await gate('owner=web');
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('--label: expected a label of ') });
  });

  it.each([
    ['csv', /^station,resource_id,.*\r\n"a","bare",.*\r\n"b","bare",.*\r\n$/],
    ['json', /^\[\n\{"station":"a","resource_id":"bare",.*\},\n\{"station":"b","resource_id":"bare",.*\}\n\]\n$/],
  ])('prints the resources as %s, and the report to stderr', async (format, expected) => {
    const { code, stdout, stderr } = await check(`--format=${format}`, '--max-without-rules=0');
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

  it('counts the warnings that it prints, those of the web configuration too', async () => {
    const web = temporaryFile('web.yaml', 'rate_limit: { interval: 1s, burst: 1 }\n');
    const { stdout, stderr } = await checkLive(await configFor(), `--web.config.file=${web}`);
    expect(stderr.match(/^warning: /gm)).toHaveLength(2);
    expect(stdout).toMatch(/, warnings: 2\n$/);
  });

  it('prints the warnings of both files and exits with 0, and sends no request without --live', async () => {
    const upstream = {
      tls_config: { ca_file: 'missing.pem' },
      http_headers: { 'X-Key': { secrets: ['in-clear-text'] } },
    };
    const service = await startService();
    const web = temporaryFile('web.yaml', '{}\n');
    const flags = [configFlag(configOf(service.url, ['a'], { upstream })), `--web.config.file=${web}`];
    const { code, stdout, stderr } = await resultOf(['check', ...flags]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\S+config\.yaml is valid, stations: 1\n$/);
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(/^warning: \S+config\.yaml:\d+:\d+: upstreams\.main\.tls_config\.ca_file: /),
      expect.stringMatching(/^warning: \S+config\.yaml:\d+:\d+: upstreams\.main\.http_headers\.X-Key\.secrets\[0\]: /),
      expect.stringMatching(/^warning: \S+web\.yaml: everyone has access/),
      '',
    ]);
    expect(service.requests).toEqual([]);
  });

  it('warns of requests that proxies may reject or change', async () => {
    const filters = (count: number) => ({ resource_ids: Array.from({ length: count }, (_, at) => `resource-${at}`) });
    const warningsFor = async (station: object) => {
      const config = configOf('http://service', ['a'], { station });
      const { stderr } = await resultOf(['check', configFlag(config)]);
      return stderr.split('\n').filter((line) => line.includes('stations[0]'));
    };
    expect(await warningsFor({ filters: filters(300) })).toEqual([]);
    expect(await warningsFor({ filters: filters(400) })).toEqual([
      expect.stringMatching(
        /stations\[0\]\.filters: make a request line of \d{4,5} bytes, and many servers accept 8 KB: /,
      ),
    ]);
    expect(await warningsFor({ zone: 'n41/n51' })).toEqual([
      expect.stringMatching(/stations\[0\]\.zone: has a "\/", which is sent as %2F: proxies .* pass URIs on untouched/),
    ]);
  });

  it('prints no warnings of the demo', async () => {
    expect(await resultOf(['check', '--demo'])).toMatchObject({ code: 0, stderr: '' });
  });
});
