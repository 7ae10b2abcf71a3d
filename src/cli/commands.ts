export const PROGRAM = 'telemetry-station-exporter';

export const COMMAND_NAMES = ['serve', 'check', 'list', 'record', 'simulate', 'drill'] as const;

export type CommandName = (typeof COMMAND_NAMES)[number];

export const DEFAULT_COMMAND: CommandName = 'serve';

export interface Command {
  readonly operand?: string;
  readonly isOptional?: true;
  /** Accepts the flags of serve without using all of them, so that one set of flags fits each of these commands. */
  readonly acceptsServeFlags?: true;
  readonly help: string;
  readonly examples: readonly (readonly [title: string, line: string])[];
}

export const COMMANDS: Readonly<Record<CommandName, Command>> = {
  serve: {
    help: 'Serve metrics (default command).',
    examples: [
      ['Try it without a configuration file', `${PROGRAM} --demo`],
      ['Serve metrics on one address', `${PROGRAM} --config.file=config.yaml --web.listen-address=127.0.0.1:9842`],
    ],
  },
  check: {
    acceptsServeFlags: true,
    help: 'Check the configuration like --config.check; with --live, also query each station once and explain failures; with --prometheus.url and --alertmanager.url, check whether alerts arrive. Exit with 1 if the configuration is invalid, a station fails, alerts do not arrive or a limit on resources without alert rules is exceeded; warnings do not change the exit code. With --live, --format=json and --format=csv print the resources without alert rules to stdout and the report to stderr.',
    examples: [
      ['Check the configuration file', `${PROGRAM} check --config.file=config.yaml`],
      ['Also query each station', `${PROGRAM} check --live --config.file=config.yaml`],
      [
        'Fail unless 95 % of the resources that can have alerts have alert rules',
        `${PROGRAM} check --live --min-coverage=0.95`,
      ],
      ['The same for the resources of one team', `${PROGRAM} check --live --min-coverage=0.95 --label=team=storage`],
      [
        'Whether alerts arrive',
        `${PROGRAM} check --prometheus.url=http://127.0.0.1:9090 --alertmanager.url=http://127.0.0.1:9093`,
      ],
    ],
  },
  list: {
    operand: 'station',
    isOptional: true,
    acceptsServeFlags: true,
    help: 'Query a configured station, or all of them, and print the resources. Exit with 2 if a printed listing is not verified complete, and with 1 if a station fails.',
    examples: [
      [
        'Firing resources, those with the most alert rules first',
        `${PROGRAM} list prod --alert-state=firing --sort=-alert_rules`,
      ],
      ['Resources that are not covered by alert rules', `${PROGRAM} list prod --without-rules`],
      ['Resources that are exempt', `${PROGRAM} list prod --alertable=no`],
      ['All resources of all stations, for a spreadsheet', `${PROGRAM} list --format=csv > resources.csv`],
    ],
  },
  record: {
    operand: 'station',
    acceptsServeFlags: true,
    help: 'Query a configured station and record the responses with anonymized IDs and names, for simulate --from.',
    examples: [['Record a station, for a bug report', `${PROGRAM} record prod --output=recording.json`]],
  },
  simulate: {
    help: 'Run the simulated service and print a configuration for it.',
    examples: [
      ['Simulate the stations of the demo', `${PROGRAM} simulate > simulated.yaml`],
      [
        'Simulate a large fleet of a service that limits requests',
        `${PROGRAM} simulate --simulate.stations=50 --simulate.resources=2000 --simulate.fault=rate_limited:0.1 > simulated.yaml`,
      ],
      ['Replay a recording', `${PROGRAM} simulate --from=recording.json > simulated.yaml`],
    ],
  },
  drill: {
    operand: 'alert',
    isOptional: true,
    acceptsServeFlags: true,
    help: 'Print the alerts of a drill: one alert, or each of the shipped ones, with the labels of the first station. With --send, send them to Alertmanager, and print which receivers they go to and what suppresses them. They have the label drill="true", a summary that begins with [DRILL], and end after five minutes. Exit with 1 if an alert of the exporter is firing, unless --force is set.',
    examples: [
      ['Send one alert', `${PROGRAM} drill TelemetryStationDataStale --send --alertmanager.url=http://127.0.0.1:9093`],
    ],
  },
};

export function isCommandName(word: string): word is CommandName {
  return Object.hasOwn(COMMANDS, word);
}

export function commandUsage(name: CommandName): string {
  const { operand, isOptional } = COMMANDS[name];
  if (operand === undefined) return name;
  return isOptional ? `${name} [<${operand}>]` : `${name} <${operand}>`;
}
