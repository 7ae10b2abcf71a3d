import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { ServiceOptions } from '../../src/simulator/service.ts';
import { run } from '../e2e/running-program.ts';
import { configOf, entriesOf, startTestService, variedEntries, wireRecord } from '../e2e/test-bed.ts';
import { temporaryFile } from '../upstream/support/files.ts';
import { eventually } from '../web/eventually.ts';

const JOINED = { products: ['product.even', 'product.odd'], alertability: true };

/** A configuration with the stations `ts` and `other` of a service that stops with the test. */
async function configFile(options: ServiceOptions = {}, changes: Parameters<typeof configOf>[2] = {}): Promise<string> {
  const service = await startTestService({ source: () => variedEntries(57), ...options });
  return temporaryFile('config.yaml', stringify(configOf(service.url, ['ts', 'other'], changes)));
}

async function listed(file: string, flags: readonly string[] = [], columns?: number, outputColumns?: number, env = {}) {
  const { exit, output } = run(['list', 'ts', `--config.file=${file}`, ...flags], env, 'host', columns, outputColumns);
  return { code: await exit, ...output() };
}

async function idsOf(file: string, ...flags: string[]): Promise<readonly string[]> {
  const { stdout } = await listed(file, ['--format=json', ...flags]);
  return (JSON.parse(stdout) as { resource_id: string }[]).map(({ resource_id }) => resource_id);
}

const numbered = (...numbers: number[]) => numbers.map((number) => `r${number}`);
const those = (wanted: (index: number) => boolean) =>
  numbered(...Array.from({ length: 57 }, (_, index) => index).filter(wanted));

