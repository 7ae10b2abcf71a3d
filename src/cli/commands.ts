export const PROGRAM = 'telemetry-station-exporter';

export const COMMAND_NAMES = ['serve', 'check', 'list', 'record', 'simulate', 'completion', 'help', 'version'] as const;

export type CommandName = (typeof COMMAND_NAMES)[number];

/** Without a command on the command line. */
export const DEFAULT_COMMAND: CommandName = 'serve';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export type Shell = (typeof SHELLS)[number];

export interface Command {
  /** Positional arguments, in this order. */
  readonly operands?: readonly Operand[];
  /** Accepts the flags of serve without using all of them, so that one set of flags fits each of these commands. */
  readonly acceptsServeFlags?: true;
  readonly help: string;
  readonly examples: readonly Example[];
}

export interface Operand {
  readonly name: string;
  readonly optional?: true;
  /** Any other word is a problem. */
  readonly values?: readonly string[];
}

interface Example {
  readonly title: string;
  /** As typed into a shell. */
  readonly line: string;
}

const STATION: Operand = { name: 'station' };

export const COMMANDS: Readonly<Record<CommandName, Command>> = {
  serve: {
    help: 'Serve metrics (default command).',
    examples: [
      { title: 'Try it without a configuration file', line: `${PROGRAM} --demo` },
      {
        title: 'Serve metrics on one address',
        line: `${PROGRAM} --config.file=config.yaml --web.listen-address=127.0.0.1:9842`,
      },
    ],
  },
  check: {
    acceptsServeFlags: true,
    help: 'Check the configuration like --config.check; with --live, also query each station once and explain failures. Exit with 1 if the configuration is invalid or a station fails; warnings do not change the exit code.',
    examples: [
      { title: 'Check the configuration file', line: `${PROGRAM} check --config.file=config.yaml` },
      { title: 'Also query each station', line: `${PROGRAM} check --live --config.file=config.yaml` },
    ],
  },
  list: {
    operands: [STATION],
    acceptsServeFlags: true,
    help: 'Query a configured station and print its resources.',
    examples: [
      {
        title: 'Firing resources, those with the most alert rules first',
        line: `${PROGRAM} list prod --state=firing --sort=-alert_rules`,
      },
      {
        title: 'Resources that can have alerts but have no alert rule',
        line: `${PROGRAM} list prod --alertable=yes --without-rules`,
      },
      { title: 'All resources, for a spreadsheet', line: `${PROGRAM} list prod --format=csv > prod.csv` },
    ],
  },
  record: {
    operands: [STATION],
    acceptsServeFlags: true,
    help: 'Query a configured station and record the responses with anonymized IDs and names, for simulate --from.',
    examples: [{ title: 'Record a station, for a bug report', line: `${PROGRAM} record prod --output=recording.json` }],
  },
  simulate: {
    help: 'Run the simulated service and print a configuration for it.',
    examples: [
      { title: 'Simulate the stations of the demo', line: `${PROGRAM} simulate > simulated.yaml` },
      {
        title: 'Simulate a large fleet of a service that limits requests',
        line: `${PROGRAM} simulate --simulate.stations=50 --simulate.resources=2000 --simulate.fault=rate_limited:0.1 > simulated.yaml`,
      },
      {
        title: 'Rehearse authentication with HMAC signatures',
        line: `${PROGRAM} simulate --simulate.auth=hmac > simulated.yaml`,
      },
      { title: 'Replay a recording', line: `${PROGRAM} simulate --from=recording.json > simulated.yaml` },
    ],
  },
  completion: {
    operands: [{ name: 'shell', values: SHELLS }],
    help: `Print a completion script for a shell: ${SHELLS.join(', ')}.`,
    examples: [
      { title: 'Bash, in ~/.bashrc', line: `source <(${PROGRAM} completion bash)` },
      { title: 'Zsh, in ~/.zshrc after compinit', line: `source <(${PROGRAM} completion zsh)` },
      { title: 'Fish, in ~/.config/fish/config.fish', line: `${PROGRAM} completion fish | source` },
    ],
  },
  help: {
    operands: [{ name: 'command', optional: true, values: COMMAND_NAMES }],
    help: 'Show the help of a command.',
    examples: [{ title: 'The flags and examples of list', line: `${PROGRAM} help list` }],
  },
  version: { help: 'Show the version.', examples: [{ title: 'Show the version', line: `${PROGRAM} version` }] },
};

export function isCommandName(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
}

/** The name and the operands of a command. */
export function commandUsage(name: CommandName): string {
  const { operands = [] } = COMMANDS[name];
  return [name, ...operands.map((operand) => (operand.optional ? `[<${operand.name}>]` : `<${operand.name}>`))].join(
    ' ',
  );
}
