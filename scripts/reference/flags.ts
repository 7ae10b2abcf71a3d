import { COMMAND_NAMES, COMMANDS, PROGRAM } from '../../src/cli/commands.ts';
import { FAULT_NAMES, type Flag } from '../../src/cli/flag-type.ts';
import { FLAGS } from '../../src/cli/flags.ts';
import { proseLines } from './prose-lines.ts';

/** Generates docs/flags.md. */
export function flagsReference(): string {
  return [
    '# Flags',
    '',
    '<!-- Generated from src/cli/flags.ts and src/cli/commands.ts by `npm run generate`; do not edit. -->',
    '',
    `\`${PROGRAM} [<flags>] [<command>]\``,
    '',
    'Without a command it serves metrics; [commands.md](commands.md) describes the others. With `--help`, each shows its',
    'flags and examples.',
    '',
    'Pass a value as `--name=value` or `--name value`; a value that starts with `--` only as `--name=value`. Pass a boolean',
    'flag, `false` by default, as `--name`, `--no-name`, `--name=true` or `--name=false`. Flags with `...` can be repeated;',
    'the given values replace the default. All problems of the command line are reported at once, with exit code 1.',
    '',
    '| flag | default | commands | meaning |',
    '|---|---|---|---|',
    ...FLAGS.map((flag) => `| ${[spelled(flag), standard(flag), commands(flag), flag.help].map(cell).join(' | ')} |`),
    '',
    ...proseLines(
      `${listed(COMMAND_NAMES.filter((name) => COMMANDS[name].acceptsServeFlags))} accept the flags of \`serve\` too and ignore those that they do not use; \`--config.check\` is for \`serve\` and \`check\` alone. \`--shard\` must be less than \`--total-shards\`. \`--from\` cannot be combined with \`--simulate.stations\` or \`--simulate.resources\`. A duration such as \`1m30s\` or \`0.5s\` is at most \`1d\`.`,
    ),
    '',
    '## Faults',
    '',
    ...proseLines(
      `\`--simulate.fault=slow\` affects every request, \`--simulate.fault=slow:0.1\` a tenth of them. The names: ${listed(FAULT_NAMES)}.`,
    ),
    '',
  ].join('\n');
}

function spelled({ name, short, type, isRepeatable }: Flag): string {
  const value = type.placeholder === undefined ? '' : `=${type.placeholder}`;
  const long = `\`--${name}${value}\``;
  const repeated = isRepeatable ? ' ...' : '';
  return short === undefined ? `${long}${repeated}` : `${long}, \`-${short}\``;
}

function standard({ type, default: text }: Flag): string {
  return text === undefined || type.placeholder === undefined ? '' : `\`${text}\``;
}

function commands({ only }: Flag): string {
  return only.length === COMMAND_NAMES.length ? 'all' : listed(only);
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
