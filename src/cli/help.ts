import { COMMAND_NAMES, COMMANDS, type CommandName, commandUsage, DEFAULT_COMMAND, PROGRAM } from './commands.ts';
import type { Flag } from './flag-kind.ts';
import { flagsOf } from './flags.ts';

const COLUMNS = 100;

/** The help of a command in the layout of Prometheus exporters; that of the default command is the help of the program. */
export function helpText(name: CommandName = DEFAULT_COMMAND): string {
  const { help, examples } = COMMANDS[name];
  const isProgram = name === DEFAULT_COMMAND;
  return [
    `usage: ${PROGRAM} ${isProgram ? '[<flags>] [<command>]' : commandUsage(name).replace(name, `${name} [<flags>]`)}`,
    '',
    ...(isProgram ? ['Prometheus exporter for the resources attached to telemetry stations.'] : wrapped(help, COLUMNS)),
    '',
    ...(isProgram ? commandLines() : []),
    ...(isProgram ? [`Flags of ${name}:`] : ['Flags:']),
    ...twoColumns(flagsOf(name).map((flag) => [flagUsage(flag), flag.help])),
    '',
    'Examples:',
    ...examples.flatMap(({ title, line }, at) => [...(at === 0 ? [] : ['']), `  # ${title}`, `  ${line}`]),
    '',
  ].join('\n');
}

function commandLines(): readonly string[] {
  return [
    'Commands:',
    ...twoColumns(COMMAND_NAMES.map((name) => [commandUsage(name), COMMANDS[name].help])),
    '',
    `"${PROGRAM} help <command>" shows the flags and examples of a command.`,
    '',
  ];
}

export function versionText(build: {
  readonly version: string;
  readonly revision: string;
  readonly nodeVersion: string;
}): string {
  return `${PROGRAM}, version ${build.version} (revision: ${build.revision})\n  node version: ${build.nodeVersion}\n`;
}

/** Shows the default in place of the value. */
function flagUsage({ name, short, kind, default: defaultValue, repeatable }: Flag): string {
  const spelled = `${short === undefined ? '   ' : `-${short},`} --`;
  if (kind.placeholder === undefined) return `${spelled}[no-]${name}`;
  return `${spelled}${name}=${defaultValue ?? kind.placeholder}${repeatable === true ? ' ...' : ''}`;
}

function twoColumns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length)) + 4;
  return rows.flatMap(([left, right]) =>
    wrapped(right, COLUMNS - width).map((line, at) => `${(at === 0 ? `  ${left}` : '').padEnd(width)}${line}`),
  );
}

function wrapped(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= columns) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
