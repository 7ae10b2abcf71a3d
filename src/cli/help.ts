import { COMMANDS, commandUsage } from './commands.ts';
import type { Flag } from './flag-kind.ts';
import { FLAGS } from './flags.ts';

const PROGRAM = 'telemetry-station-exporter';
const COLUMNS = 100;

/** The help in the layout of Prometheus exporters. */
export function helpText(): string {
  const flags: readonly Flag[] = FLAGS;
  return [
    `usage: ${PROGRAM} [<flags>] [<command>]`,
    '',
    'Prometheus exporter for the resources attached to telemetry stations.',
    '',
    'Flags:',
    ...twoColumns(flags.map((flag) => [flagUsage(flag), flag.only === undefined ? flag.help : `${flag.only.join(', ')}: ${flag.help}`])),
    '',
    'Commands:',
    ...twoColumns(COMMANDS.map((command) => [commandUsage(command), command.help])),
    '',
  ].join('\n');
}

export function versionText(build: { readonly version: string; readonly revision: string; readonly nodeVersion: string }): string {
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
