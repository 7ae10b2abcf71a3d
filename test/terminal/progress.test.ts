import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { type Fault, NAMED_FAULTS } from '../../lab/simulator/faults.ts';
import { configOf, entriesOf, startTestService } from '../e2e/test-bed.ts';
import { temporaryFile } from '../service/support/files.ts';
import { PseudoTerminal, program } from './pseudo-terminal.ts';

async function configWith(faults: Readonly<Record<string, readonly Fault[]>>) {
  const { url } = await startTestService({ faults, source: () => entriesOf(3) });
  const upstream = { timeout: '1h', refresh_timeout: '1h' };
  return temporaryFile('config.yaml', stringify(configOf(url, ['a', 'b', 'c'], { upstream })));
}

describe('the progress of a command in a terminal', () => {
  it('names the station that it waits for', async () => {
    const config = await configWith({ c: [NAMED_FAULTS.hang] });
    const terminal = new PseudoTerminal(`${program} check --live --config.file=${config}`);
    await terminal.received(/2 of 3 stations, \d+ pages, slowest: c \(/);
    expect(terminal.lines.at(-1)).toMatch(/^2 of 3 stations, /);
  });

  it('is gone when the command has ended', async () => {
    const terminal = new PseudoTerminal(`${program} check --live --config.file=${await configWith({})}`);
    await terminal.exit;
    expect(terminal.text).toContain('0 of 3 stations, 0 pages');
    expect(terminal.lines.join('\n')).not.toContain('of 3 stations');
    expect(terminal.lines.join('\n')).toContain('stations: 3, ok: 3, failed: 0');
  });

  it('is not shown where stderr is no terminal', async () => {
    const config = await configWith({});
    const terminal = new PseudoTerminal(`${program} check --live --config.file=${config} 2>/dev/null`);
    await terminal.exit;
    expect(terminal.text).toContain('stations: 3, ok: 3, failed: 0');
    expect(terminal.text).not.toContain('of 3 stations');
  });
});
