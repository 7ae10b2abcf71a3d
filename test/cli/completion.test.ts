import { describe, expect, it } from 'vitest';
import { COMMAND_NAMES, SHELLS } from '../../src/cli/commands.ts';
import { completionScript } from '../../src/cli/completion.ts';
import { FLAGS } from '../../src/cli/flags.ts';

/** test/terminal runs the scripts in their shells. */
describe.each(SHELLS)('completionScript for %s', (shell) => {
  const script = completionScript(shell);

  it('has every command, flag and value', () => {
    const words = [...COMMAND_NAMES, ...FLAGS.flatMap(({ name, kind }) => [name, ...(kind.values ?? [])])];
    expect(
      words.filter((word) => !new RegExp(`(?<![\\w.-])(--)?${word.replaceAll('.', '\\.')}(?![\\w.-])`).test(script)),
    ).toEqual([]);
  });

  it('consists of lines without control characters', () => {
    expect(script).toMatch(/^[^\p{Cc}]+(\n[^\p{Cc}]+)*\n$/u);
  });
});
