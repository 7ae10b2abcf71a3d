import { describe, expect, it } from 'vitest';
import { COMMAND_NAMES, COMMANDS, PROGRAM } from '../../src/cli/commands.ts';
import { flagsOf } from '../../src/cli/flags.ts';
import { helpText } from '../../src/cli/help.ts';
import { parseFlags } from '../../src/cli/parse.ts';

describe('helpText', () => {
  it('shows the usage, defaults, placeholders and repeatable flags', () => {
    expect(helpText('list')).toMatch(/^usage: telemetry-station-exporter list \[<flags>\] \[<station>\]\n/);
    expect(helpText()).toContain('\n      --web.listen-address=:9842 ...\n');
    expect(helpText()).toContain('\n      --web.external-url=<url>\n');
    expect(helpText()).toContain('\n  -h, --[no-]help  ');
  });

  it.each(COMMAND_NAMES)('fits in 80 columns, with the flags of %s', (name) => {
    const lines = helpText(name).split('\n');
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
    const flagLines = lines.slice(0, lines.indexOf('Examples:'));
    const shown = flagLines.flatMap((line) => /^ {2}(?: {3}|-h,) --(?:\[no-\])?([\w.-]+)/.exec(line)?.[1] ?? []);
    expect(shown).toEqual(flagsOf(name).map((flag) => flag.name));
  });
});

/** The arguments of the program in a line of shell, without redirections. */
function argumentsIn(line: string): readonly string[] {
  const [, words = ''] = line.split(new RegExp(`\\b${PROGRAM}\\b`));
  const [command = ''] = words.split(/[>|)]/);
  return command.split(' ').filter((word) => word !== '');
}

describe('COMMANDS', () => {
  it.each(COMMAND_NAMES)('has valid examples of %s in its help, with flags of its help', (name) => {
    const used = COMMANDS[name].examples.map(([, line]) => {
      expect(parseFlags(argumentsIn(line))).toMatchObject({ ok: true, command: name });
      expect(helpText(name).replaceAll(/ \\\n +/g, ' ')).toContain(`\n  ${line}\n`);
      return Array.from(line.matchAll(/ --([\w.-]+)/g), ([, flag]) => flag);
    });
    expect(used).not.toEqual([]);
    expect(flagsOf(name).map((flag) => flag.name)).toEqual(expect.arrayContaining(used.flat()));
  });
});