describe('list', () => {
  it('prints a table of all resources and nothing else', async () => {
    const { code, stdout, stderr } = await listed(await configFile());
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^ID +NAME +DISPLAY NAME +TYPE /);
    expect(lines.slice(1, -1).map((line) => line.split(' ')[0])).toEqual(those(() => true));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('prints JSON with the results of the additional listings', async () => {
    const { code, stdout, stderr } = await listed(await configFile({}, { station: JOINED }), ['--format=json']);
    const resources = JSON.parse(stdout) as Record<string, unknown>[];
    expect(resources).toHaveLength(57);
    expect(resources[5]).toEqual({
      resource_id: 'r5',
      name: 'name-r5',
      display_name: 'Display r5',
      resource_type: 'resource_type.kind.2',
      resource_type_label: 'Kind 2',
      product: 'product.odd',
      state: 'ALERTSTATE_FIRING',
      alertable: false,
      alert_rules: 1,
      created: '2024-05-01T12:00:05.500Z',
      sku: '1.5 TiB',
      sku_quantity: 1.5,
      sku_unit: 'TiB',
      gpu_model: '',
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('prints CSV', async () => {
    const { stdout } = await listed(await configFile(), ['--format=csv']);
    expect(stdout.split('\r\n')).toHaveLength(59);
    expect(stdout).toContain(
      '\r\nr5,name-r5,Display r5,resource_type.kind.2,Kind 2,,ALERTSTATE_FIRING,,1,2024-05-01T12:00:05.500Z,1.5 TiB,1.5,TiB,\r\n',
    );
  });

  it.each([
    [['--search=R1'], (index: number) => `r${index}`.startsWith('r1')],
    [['--type=resource_type.kind.1'], (index: number) => index % 3 === 1],
    [['--type='], () => false],
    [['--product=product.odd'], (index: number) => index % 2 === 1],
    [['--state=ALERTSTATE_FIRING'], (index: number) => index % 2 === 1],
    [['--alertable=no'], (index: number) => index % 5 === 0],
    [['--alertable=unknown'], () => false],
    [['--without-rules'], (index: number) => index % 4 === 0],
    [
      ['--without-rules', '--alertable=yes', '--search', 'r2'],
      (index: number) => [20, 24, 28].includes(index) && index % 5 !== 0,
    ],
  ])('filters by %j', async (flags, wanted) => {
    expect(await idsOf(await configFile({}, { station: JOINED }), ...flags)).toEqual(those(wanted));
  });

  it('sorts in both directions and applies the limit', async () => {
    const file = await configFile();
    expect(await idsOf(file, '--sort=created', '--limit=3')).toEqual(numbered(0, 1, 2));
    expect(await idsOf(file, '--sort=-created', '--limit=3')).toEqual(numbered(56, 55, 54));
    expect(await idsOf(file, '--limit=1000')).toHaveLength(57);
  });

  it('prints the values present when a filter matches nothing', async () => {
    const { code, stdout, stderr } = await listed(await configFile(), [
      '--state=fire',
      '--type=resource_type.kind.1',
      '--format=csv',
    ]);
    expect({ code, lines: stdout.split('\r\n').length }).toEqual({ code: 0, lines: 2 });
    expect(stderr).toMatch(
      /^--state: no resource has "fire"; values present: "ALERTSTATE_\w+" \(29\), "ALERTSTATE_FIRING" \(28\)\n$/,
    );
  });

  it('prints at most 20 values, without control characters', async () => {
    const records = Array.from({ length: 30 }, (_, index) => ({
      record: wireRecord(`r${index}`, { state: `S${index}\u009b` }),
    }));
    const { stderr } = await listed(await configFile({ source: () => records }), ['--state=none']);
    expect(stderr).toMatch(/values present: "S0\\u\{9b\}" \(1\), .*, and 10 more\n$/);
    expect(stderr).not.toContain('\u009b');
  });

  it('prints the chosen columns', async () => {
    const { stdout } = await listed(await configFile(), ['--columns=state,id', '--limit=1', '--format=csv']);
    expect(stdout).toMatch(/^state,resource_id\r\nALERTSTATE_\w+,r0\r\n$/);
  });

  it('lists a demo station without a configuration file', async () => {
    const { exit, output } = run(['list', 'staging', '--demo', '--limit=2', '--format=csv']);
    expect(await exit).toBe(0);
    expect(output().stdout.split('\r\n')).toHaveLength(4);
  });

  it('prints at most 20 reasons why a listing is incomplete', async () => {
    const products = Array.from({ length: 100 }, (_, index) => `product.${index}`);
    const file = await configFile({ faults: { '*': [{ kind: 'totalLies', delta: 2 }] } }, { station: { products } });
    const warnings = (await listed(file)).stderr.trim().split('\n');
    expect(warnings).toHaveLength(21);
    expect(warnings[20]).toBe('warning: the listing of "ts" is not verified complete: and 81 more');
  });

  it('warns about an incomplete listing and omitted records', async () => {
    const source = () => [...entriesOf(3), { record: wireRecord('') }, { record: null }];
    const { code, stdout, stderr } = await listed(
      await configFile({ source, faults: { '*': [{ kind: 'totalLies', delta: 2 }] } }),
    );
    expect(code).toBe(0);
    expect(stdout.split('\n')).toHaveLength(5);
    expect(stderr).toBe(
      [
        'warning: the listing of "ts" is not verified complete: the service reports a total of 7, but returned 5 distinct records',
        'warning: records of "ts" without a usable resource_id, which are omitted: 2',
        '',
      ].join('\n'),
    );
  });

  it('reports why the station cannot be listed', async () => {
    const file = await configFile({ faults: { '*': [{ kind: 'status', code: 403 }] } });
    const { code, stdout, stderr } = await listed(file);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^cannot list "ts": forbidden: .*403.*\n$/);
  });

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ])('exits on %s with code %i and prints nothing', async (signal, code) => {
    const service = await startTestService({ faults: { '*': [{ kind: 'hang' }] } });
    const file = temporaryFile('config.yaml', stringify(configOf(service.url, ['ts'])));
    const { signals, exit, output } = run(['list', 'ts', `--config.file=${file}`]);
    await eventually(() => expect(service.requests).toHaveLength(1));
    signals.emit(signal);
    expect(await exit).toBe(code);
    expect(output()).toEqual({ stdout: '', stderr: '' });
  });

  it('removes its signal listeners after the listing', async () => {
    const { signals, exit } = run(['list', 'ts', `--config.file=${await configFile()}`]);
    await exit;
    expect(signals.eventNames()).toEqual([]);
  });

  it('suggests a configured station for an unknown one', async () => {
    const { exit, output } = run(['list', 'othr', `--config.file=${await configFile()}`]);
    expect(await exit).toBe(1);
    expect(output()).toEqual({
      stdout: '',
      stderr: 'unknown station "othr"; did you mean "other"?\nconfigured stations: "ts", "other"\n',
    });
  });

  it('shows at most 20 configured stations', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `s${index}`);
    const file = temporaryFile('config.yaml', stringify(configOf('http://127.0.0.1:1', names)));
    const { exit, output } = run(['list', 'something', `--config.file=${file}`]);
    expect(await exit).toBe(1);
    expect(output().stderr).toMatch(/^unknown station "something"\nconfigured stations: "s0", .*"s19", and 10 more\n$/);
  });

  it('rethrows an internal error', async () => {
    const file = await configFile();
    let reads = 0;
    // Simulates a bug that occurs with the first page.
    const broken = Object.defineProperty({}, 'TERM', {
      get: () => {
        reads += 1;
        if (reads > 1) throw new Error('a bug');
      },
    });
    await expect(run(['list', 'ts', `--config.file=${file}`], broken).exit).rejects.toThrow('a bug');
  });
});

