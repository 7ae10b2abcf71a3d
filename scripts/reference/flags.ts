import { COMMANDS, commandUsage } from '../../src/cli/commands.ts';
import type { Flag } from '../../src/cli/flag-kind.ts';
import { FLAGS } from '../../src/cli/flags.ts';

/** The page docs/flags.md. */
export function flagsReference(): string {
  const flags: readonly Flag[] = FLAGS;
  return [
    '# Flags',
    '',
    '<!-- Generated from src/cli/flags.ts by `npm run generate`; do not edit. -->',
    '',
    '`telemetry-station-exporter [<flags>] [<command>]`',
    '',
    'A value is given as `--name=value` or `--name value`; one that begins with `-` only as `--name=value`. A flag that is on or off is',
    'given as `--name`, `--no-name`, `--name=true` or `--name=false`. A flag marked as repeatable may be given several times, which',
    'replaces its default; any other only once. Every mistake is reported, and nothing starts.',
    '',
    '| flag | default | value | meaning |',
    '|---|---|---|---|',
    ...flags.map((flag) => `| ${[spelled(flag), standard(flag), value(flag), meaning(flag)].map(cell).join(' | ')} |`),
    '',
    '`--shard` must be less than `--total-shards`; `--from` leaves nothing to `--simulate.stations` and `--simulate.resources`.',
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
