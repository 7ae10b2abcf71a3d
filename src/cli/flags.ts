import { SORT_KEYS } from '../query/selection.ts';
import { ALERT_STATES } from '../resources/alert-state.ts';
import { ALERTABLE } from '../resources/fields.ts';
import type { Shard } from '../stations/shard.ts';
import { COMMAND_NAMES, type CommandName } from './commands.ts';
import {
  ageFlag,
  choice,
  durationFlag,
  externalUrl,
  type Flag,
  type FlagRow,
  type FlagType,
  faultShare,
  file,
  integerFlag,
  labelValue,
  listenAddress,
  shardOrdinal,
  share,
  sortOrder,
  telemetryPath,
  textFlag,
  trueOrFalse,
} from './flag-type.ts';

/** Makes flags that these commands accept. */
function acceptedBy(...only: readonly CommandName[]) {
  const flag = <Value>(type: FlagType<Value>, standard: string, help: string): FlagRow<Value> => ({
    type,
    help,
    only,
    default: standard,
    value: ([parsed]) => parsed as Value,
  });
  return {
    flag,
    toggle: (help: string) => flag(trueOrFalse, 'false', help),
    optional: <Value>(type: FlagType<Value>, help: string): FlagRow<Value | undefined> => ({
      type,
      help,
      only,
      value: ([parsed]) => parsed as Value | undefined,
    }),
  };
}

/** The same flag, which may be given several times. */
function repeatable<Value>(flag: FlagRow<Value>): FlagRow<readonly NonNullable<Value>[]> {
  return { ...flag, isRepeatable: true, value: (parsed) => parsed as readonly NonNullable<Value>[] };
}

const forServe = acceptedBy('serve');
const forCheck = acceptedBy('check');
const forList = acceptedBy('list');
const forRecord = acceptedBy('record');
const forSimulate = acceptedBy('simulate');
const forServeAndCheck = acceptedBy('serve', 'check');
const forConfigured = acceptedBy('serve', 'check', 'list', 'record', 'drill');
const forCheckAndList = acceptedBy('check', 'list');
const forDrill = acceptedBy('drill');
const forChain = acceptedBy('check', 'drill');
const forAll = acceptedBy(...COMMAND_NAMES);

