import { describe, expect, it } from 'vitest';
import { FLAGS } from '../../src/cli/flags.ts';
import { helpText, versionText } from '../../src/cli/help.ts';

describe('helpText', () => {
  it('starts with the usage and the purpose', () => {
    expect(helpText()).toMatch(/^usage: telemetry-station-exporter \[<flags>\] \[<command>\]\n\nPrometheus exporter for /);
  });

  it.each(FLAGS.map((flag) => flag.name))('shows --%s', (name) => {
    expect(helpText()).toMatch(new RegExp(`^  (   |-h,) --(\\[no-\\])?${name.replaceAll('.', '\\.')}[= ].*  \\S`, 'm'));
  });

  it('shows defaults, placeholders and repeatable flags', () => {
    expect(helpText()).toContain('\n      --web.listen-address=:9842 ...  ');
    expect(helpText()).toContain('\n      --web.external-url=<url>  ');
    expect(helpText()).toContain('\n  -h, --[no-]help  ');
  });

  it('shows the command of a flag', () => {
    expect(helpText()).toMatch(/ --simulate\.seed=1 +simulate: /);
    expect(helpText()).toMatch(/ --sort=<key> +list: /);
  });

  it('shows the commands and their operands', () => {
    const commands = helpText().split('\nCommands:\n')[1] ?? '';
    expect(commands.match(/^ {2}\S+( <\w+>)?(?= {2})/gm)).toEqual([
      '  serve',
      '  check',
      '  list <station>',
      '  record <station>',
      '  simulate',
    ]);
  });

  it('fits in 100 columns with aligned texts', () => {
    const lines = helpText().split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
    const flagLines = lines.slice(lines.indexOf('Flags:') + 1, lines.indexOf('Commands:') - 1);
    const columns = flagLines.map((line) => /^(?: {2}(?:-.,| {3}) \S+(?: \.\.\.)? +| +)(?=\S)/.exec(line)?.[0].length);
    expect(new Set(columns).size).toBe(1);
    expect(flagLines.length).toBeGreaterThan(FLAGS.length);
  });
});

describe('versionText', () => {
  it('shows version, revision and Node version', () => {
    expect(versionText({ version: '1.2.3', revision: 'abc1234', nodeVersion: 'v20.19.0' })).toBe(
      'telemetry-station-exporter, version 1.2.3 (revision: abc1234)\n  node version: v20.19.0\n',
    );
  });
});
