import { ALERTABLE } from '../inventory/selection.ts';
import type { Shard } from '../refresh/shard.ts';
import { NAMINGS } from '../simulator/fleet.ts';
import type { CommandName } from './commands.ts';
import {
  choice,
  duration,
  externalUrl,
  type Flag,
  type FlagKind,
  faultShare,
  file,
  hostNames,
  integer,
  labelValue,
  listenAddress,
  resourceColumns,
  SORT_COLUMNS,
  shardOrdinal,
  share,
  size,
  sortOrder,
  telemetryPath,
  text,
  toggle,
} from './flag-kind.ts';

type Row = Omit<Flag, 'name'>;

function onlyFor<const Rows extends Readonly<Record<string, Row>>>(command: CommandName, rows: Rows): Rows {
  const entries = Object.entries(rows).map(([name, row]) => [name, { ...row, only: [command] }]);
  return Object.fromEntries(entries) as Rows;
}

const TABLE = {
  help: { short: 'h', kind: toggle, default: 'false', help: 'Show this help and exit.' },
  version: { kind: toggle, default: 'false', help: 'Show the version and exit.' },
  'config.file': {
    kind: file,
    default: 'config.yaml',
    only: ['serve', 'check', 'list', 'record'],
    help: 'Path of the configuration file.',
  },
  ...onlyFor('serve', {
    'config.check': {
      kind: toggle,
      default: 'false',
      help: 'Check the configuration, print all problems with their positions and exit.',
    },
    'config.auto-reload-interval': {
      kind: duration(0),
      default: '0s',
      help: 'Interval at which to check the configuration file, station files and secret files for changes, and to reload; 0s disables it.',
    },
  }),
  ...onlyFor('check', {
    live: {
      kind: toggle,
      default: 'false',
      help: 'Query each station and print DNS, TLS, clock, permissions, sizes and costs, with an explanation of each failure.',
    },
    'min-coverage': {
      kind: share,
      help: 'With --live, exit with 1 and print the resources without alert rules if the share of resources with alert rules, among those that can have alerts, is below this, such as 0.95.',
    },
    'max-without-rules': {
      kind: integer(0),
      help: 'With --live, exit with 1 and print the resources without alert rules if there are more than this.',
    },
  }),
  demo: {
    kind: toggle,
    default: 'false',
    only: ['serve', 'check', 'list', 'record'],
    help: 'Run and query a simulated service in the same process; requires no configuration file.',
  },
  'web.listen-address': {
    kind: listenAddress,
    default: ':9842',
    repeatable: true,
    only: ['serve'],
    help: 'Address to listen on; without a host, all interfaces.',
  },
  'web.config.file': {
    kind: file,
    only: ['serve', 'check'],
    help: 'Path of the web configuration file for TLS, basic authentication and headers, in the format of the Prometheus exporter toolkit; reloaded when it changes.',
  },
  ...onlyFor('serve', {
    'web.telemetry-path': {
      kind: telemetryPath,
      default: '/metrics',
      help: 'Path under which to expose metrics.',
    },
    'web.external-url': {
      kind: externalUrl,
      help: 'URL under which the exporter is externally reachable, for example through a reverse proxy; used for links.',
    },
    'web.allowed-hosts': {
      kind: hostNames,
      default: '',
      help: 'Comma-separated host names that requests may have in the Host header, to prevent DNS rebinding; IP addresses, localhost and the host of --web.external-url are always allowed. Empty means any.',
    },
    'web.enable-lifecycle': {
      kind: toggle,
      default: 'false',
      help: 'Enable reload of the configuration via POST or PUT to /-/reload, and refresh of a station via POST to /stations/NAME/refresh.',
    },
    'web.max-connections': {
      kind: integer(0),
      default: '2048',
      help: 'Maximum number of open connections; a further one closes the one that has been idle for the longest time, or is refused if none is idle. 0 means no limit.',
    },
    'web.max-connections-per-address': {
      kind: integer(0),
      default: '1024',
      help: 'Maximum number of open connections of one client, by IPv4 address or IPv6 /64 network; a further one closes an idle one of that client, or is refused. 0 means no limit.',
    },
    'web.max-requests': {
      kind: integer(0),
      default: '40',
      help: 'Maximum number of scrapes of /metrics, and of /probe, that wait for refreshes; further ones are answered at once from the cache. 0 means no limit.',
    },
    'web.max-response-memory': {
      kind: size,
      default: '64MiB',
      help: 'Maximum memory of responses of /metrics, and of /probe, that clients have not read; further scrapes get 503. 0B means no limit.',
    },
  }),
  'scrape.timeout': {
    kind: duration(1),
    default: '10s',
    only: ['serve', 'check'],
    help: 'Timeout of a scrape without the header X-Prometheus-Scrape-Timeout-Seconds.',
  },
  'timeout-offset': {
    kind: duration(0),
    default: '0.5s',
    only: ['serve'],
    help: 'Offset to subtract from the scrape timeout in the header.',
  },
  shard: {
    kind: shardOrdinal,
    default: '0',
    only: ['serve', 'check'],
    help: 'Ordinal of this shard, starting at 0; auto takes it from the end of the host name, as in a StatefulSet.',
  },
  'total-shards': {
    kind: integer(1),
    default: '1',
    only: ['serve', 'check'],
    help: 'Total number of shards among which stations are distributed.',
  },
  ...onlyFor('serve', {
    'log.level': {
      kind: choice('debug', 'info', 'warn', 'error'),
      default: 'info',
      help: 'Minimum severity of messages to log, one of debug, info, warn, error.',
    },
    'log.format': {
      kind: choice('logfmt', 'json'),
      default: 'logfmt',
      help: 'Format of log messages: logfmt or json.',
    },
    'log.buffer-size': {
      kind: size,
      default: '1MiB',
      help: 'Maximum size of log messages that wait for a slow reader of stderr; further messages are dropped and counted.',
    },
    'log.changes': {
      kind: toggle,
      default: 'false',
      help: 'Log each resource that was added, removed or changed its state, number of alert rules or type, at most 100 per refresh and then their number.',
    },
  }),
  format: {
    kind: choice('table', 'json', 'csv'),
    default: 'table',
    only: ['check', 'list'],
    help: 'Output format of resources: table, json or csv.',
  },
  ...onlyFor('list', {
    search: {
      kind: text,
      help: 'Print only resources whose ID, name or display name contains this text, ignoring case.',
    },
    type: {
      kind: text,
      help: 'Print only resources of this type, or of the types with this short name, such as eip; an empty value selects resources without one.',
    },
    product: {
      kind: text,
      help: 'Print only resources of this configured product; an empty value selects resources without one.',
    },
    state: {
      kind: text,
      help: 'Print only resources in this state, such as firing or ALERTSTATE_FIRING; an empty value selects resources without one.',
    },
    label: {
      kind: labelValue,
      repeatable: true,
      help: 'Print only resources with this value of a label of resource_labels, such as team=storage; an empty value selects resources without one.',
    },
    alertable: {
      kind: choice(...ALERTABLE),
      help: 'Print only resources that can have alerts (yes), cannot (no), or for which this is unknown.',
    },
    'without-rules': {
      kind: toggle,
      default: 'false',
      help: 'Print only resources known to have no alert rules.',
    },
    sort: {
      kind: sortOrder,
      help: `Sort by ${SORT_COLUMNS.join(', ')}; a leading - sorts in descending order (default: order of the service).`,
    },
    limit: { kind: integer(1), help: 'Maximum number of resources to print (default: no limit).' },
    columns: {
      kind: resourceColumns,
      help: 'Comma-separated columns to print, in this order, also labels of resource_labels (default: in a table, those that the terminal has space for).',
    },
  }),
  wide: {
    kind: toggle,
    default: 'false',
    only: ['check', 'list'],
    help: 'Print all columns of a table, whatever the width of the terminal.',
  },
  output: { kind: file, default: '-', only: ['record'], help: 'File to create; - writes to standard output.' },
  ...onlyFor('simulate', {
    'simulate.port': {
      kind: integer(0, 65_535),
      default: '9843',
      help: 'Port on 127.0.0.1 for the simulated service; 0 selects a free port.',
    },
    'simulate.seed': {
      kind: integer(0),
      default: '1',
      help: 'Seed of the simulated resources and faults.',
    },
    'simulate.stations': {
      kind: integer(1, 10_000),
      help: 'Number of healthy stations to simulate (default: the six demo stations).',
    },
    'simulate.resources': {
      kind: integer(0, 1_000_000),
      help: 'Average number of resources per station (default: 1000; the demo stations have their own sizes).',
    },
    'simulate.page-cap': {
      kind: integer(1),
      default: '200',
      help: 'Maximum number of resources per page.',
    },
    'simulate.names': {
      kind: choice(...NAMINGS),
      default: 'random',
      help: 'Names of the simulated resources: random, or sequential, which compress far better.',
    },
    'simulate.latency': {
      kind: duration(0),
      default: '0s',
      help: 'Latency to add to each response.',
    },
    'simulate.fault': {
      kind: faultShare,
      repeatable: true,
      help: 'Fault to inject into all requests or a share of them, such as rate_limited:0.1.',
    },
    'simulate.auth': {
      kind: choice('bearer', 'basic', 'hmac', 'oauth2'),
      help: 'Authentication scheme that the simulated service requires, one of bearer, basic, hmac, oauth2, with the credentials in the printed configuration (default: none).',
    },
    from: { kind: file, help: 'Recording to replay instead of simulating resources; see record.' },
  }),
} as const satisfies Readonly<Record<string, Row>>;

