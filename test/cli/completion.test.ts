import { describe, expect, it } from 'vitest';
import { COMMAND_NAMES } from '../../src/cli/commands.ts';
import { completions } from '../../src/cli/completion.ts';

/** Without their help. */
const wordsFor = (...words: string[]) =>
  completions(words)
    .split('\n')
    .slice(0, -1)
    .map((line) => line.split('\t')[0]);

/** test/terminal runs the scripts in their shells. */
describe('completions', () => {
  it('completes commands and flags, with help', () => {
    expect(wordsFor('')).toEqual(COMMAND_NAMES);
    expect(completions([''])).toContain('serve\tServe metrics\n');
    expect(completions(['list', 'prod', '--lim'])).toBe('--limit=\tMaximum number of resources to print\n');
  });

  it.each([
    [['--format=c'], ['--format=csv']],
    [['--format', 'c'], ['csv']],
    [['--columns=state,s'], ['state', 'sku', 'sku_quantity', 'sku_unit'].map((name) => `--columns=state,${name}`)],
    [['--search', ''], []],
    [['--config.file', ''], [':files']],
    [['--wide', ''], []],
  ])('completes the values in %j', (words, expected) => {
    expect(wordsFor('list', 'prod', ...words)).toEqual(expected);
  });

  it.each([
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    [['help', 'ver'], ['version']],
    [['--config.file', 'serve', 'he'], ['help']],
    [['nonsense', '--sha'], ['--shard=']],
    [[], COMMAND_NAMES],
  ])('completes the operands in %j', (words, expected) => {
    expect(wordsFor(...words)).toEqual(expected);
  });
});
