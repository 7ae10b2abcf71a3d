/** What the program can be told to do; the first one when it is told nothing. */
export const COMMANDS = [
  { name: 'serve', help: 'Serve the metrics; the default.' },
  {
    name: 'check',
    help: 'Check the configuration as --config.check does; with --live, ask each station once and tell what is wrong. Exits with 1 when the configuration is wrong or a station fails; warnings are told alone.',
  },
  {
    name: 'list',
    operands: ['station'],
    help: 'Ask the service for a station of the configuration and print its resources.',
  },
  {
    name: 'record',
    operands: ['station'],
    help: 'Ask the service for a station of the configuration and write down its answers with ids and names made anonymous, for simulate --from.',
  },
  { name: 'simulate', help: 'Run the simulated service alone and print a configuration that exports from it.' },
] as const satisfies readonly Command[];

export type CommandName = (typeof COMMANDS)[number]['name'];

export interface Command {
  readonly name: string;
  /** What it is to be told beside flags, in this order. */
  readonly operands?: readonly string[];
  readonly help: string;
}

export function commandUsage({ name, operands = [] }: Command): string {
  return [name, ...operands.map((operand) => `<${operand}>`)].join(' ');
}
