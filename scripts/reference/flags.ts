import { COMMANDS, commandUsage } from '../../src/cli/commands.ts';
import type { Flag } from '../../src/cli/flag-kind.ts';
import { FLAGS } from '../../src/cli/flags.ts';

/** Generates docs/flags.md. */
export function flagsReference(): string {
  const flags: readonly Flag[] = FLAGS;
  return [
    '# Flags',
    '',
    '<!-- Generated from src/cli/flags.ts by `npm run generate`; do not edit. -->',
    '',
    '`telemetry-station-exporter [<flags>] [<command>]`',
    '',
    'Pass a value as `--name=value` or `--name value`; a value that starts with `-` only as `--name=value`. Pass a boolean flag as `--name`,',
    '`--no-name`, `--name=true` or `--name=false`. A repeatable flag can be given several times, which replaces its default. All problems of',
    'the command line are reported at once, with exit code 1.',
    '',
    '| flag | default | value | meaning |',
    '|---|---|---|---|',
    ...flags.map((flag) => `| ${[spelled(flag), standard(flag), value(flag), meaning(flag)].map(cell).join(' | ')} |`),
    '',
    '`--shard` must be less than `--total-shards`. `--from` cannot be combined with `--simulate.stations` or `--simulate.resources`.',
    '',
    '## Commands',
    '',
    '| command | meaning |',
    '|---|---|',
    ...COMMANDS.map((command) => `| \`${commandUsage(command)}\` | ${cell(command.help)} |`),
    '',
  ].join('\n');
}

function spelled({ name, short }: Flag): string {
  return short === undefined ? `\`--${name}\`` : `\`--${name}\`, \`-${short}\``;
}

function standard({ default: text }: Flag): string {
  return text === undefined ? 'none' : `\`${text}\``;
}

function value({ kind, repeatable }: Flag): string {
  return repeatable === true ? `${kind.expected}; repeatable` : kind.expected;
}

function meaning({ help, only }: Flag): string {
  return only === undefined ? help : `${help} Only with ${only.map((command) => `\`${command}\``).join(', ')}.`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
