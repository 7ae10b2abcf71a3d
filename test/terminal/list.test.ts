import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { configOf, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { temporaryFile } from '../upstream/support/files.ts';
import { program, shown } from './pseudo-terminal.ts';

describe('list, in a terminal', () => {
  it('shows progress while the data goes into a pipe', async () => {
    const list = `${program} list training --demo --limit=1 --format=csv`;
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

describe('the table of list, in a terminal of 80 columns', () => {
  const listed = async (env: Record<string, string> = {}, flags = '') =>
    shown(`${program} list ts ${flags} --config.file=${await configFile()} 2>/dev/null`, { columns: 80, env });

  it('fits, with every ID recognizable and nothing that controls the terminal', async () => {
    const { text, code } = await listed();
    expect(code).toBe(0);
    const lines = text.split('\n').slice(0, -1);
    expect(lines).toHaveLength(4);
    for (const line of lines) expect(stringWidth(line), line).toBeLessThanOrEqual(80);
    expect(lines[1]).toContain('199bc3dc-0d74-feeb-dca2-a47f35aa59d7');
    expect(lines[3]).toMatch(/^\/subscriptions\/s.*….*\/last-one/);
    expect(text).not.toContain('\u001b[2J');
    expect(text).not.toContain('\u202e');
  });

  it('is in colour, unless NO_COLOR is set or the terminal is dumb', async () => {
    const textWith = async (env?: Record<string, string>) => (await listed(env, '--columns=alert_state')).text;
    expect(await textWith()).toContain('\u001b[31mfiring\u001b[0m');
    expect(await textWith({ NO_COLOR: '1' })).not.toContain('\u001b');
    expect(await textWith({ TERM: 'dumb' })).not.toContain('\u001b');
  });
});
