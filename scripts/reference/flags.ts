import { COMMAND_NAMES, COMMANDS, type CommandName, commandUsage, PROGRAM } from '../../src/cli/commands.ts';
import type { Flag } from '../../src/cli/flag-kind.ts';
import { FLAGS } from '../../src/cli/flags.ts';

/** Generates docs/flags.md. */
export function flagsReference(): string {
  return [
    '# Flags',
    '',
    '<!-- Generated from src/cli/flags.ts and src/cli/commands.ts by `npm run generate`; do not edit. -->',
    '',
    `\`${PROGRAM} [<flags>] [<command>]\``,
    '',
    'Pass a value as `--name=value` or `--name value`; a value that starts with `--` only as `--name=value`. Pass a boolean flag as `--name`,',
    '`--no-name`, `--name=true` or `--name=false`. A repeatable flag can be given several times, which replaces its default. All problems of',
    'the command line are reported at once, with exit code 1.',
    '',
    '| flag | default | value | commands | meaning |',
    '|---|---|---|---|---|',
    ...FLAGS.map(
      (flag) => `| ${[spelled(flag), standard(flag), value(flag), commands(flag), flag.help].map(cell).join(' | ')} |`,
    ),
    '',
    `${listed(COMMAND_NAMES.filter((name) => COMMANDS[name].acceptsServeFlags))} accept the flags of \`serve\` too and ignore those that they do not use.`,
    '`--shard` must be less than `--total-shards`. `--from` cannot be combined with `--simulate.stations` or `--simulate.resources`.',
    '',
    '## Commands',
    '',
    '| command | meaning |',
    '|---|---|',
    ...COMMAND_NAMES.map((name) => `| \`${commandUsage(name)}\` | ${cell(COMMANDS[name].help)} |`),
    '',
    `\`${PROGRAM} help <command>\` and \`${PROGRAM} <command> --help\` show the flags of a command.`,
    '',
    '## Examples',
    '',
    ...COMMAND_NAMES.flatMap(exampleLines),
  ].join('\n');
}

function exampleLines(name: CommandName): readonly string[] {
  const { examples } = COMMANDS[name];
  return [`### ${name}`, '', '```sh', ...examples.flatMap(([title, line]) => [`# ${title}`, line]), '```', ''];
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

function commands({ only }: Flag): string {
  return only.length === COMMAND_NAMES.length ? 'all' : listed(only);
}

function listed(names: readonly CommandName[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