/** In the order of the help. */
export const FLAGS: readonly Flag[] = Object.entries(TABLE).map(([name, flag]) => ({ name, ...flag }));

/** The flags that the command uses. */
export function flagsOf(command: CommandName): readonly Flag[] {
  return FLAGS.filter(({ only }) => only === undefined || only.includes(command));
}

/** Parsed values by flag name. */
export type FlagValues = { readonly [Name in keyof typeof TABLE]: ValueOf<(typeof TABLE)[Name]> };

type ValueOf<Given extends Row> =
  Given['kind'] extends FlagKind<infer Value>
    ? Given extends { readonly repeatable: true }
      ? readonly Value[]
      : Given extends { readonly default: string }
        ? Value
        : Value | undefined
    : never;

/** The shard of this process, or the problem with its host name: `auto` takes the ordinal from the host name of a StatefulSet pod. */
export function ownShard(
  { shard, 'total-shards': total }: Pick<FlagValues, 'shard' | 'total-shards'>,
  hostName: string,
): Shard | string {
  // The first label of a fully qualified name is the pod.
  const [, number] = /^[^.]*-(\d+)(?:\.|$)/.exec(hostName) ?? [];
  const ordinal = shard === 'auto' ? Number(number) : shard;
  if (ordinal < total) return { ordinal, total };
  const expected = number === undefined ? ', such as exporter-0' : ` below --total-shards (${total})`;
  return `--shard=auto: expected a host name that ends in a number${expected}, got ${JSON.stringify(hostName)}`;
}
