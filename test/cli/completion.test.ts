import { describe, expect, it } from 'vitest';
import { COMMAND_NAMES, SHELLS } from '../../src/cli/commands.ts';
import { completionScript, completions } from '../../src/cli/completion.ts';
import { flagsOf } from '../../src/cli/flags.ts';

/** Without their help. */
const wordsFor = (...words: string[]) =>
  completions(words)
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t')[0]);

describe('completions', () => {
  it('completes every command and each of its flags, with help', () => {
    expect(wordsFor('')).toEqual(COMMAND_NAMES);
    expect(completions([''])).toContain('serve\tServe metrics\n');
    for (const name of COMMAND_NAMES) {
      const flags = flagsOf(name).map((flag) => `--${flag.name}${flag.kind.placeholder ? '=' : ''}`);
      expect(wordsFor(name, '--')).toEqual(flags);
    }
    expect(completions(['list', 'prod', '--lim'])).toBe('--limit=\tMaximum number of resources to print\n');
  });

  it.each([
    [['--format=c'], ['--format=csv']],
    [['--format', 'c'], ['csv']],
    [['--columns=state,s'], ['state', 'sku', 'sku_quantity', 'sku_unit'].map((name) => `--columns=state,${name}`)],
    [['--columns', 'state,gp'], ['state,gpu_model']],
    [['--search', ''], []],
    [['--config.file', ''], [':files']],
    [['--config.file=a'], [':files']],
    [['--wide', ''], []],
    [['--nothing='], []],
  ])('completes the values in %j', (words, expected) => {
    expect(wordsFor('list', 'prod', ...words)).toEqual(expected);
  });

  it.each([
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['completion', 'bash', ''], []],
    [['help', 'ver'], ['version']],
    [['--config.file', 'serve', 'he'], ['help']],
    [['nonsense', ''], []],
    [['nonsense', '--sha'], ['--shard=']],
    [[], COMMAND_NAMES],
  ])('completes the operands in %j', (words, expected) => {
    expect(wordsFor(...words)).toEqual(expected);
  });
});

/** test/terminal runs the scripts in their shells. */
describe.each(SHELLS)('completionScript for %s', (shell) => {
  it('consists of lines without control characters', () => {
    expect(completionScript(shell)).toMatch(/^[^\p{Cc}]+(\n[^\p{Cc}]+)*\n$/u);
  });
});