const TABLE = {
  help: { ...forAll.toggle('Show this help and exit.'), short: 'h' },
  version: forAll.toggle('Show the version and exit.'),
  'config.file': forConfigured.flag(file, 'config.yaml', 'Path of the configuration file.'),
  'config.check': forServe.toggle('Check the configuration, print all problems with their positions and exit.'),
  'config.auto-reload-interval': forServe.flag(
    durationFlag(0),
    '0s',
    'How often to check the configuration and station files for changes and reload them; 0s disables it. Secret files need no reload.',
  ),
  live: forCheck.toggle(
    'Query each station and print connection, TLS, resources, series and requests, with an explanation of each failure.',
  ),
  'min-coverage': forCheck.optional(
    share,
    'With --live, exit with 1 and print the resources that are not covered if less than this share of resources, such as 0.95, is covered by alert rules; exempt ones do not count.',
  ),
  'max-without-rules': forCheck.optional(
    integerFlag(0),
    'With --live, exit with 1 and print the resources without alert rules if there are more of them than this.',
  ),
  'max-uncovered-age': forCheck.optional(
    ageFlag,
    'With --live, exit with 1 and print the resources that are not covered, oldest first, if one of them is older than this, such as 7d; exempt ones do not count.',
  ),
  'prometheus.url': forChain.optional(
    externalUrl,
    'URL of the Prometheus that scrapes the exporter; check reads its targets, rules and configuration, drill the labels of its alerts.',
  ),
  'prometheus.config.file': forChain.optional(
    file,
    'Path of a file with credentials and TLS settings for --prometheus.url, with the keys of an HTTP client in the configuration of Prometheus.',
  ),
  'alertmanager.url': forChain.optional(
    externalUrl,
    'URL of the Alertmanager; check prints where each alert goes, drill sends alerts to it.',
  ),
  'alertmanager.config.file': forChain.optional(file, 'The same file for --alertmanager.url.'),
  send: forDrill.toggle('Send the alerts; otherwise they are only printed.'),
  force: forDrill.toggle('Send them although an alert of the exporter is firing.'),
  demo: forConfigured.toggle('Run and query a simulated service in the same process; requires no configuration file.'),
  'web.listen-address': repeatable(
    forServe.flag(listenAddress, ':9842', 'Address to listen on; without a host, all interfaces.'),
  ),
  'web.config.file': forServeAndCheck.optional(
    file,
    'Path of the web configuration file for TLS, basic authentication and headers, in the format of the Prometheus exporter toolkit; reloaded when it changes.',
  ),
  'web.telemetry-path': forServe.flag(telemetryPath, '/metrics', 'Path under which to expose metrics.'),
  'web.external-url': forServe.optional(
    externalUrl,
    'URL under which the exporter is externally reachable, for example through a reverse proxy; used for links.',
  ),
  'web.enable-lifecycle': forServe.toggle('Enable reload of the configuration via POST or PUT to /-/reload.'),
  'web.max-connections': forServe.flag(
    integerFlag(0),
    '2048',
    'Maximum number of open connections; a further one closes the connection that has been idle longest, or is refused if none is idle. 0 means no limit.',
  ),
  'web.max-requests': forServe.flag(
    integerFlag(0),
    '40',
    'Maximum number of scrapes of /metrics, and of /probe, that wait for refreshes; further ones are answered at once from the cache. 0 means no limit.',
  ),
  'scrape.timeout': forServeAndCheck.flag(
    durationFlag(1),
    '10s',
    'Timeout of a scrape without the header X-Prometheus-Scrape-Timeout-Seconds.',
  ),
  'timeout-offset': forServe.flag(durationFlag(0), '0.5s', 'Offset to subtract from the scrape timeout in the header.'),
  shard: forServeAndCheck.flag(
    shardOrdinal,
    '0',
    'Ordinal of this shard, starting at 0; auto takes it from the end of the host name, as in a StatefulSet.',
  ),
  'total-shards': forServeAndCheck.flag(
    integerFlag(1),
    '1',
    'Total number of shards among which stations are distributed.',
  ),
  'log.level': forServe.flag(
    choice('debug', 'info', 'warn', 'error'),
    'info',
    'Minimum severity of messages to log: debug, info, warn or error.',
  ),
  'log.format': forServe.flag(choice('logfmt', 'json'), 'logfmt', 'Format of log messages: logfmt or json.'),
  'log.changes': forServe.toggle(
    'Log each resource that was added or removed, or whose state, number of alert rules or type changed; after 100 per refresh only their number.',
  ),
  format: forCheckAndList.flag(
    choice('table', 'json', 'csv'),
    'table',
    'Output format of resources: table, json or csv.',
  ),
  search: forList.optional(
    textFlag,
    'Print only resources whose ID, name or display name contains this text, ignoring case.',
  ),
  type: forList.optional(
    textFlag,
    'Print only resources of this type, or of the types with this short name, such as eip; an empty value selects resources without one.',
  ),
  product: forList.optional(
    textFlag,
    'Print only resources of this configured product; an empty value selects resources without one.',
  ),
  state: forList.optional(
    textFlag,
    'Print only resources in this state, such as firing or ALERTSTATE_FIRING; an empty value selects resources without one.',
  ),
  'alert-state': forList.optional(
    choice(...ALERT_STATES),
    'Print only resources whose state means this: firing, pending, inactive or unknown.',
  ),
  label: repeatable(
    forCheckAndList.optional(
      labelValue,
      'Print only resources with this label of resource_labels, such as team=storage; an empty value selects resources without it. check --live applies its limits only to resources with exactly this value.',
    ),
  ),
  alertable: forList.optional(
    choice(...ALERTABLE),
    'Print only resources that can have alerts (yes), that cannot or are exempt (no), or for which this is unknown.',
  ),
  'without-rules': forList.toggle('Print only resources that are not covered by alert rules, without exempt ones.'),
  sort: forList.optional(
    sortOrder,
    `Sort by ${SORT_KEYS.join(', ')}; a leading - sorts in descending order (default: order of the service).`,
  ),
  limit: forList.optional(integerFlag(1), 'Maximum number of resources to print (default: no limit).'),
  wide: forCheckAndList.toggle('Print all columns of a table, whatever the width of the terminal.'),
  output: forRecord.flag(file, '-', 'File to create; - writes to standard output.'),
  'simulate.port': forSimulate.flag(
    integerFlag(0, 65_535),
    '9843',
    'Port on 127.0.0.1 for the simulated service; 0 selects a free port.',
  ),
  'simulate.seed': forSimulate.flag(integerFlag(0), '1', 'Seed of the simulated resources and faults.'),
  'simulate.stations': forSimulate.optional(
    integerFlag(1, 10_000),
    'Number of healthy stations to simulate (default: the six demo stations).',
  ),
  'simulate.resources': forSimulate.optional(
    integerFlag(0, 1_000_000),
    'Average number of resources per station (default: 1000; the demo stations have their own sizes).',
  ),
  'simulate.latency': forSimulate.flag(durationFlag(0), '0s', 'Latency to add to each response.'),
  'simulate.fault': repeatable(
    forSimulate.optional(faultShare, 'Fault to inject into all requests or a share of them, such as rate_limited:0.1.'),
  ),
  compression: forSimulate.toggle('Compress responses with gzip for clients that accept it, as gateways do.'),
  from: forSimulate.optional(file, 'Recording to replay instead of simulating resources; see record.'),
} as const;

/** The flags in the order of the help. */
export const FLAGS: readonly Flag[] = Object.entries(TABLE).map(([name, flag]) => ({ name, ...flag }));

export function flagsOf(command: CommandName): readonly Flag[] {
  return FLAGS.filter(({ only }) => only.includes(command));
}

export type FlagValues = { readonly [Name in keyof typeof TABLE]: ReturnType<(typeof TABLE)[Name]['value']> };

type OwnShard = { readonly ok: true; readonly shard: Shard } | { readonly ok: false; readonly problem: string };

/** The shard of this process, or the problem with its host name: `auto` takes the ordinal from the host name of a StatefulSet pod. */
export function ownShard(
  { shard, 'total-shards': total }: Pick<FlagValues, 'shard' | 'total-shards'>,
  hostName: string,
): OwnShard {
  // The first label of a fully qualified name is the pod.
  const [, number] = /^[^.]*-(\d+)(?:\.|$)/.exec(hostName) ?? [];
  const ordinal = shard === 'auto' ? Number(number) : shard;
  if (ordinal < total) return { ok: true, shard: { ordinal, total } };
  const expected = number === undefined ? ', such as exporter-0' : ` below --total-shards (${total})`;
  const got = JSON.stringify(hostName);
  return { ok: false, problem: `--shard=auto: expected a host name that ends in a number${expected}, got ${got}` };
}
