import { describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { NAMED_FAULTS } from '../../src/simulator/faults.ts';
import { configOf, startTestService } from '../e2e/test-bed.ts';
import { temporaryFile } from '../service/support/files.ts';
import { eventually } from '../web/eventually.ts';
import { PseudoTerminal, program } from './pseudo-terminal.ts';

const CTRL_C = '\u0003';

/** What stays on the lines of a terminal that knows carriage return and erase in line. */
function visibleLines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) =>
      line
        .split('\r')
        .reduce(
          (shown, part) =>
            part.startsWith('\u001b[K') ? part.slice('\u001b[K'.length) : part + shown.slice(part.length),
          '',
        ),
    );
}

/** Types Ctrl-C while the service does not answer, and the terminal shows `before`. */
async function interrupted(command: string, env: Readonly<Record<string, string>> = {}, before = /^/) {
  const service = await startTestService({ faults: { '*': [NAMED_FAULTS.hang] } });
  const file = temporaryFile(
    'config.yaml',
    stringify(configOf(service.url, ['ts'], { upstream: { timeout: '1h', refresh_timeout: '1h' } })),
  );
  const terminal = new PseudoTerminal(`${program} ${command} --config.file=${file}`, { env });
  await eventually(() => expect(service.requests).not.toEqual([]));
  await terminal.received(before);
  terminal.type(CTRL_C);
  const code = await terminal.exit;
  return { code, lines: visibleLines(terminal.text) };
}

describe('Ctrl-C in a terminal', () => {
  it('clears the progress line and exits with 130', async () => {
    expect(await interrupted('list ts')).toEqual({ code: 130, lines: [''] });
  });

  it('ends the line of a dumb terminal', async () => {
    expect(await interrupted('list ts', { TERM: 'dumb' })).toEqual({ code: 130, lines: ['^C', ''] });
  });

  it('serve: logs the shutdown on lines of their own and exits with 0', async () => {
    const { code, lines } = await interrupted('--web.listen-address=127.0.0.1:0', {}, /msg=listening [^\n]*\n/);
    expect(code).toBe(0);
    expect(lines.at(-1)).toBe('');
    for (const line of lines.slice(0, -1)) expect(line).toMatch(/^ts=/);
    expect(lines.at(-2)).toContain(' msg="shutting down" signal=SIGINT');
  });
});