describe('list, on a terminal', () => {
  it('shows progress, clears it and prints the number of resources', async () => {
    const { stdout, stderr } = await listed(
      await configFile({}, { station: JOINED }),
      ['--state=ALERTSTATE_FIRING', '--limit=5'],
      60,
    );
    expect(stdout).not.toContain('\u001b');
    const painted = stderr.split('\r\u001b[K');
    expect(painted[1]).toBe('ts: 0 pages');
    expect(painted.at(-1)).toMatch(/^5 of \d+ matching resources, 57 in all\n$/);
  });

  it('names the columns that do not fit', async () => {
    const { stderr } = await listed(await configFile({}, { station: JOINED }), [], 80, 80);
    expect(stderr.replaceAll('\n  ', ' ')).toMatch(
      /\[K57 of 57 resources; columns not shown: .*GPU MODEL \(--wide shows all, --columns some\)\n$/,
    );
  });

  it('prints a table of exact values with --wide, and the same in a pipe', async () => {
    const file = await configFile({}, { station: JOINED });
    const wide = await listed(file, ['--wide'], 80, 80, { NO_COLOR: '1' });
    expect(wide.stdout).toBe((await listed(file)).stdout);
    expect(wide.stderr).toMatch(/57 of 57 resources\n$/);
  });

  it('shows retries', async () => {
    const faults = { '*': [{ kind: 'status', code: 503, when: { first: 1 } } as const] };
    const { stderr } = await listed(await configFile({ faults }, { upstream: { max_retries: 1 } }), [], 60);
    expect(stderr).toMatch(/, 1 retry/);
  });

  it('clears the line before a failure', async () => {
    const { stderr } = await listed(await configFile({ faults: { '*': [{ kind: 'status', code: 403 }] } }), [], 60);
    expect(stderr.split('\r\u001b[K').at(-1)).toMatch(/^cannot list "ts": forbidden: /);
  });

  it('shows no progress on a dumb terminal', async () => {
    const { exit, output } = run(['list', 'ts', `--config.file=${await configFile()}`], { TERM: 'dumb' }, 'host', 60);
    await exit;
    expect(output().stderr).toBe('57 of 57 resources\n');
  });
});
