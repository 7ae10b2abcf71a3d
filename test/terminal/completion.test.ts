import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { PROGRAM } from '../../src/cli/commands.ts';
import { COMPLETE, completionScript } from '../../src/cli/completion.ts';
import { PseudoTerminal, program } from './pseudo-terminal.ts';

/** Begins the output of the stand-in for the program, which prints its arguments. */
const ARGUMENTS = 'got:';

/** Completes with the built program. */
const STAND_IN = `${PROGRAM}() { if [ "$1" = ${COMPLETE} ]; then ${program} "$@"; else printf '${ARGUMENTS}'; printf '<%s>' "$@"; echo; fi; }`;

const SHELLS = {
  bash: { command: 'bash --norc --noprofile -i', start: (script: string) => `source ${script}` },
  zsh: {
    command: 'zsh -f -i',
    start: (script: string) => `autoload -Uz compinit && compinit -u -D && source ${script}`,
  },
} as const;

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'completion-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** The arguments of the program after each `<tab>` was completed by a shell at its prompt. */
async function completed(shell: keyof typeof SHELLS, typed: string): Promise<string> {
  const { command, start } = SHELLS[shell];
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'completion.sh'), completionScript(shell));
  writeFileSync(join(cwd, 'my config.yaml'), '');
  const terminal = new PseudoTerminal(`env PS1='ready> ' ${command}`, { columns: 200, cwd });
  await terminal.received(/ready> /);
  terminal.type(`${start('./completion.sh')}; ${STAND_IN}; echo com''pleted\r`);
  await terminal.received(/completed\r\n.*ready> /s);
  terminal.type(`${PROGRAM} ${typed.replaceAll('<tab>', '\t')}\r`);
  const text = await terminal.received(new RegExp(`${ARGUMENTS}<.*>\\r\\n`), terminal.text.length);
  return new RegExp(`${ARGUMENTS}(.*>)\\r\\n`).exec(text)?.[1] ?? '';
}

const CASES = [
  ['a command', 'li<tab>prod', '<list><prod>'],
  ['a flag of serve without a command', '--web.ma<tab>req<tab>3', '<--web.max-requests=3>'],
  ['a descending order', 'list prod --sort=-cr<tab>', '<list><prod><--sort=-created>'],
  ['a file name with a space', 'check --config.file=my<tab>', '<check><--config.file=my config.yaml>'],
] as const;

describe.each(['bash', 'zsh'] as const)('completionScript for %s', (shell) => {
  it.each(CASES)('completes %s', async (_what, typed, expected) => {
    expect(await completed(shell, typed)).toBe(expected);
  });
});

describe('completionScript for fish', () => {
  const candidates = async (line: string) => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'completion.fish'), completionScript('fish'));
    writeFileSync(join(cwd, 'my config.yaml'), '');
    const commands = `function ${PROGRAM}; ${program} $argv; end; source completion.fish; complete -C '${PROGRAM} ${line}'`;
    const { stdout } = await promisify(execFile)('fish', ['--no-config', '-c', commands], {
      cwd,
      env: { ...process.env, HOME: cwd },
    });
    return stdout
      .split('\n')
      .filter((text) => text !== '')
      .map((text) => text.split('\t')[0]);
  };

  it.each([
    ['a command', 'li', ['list']],
    ['an enumerated value', 'list prod --format=', ['--format=csv', '--format=json', '--format=table']],
    ['a file name', 'check --config.file=my', ['--config.file=my config.yaml']],
  ])('completes %s', async (_what, line, expected) => {
    expect((await candidates(line)).toSorted()).toEqual(expected);
  });
});
