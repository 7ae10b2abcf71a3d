/** What the program can be told to do; the first one when it is told nothing. */
export const COMMANDS = [
  { name: 'serve', help: 'Serve the metrics; the default.' },
  {
    name: 'check',
    help: 'Check the configuration as --config.check does; with --live, ask each station once and tell what is wrong. Exits with 1 when the configuration is wrong or a station fails; warnings are told alone.',
  },
  { name: 'simulate', help: 'Run the simulated service alone and print a configuration that exports from it.' },
] as const satisfies readonly Command[];

export type CommandName = (typeof COMMANDS)[number]['name'];

interface Command {
  readonly name: string;
  readonly help: string;
}
