import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { configOf, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { temporaryFile } from '../upstream/support/files.ts';
import { program, shown } from './pseudo-terminal.ts';

describe('list, in a terminal', () => {
  const list = `${program} list training --demo --limit=1 --format=csv`;

  it('shows progress and clears it before the data', async () => {
    const { text } = await shown(list, { columns: 70 });
    const [before = '', after = ''] = text.split('resource_id,name');
    expect(before).toMatch(/training: 0 pages.*training: \d+ of \d+ pages/s);
    for (const line of before.split('\r\u001b[K')) expect(line.length).toBeLessThan(70);
    expect(before.endsWith('\r\u001b[K')).toBe(true);
    expect(after).toMatch(/\n1 of [\d,]+ resources\n$/);
  });

  it('shows progress while the data goes into a pipe', async () => {
    const { text } = await shown(`sh -c "${list.replaceAll('"', '\\"')} | cat"`);
    expect(text).toMatch(/training: 0 pages/);
    expect(text).toContain('resource_id,name');
  });
});

const RECORDS = [
  wireRecord('199bc3dc-0d74-feeb-dca2-a47f35aa59d7', {
    state: 'ALERTSTATE_FIRING',
    display_name: '训练平台-'.repeat(20),
  }),
  wireRecord('02f553dd-42ed-141d-772f-ba82deca878d', {
    state: 'ALERTSTATE_INACTIVE',
    display_name: '\u001b[2J\u202ehostile',
  }),
  wireRecord(`/subscriptions/${'s'.repeat(900)}/resources/last-one`, { state: 'NEW' }),
];

/** A configuration for the station `ts` of a service that stops with the test. */
async function configFile(): Promise<string> {
  const { url } = await startTestService({ source: () => RECORDS.map((record) => ({ record })) });
  return temporaryFile('config.yaml', stringify(configOf(url, ['ts'])));
}

/** The lines on the terminal, without the progress line. */
const linesOf = (text: string) => (text.split('\u001b[K').at(-1) ?? '').split('\n').slice(0, -1);

describe.each([80, 200])('tables in a terminal of %i columns', (columns) => {
  const atWidth = async (command: string, env: Record<string, string> = {}) => {
    const { text, code } = await shown(`${program} ${command} --config.file=${await configFile()}`, { columns, env });
    return { lines: linesOf(text), text, code };
  };

  it('list fits, with every ID recognizable and nothing that controls the terminal', async () => {
    const { lines, code } = await atWidth('list ts 2>/dev/null');
    expect(code).toBe(0);
    expect(lines).toHaveLength(4);
    for (const line of lines) expect(stringWidth(line), line).toBeLessThanOrEqual(columns);
    expect(lines[1]).toContain('199bc3dc-0d74-feeb-dca2-a47f35aa59d7');
    expect(lines[3]).toMatch(/^\/subscriptions\/s.*….*\/last-one/);
    expect(lines.join()).not.toContain('\u001b[2J');
    expect(lines.join()).not.toContain('\u202e');
  });

  it.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }])('list and check --live show no colour with %j', async (env) => {
    for (const command of ['list ts', 'check --live'])
      expect((await atWidth(`${command} 2>/dev/null`, env)).text).not.toContain('\u001b');
  });

  it('check --live fits, in human units and in colour', async () => {
    const { lines, code } = await atWidth('check --live 2>/dev/null');
    expect(code).toBe(0);
    // The first line has the path of the configuration.
    for (const line of lines.slice(1)) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
    const tables = lines.slice(
      2,
      lines.findIndex((line) => line.startsWith('SERIES, ')),
    );
    expect(tables.join('\n')).toMatch(/^UPSTREAM .*\n\nSTATION .*\nts .*\[32mcomplete/s);
    expect(tables.some((line) => line.startsWith('Columns not shown: '))).toBe(columns === 80);
    const hasSizes = /\nts .* [\d.]+ KB +[\d.]+ (KB|B) /.test(tables.join('\n'));
    expect(hasSizes).toBe(columns === 200);
  });
});
