import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NAMED_FAULTS, wrongTotal } from '../../lab/simulator/faults.ts';
import { CLEAR_LINE } from '../../src/cli/log-output.ts';
import { configFlag, resultOf, run } from '../e2e/running-program.ts';
import { configOf, entriesOf, startTestService, variedEntries, wireRecord } from '../e2e/test-bed.ts';
import { temporaryFile } from '../service/support/files.ts';
import type { ServiceOptions } from '../simulator/simulated-service.ts';

type Changes = Parameters<typeof configOf>[2];

const JOINED = { station: { products: ['product.even', 'product.odd'], alertability: true } };

/** The flag for a configuration with the stations `ts` and `other` of a service that stops with the test. */
async function configured(options: ServiceOptions = {}, changes: Changes = {}): Promise<string> {
  const service = await startTestService({ source: () => variedEntries(57), ...options });
  return configFlag(configOf(service.url, ['ts', 'other'], changes));
}

const listed = async (config: string | Promise<string>, ...flags: string[]) =>
  resultOf(['list', 'ts', await config, ...flags]);

/** On a terminal, and with stdout there too if its width is given. */
const shown = async (config: Promise<string>, flags: string[] = [], columns = 60, outputColumns?: number, env = {}) =>
  resultOf(['list', 'ts', await config, ...flags], env, 'host', columns, outputColumns);

async function idsOf(config: string, ...flags: string[]): Promise<readonly string[]> {
  const { stdout } = await listed(config, '--format=json', ...flags);
  return (JSON.parse(stdout) as { resource_id: string }[]).map(({ resource_id }) => resource_id);
}

const those = (wanted: (index: number) => boolean) =>
  Array.from({ length: 57 }, (_, index) => index)
    .filter(wanted)
    .map((index) => `r${index}`);

const LABELS = [
  { match: { resource_id: 'r[0-9]' }, labels: { team: 'low' } },
  { match: { name: 'name-r.*[02468]' }, labels: { team: 'even', tier: 'a' } },
];

