import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { NAMED_FAULTS } from '../../lab/simulator/faults.ts';
import { configOf, startTestService } from '../e2e/test-bed.ts';
import { temporaryFile } from '../service/support/files.ts';
import { eventually } from '../web/eventually.ts';
import { PseudoTerminal, program } from './pseudo-terminal.ts';

const CTRL_C = '\u0003';

/** Types Ctrl-C while the service does not answer, and the terminal shows `before`. */
async function interrupted(command: string, before = /^/) {
  const service = await startTestService({ faults: { '*': [NAMED_FAULTS.hang] } });
  const file = temporaryFile(
    'config.yaml',
    stringify(configOf(service.url, ['ts'], { upstream: { timeout: '1h', refresh_timeout: '1h' } })),
  );
  const terminal = new PseudoTerminal(`${program} ${command} --config.file=${file}`);
  await eventually(() => expect(service.requests).not.toEqual([]));
  await terminal.received(before);
  terminal.type(CTRL_C);
  const code = await terminal.exit;
  return { code, lines: terminal.lines };
}

describe('Ctrl-C in a terminal', () => {
  it('leaves a clean line and exits with 130', async () => {
    expect(await interrupted('list ts', /0 pages of ts/)).toEqual({ code: 130, lines: [''] });
  });

  it('serve: logs the shutdown on lines of their own and exits with 0', async () => {
    const { code, lines } = await interrupted('--web.listen-address=127.0.0.1:0', /msg=listening [^\n]*\n/);
    expect(code).toBe(0);
    expect(lines.at(-1)).toBe('');
    for (const line of lines.slice(0, -1)) expect(line).toMatch(/^ts=/);
    expect(lines.at(-2)).toContain(' msg="shutting down" signal=SIGINT');
  });
});
