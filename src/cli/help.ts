import { COMMAND_NAMES, COMMANDS, type CommandName, commandUsage, DEFAULT_COMMAND, PROGRAM } from './commands.ts';
import type { Flag } from './flag-type.ts';
import { flagsOf } from './flags.ts';
import { wrapped } from './wrap.ts';

const HELP_WIDTH = 80;

/** The help of a command in the layout of Prometheus exporters; that of the default command is the help of the program. */
export function helpText(name: CommandName = DEFAULT_COMMAND): string {
  const { help, examples } = COMMANDS[name];
  const isProgram = name === DEFAULT_COMMAND;
  return [
    `usage: ${PROGRAM} ${isProgram ? '[<flags>] [<command>]' : commandUsage(name).replace(name, `${name} [<flags>]`)}`,
    '',
    ...(isProgram
      ? ['Prometheus exporter for the resources attached to telemetry stations.']
      : wrapped(help, HELP_WIDTH)),
    '',
    ...(isProgram ? commandLines() : []),
    ...(isProgram ? [`Flags of ${name}:`] : ['Flags:']),
    ...twoColumns(flagsOf(name).map((flag) => [flagUsage(flag), flag.help])),
    '',
    'Examples:',
    ...examples.flatMap(([title, line]) => [
      `  # ${title}`,
      `  ${wrapped(line, HELP_WIDTH - 8).join(' \\\n      ')}`,
      '',
    ]),
  ].join('\n');
}

function commandLines(): readonly string[] {
  return [
    'Commands:',
    ...twoColumns(COMMAND_NAMES.map((name) => [commandUsage(name), COMMANDS[name].help])),
    '',
    `"${PROGRAM} <command> --help" shows more about a command.`,
    '',
  ];
}

function flagUsage({ name, short, type, default: defaultValue, isRepeatable }: Flag): string {
  const spelled = `${short === undefined ? '   ' : `-${short},`} --`;
  if (type.placeholder === undefined) return `${spelled}[no-]${name}`;
  return `${spelled}${name}=${defaultValue ?? type.placeholder}${isRepeatable ? ' ...' : ''}`;
}

/** The left column; what does not fit into it has a line of its own. */
const LEFT_COLUMNS = 30;

function twoColumns(rows: readonly (readonly [string, string])[]): readonly string[] {
  return rows.flatMap(([left, right]) => {
    const lines = wrapped(right, HELP_WIDTH - LEFT_COLUMNS);
    const isShort = left.length + 4 <= LEFT_COLUMNS;
    const lefts = isShort ? [left] : [left, ''];
    return (isShort ? lines : ['', ...lines]).map((line, at) =>
      `  ${lefts[at] ?? ''}`.padEnd(LEFT_COLUMNS).concat(line).trimEnd(),
    );
  });
}