describe('list', () => {
  it.each<[flags: string[], wanted: (index: number) => boolean]>([
    [['--type='], () => false],
    [
      ['--type=resource_type.kind.1', '--product=product.odd', '--state=firing'],
      (index) => index % 3 === 1 && index % 2 === 1,
    ],
    [['--alert-state=firing', '--alertable=no'], (index) => index % 2 === 1 && index % 5 === 0],
    [['--without-rules', '--search=R2'], (index) => [24, 28].includes(index)],
  ])('filters by %j', async (flags, wanted) => {
    expect(await idsOf(await configured({}, JOINED), ...flags)).toEqual(those(wanted));
  });

  it('lists all stations with their names, and those that do not fail', async () => {
    const service = await startTestService({
      source: ({ telemetry_station }) => entriesOf(telemetry_station === 'ts' ? 2 : 1),
    });
    const config = configFlag(configOf(service.url, ['ts', 'other']));
    const all = await resultOf(['list', config, '--format=json']);
    expect(JSON.parse(all.stdout)).toMatchObject([
      { station: 'ts', resource_id: 'r0' },
      { station: 'ts', resource_id: 'r1' },
      { station: 'other', resource_id: 'r0' },
    ]);
    expect({ code: all.code, stderr: all.stderr }).toEqual({ code: 0, stderr: '' });
    expect((await resultOf(['list', config])).stdout).toMatch(/^STATION +ID +NAME .*\nts +r0 /);

    const failing = configFlag(configOf(service.url, ['ts', 'other', 'missing']));
    service.setFaults('missing', [NAMED_FAULTS.forbidden]);
    const { code, stdout, stderr } = await resultOf(['list', failing, '--format=csv', '--sort=-resource_id']);
    expect({ code, rows: stdout.trim().split('\r\n').length }).toEqual({ code: 1, rows: 4 });
    expect(stderr).toMatch(/^cannot list "missing": forbidden: .*\n$/);
  });

  it('lists no resources of no stations', async () => {
    const folder = dirname(temporaryFile('none.yaml', '[]\n'));
    const { stations: _, ...config } = configOf('http://127.0.0.1:9', ['ts']);
    const result = await resultOf(['list', configFlag({ ...config, station_files: [`${folder}/*.yaml`] }), '--type=x']);
    expect(result).toMatchObject({ code: 0, stderr: '' });
  });

  it('sorts and applies the limit', async () => {
    expect(await idsOf(await configured(), '--sort=-created', '--limit=3')).toEqual(['r56', 'r55', 'r54']);
  });

  it('has the labels of resources as columns and filters', async () => {
    const config = await configured({}, { labels: LABELS });
    const { stdout } = await listed(config, '--format=csv');
    expect(stdout.split('\r\n').map((line) => line.split(',').slice(-2).join())).toEqual(
      expect.arrayContaining(['team,tier', '"low",', '"even","a"']),
    );
    expect(await idsOf(config, '--label=team=low')).toEqual(those((index) => index < 10));
    expect(await idsOf(config, '--label=team=', '--label=tier=')).toEqual(
      those((index) => index >= 10 && index % 2 === 1),
    );
  });

  it.each([
    ['--label=owner=x', /^--label: expected a label of resource_labels, "?team"?.*, got "owner"\n$/],
    ['--label=team=low --label=team=even', /^--label: expected each label at most once, got "team" again\n$/],
    ['--label=team=low', /^--label: expected a label of resource_labels, which has none, got "team"\n$/, []],
  ])('rejects %s before it queries the service', async (flags, problem, labels: typeof LABELS = LABELS) => {
    const service = await startTestService({ source: () => variedEntries(1) });
    const config = configFlag(configOf(service.url, ['ts'], { labels }));
    const { code, stdout, stderr } = await listed(config, ...flags.split(' '));
    expect({ code, stdout, requests: service.requests.length }).toEqual({ code: 1, stdout: '', requests: 0 });
    expect(stderr).toMatch(problem);
  });

  it('warns about an incomplete listing and rejected records', async () => {
    const source = () => [...entriesOf(3), { record: wireRecord('') }, { record: null }];
    const faults = { '*': [wrongTotal(2)] } as const;
    const { code, stdout, stderr } = await listed(configured({ source, faults }));
    expect({ code, lines: stdout.split('\n').length }).toEqual({ code: 2, lines: 5 });
    expect(stderr).toBe(
      [
        'warning: the listing of "ts" is not verified complete: the service reports a total of 7, but returned 5 distinct records',
        'warning: the listing of "ts" is not verified complete: 2 records were rejected because they have no usable resource_id',
        '',
      ].join('\n'),
    );
  });

  it('suggests a configured station for an unknown one', async () => {
    expect(await resultOf(['list', 'othr', await configured()])).toEqual({
      code: 1,
      stdout: '',
      stderr: 'unknown station "othr"; did you mean "other"?\nconfigured stations: "ts", "other"\n',
    });
  });

  it('rethrows an internal error', async () => {
    const broken = Object.defineProperty({}, 'TERM', {
      get: () => {
        throw new Error('a bug');
      },
    });
    await expect(run(['list', 'ts', await configured()], broken, 'host', 80, 80).exit).rejects.toThrow('a bug');
  });
});

describe('list, on a terminal', () => {
  it('shows the pages that it has received, clears that line and prints the number of resources', async () => {
    const { stderr } = await shown(configured({}, JOINED), ['--state=ALERTSTATE_FIRING', '--limit=5']);
    const [nothing, ...lines] = stderr.split(CLEAR_LINE);
    expect(nothing).toBe('');
    expect(lines[0]).toBe('0 pages of ts');
    expect(lines.at(-1)).toMatch(/^5 of \d+ matching resources, 57 in all\n$/);
  });

  it('shows no progress on a terminal that cannot erase a line', async () => {
    const { stderr } = await shown(configured(), [], 60, undefined, { TERM: 'dumb' });
    expect(stderr).toBe('57 of 57 resources\n');
  });

  it('fits the terminal, says which columns are left out, and has colours unless it is dumb', async () => {
    const config = configured();
    const narrow = await shown(config, ['--limit=1'], 200, 60);
    expect(narrow.stdout).toContain('\u001b[');
    expect(narrow.stderr).toMatch(/columns not shown: .*CREATED.* \(--wide shows all\)\n$/);
    const dumb = await shown(config, ['--limit=1'], 0, 0, { TERM: 'dumb' });
    expect(dumb.stdout).not.toContain('\u001b[');
    expect(dumb.stdout).toContain('CREATED');
  });

  it('prints a table of exact values with --wide, and the same in a pipe', async () => {
    const config = configured({}, JOINED);
    const wide = await shown(config, ['--wide'], 80, 80, { NO_COLOR: '1' });
    expect(wide.stdout).toBe((await listed(config)).stdout);
    expect(wide.stderr).toMatch(/57 of 57 resources\n$/);
  });
});
