/** The first command is the default. */
export const COMMANDS = [
  { name: 'serve', help: 'Serve metrics (default command).' },
  {
    name: 'check',
    help: 'Check the configuration like --config.check; with --live, also query each station once and explain failures. Exit with 1 if the configuration is invalid or a station fails; warnings do not change the exit code.',
  },
  {
    name: 'list',
    operands: ['station'],
    help: 'Query a configured station and print its resources.',
  },
  {
    name: 'record',
    operands: ['station'],
    help: 'Query a configured station and record the responses with anonymized IDs and names, for simulate --from.',
  },
  { name: 'simulate', help: 'Run the simulated service and print a configuration for it.' },
] as const satisfies readonly Command[];

export type CommandName = (typeof COMMANDS)[number]['name'];

export interface Command {
  readonly name: string;
  /** Required positional arguments, in this order. */
  readonly operands?: readonly string[];
  readonly help: string;
}

export function commandUsage({ name, operands = [] }: Command): string {
  return [name, ...operands.map((operand) => `<${operand}>`)].join(' ');
}
