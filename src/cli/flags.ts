import { NAMINGS } from '../simulator/resource.ts';
import { ALERTABLE, SORT_KEYS } from '../station/selection.ts';
import {
  choice,
  duration,
  type Flag,
  type FlagKind,
  faultShare,
  file,
  integer,
  shardOrdinal,
  size,
  sortOrder,
  text,
  toggle,
} from './flag-kind.ts';
import { WEB_FLAGS } from './web-flags.ts';

/** Log levels, least severe first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export const LOG_FORMATS = ['logfmt', 'json'] as const;

/** Flags of the simulated service. */
const SIMULATE_FLAGS = [
  {
    name: 'simulate.port',
    kind: integer(0, 65_535),
    default: '9843',
    only: ['simulate'],
    help: 'Port on 127.0.0.1 for the simulated service; 0 selects a free port.',
  },
  {
    name: 'simulate.seed',
    kind: integer(0),
    default: '1',
    only: ['simulate'],
    help: 'Seed of the simulated resources and faults.',
  },
  {
    name: 'simulate.stations',
    kind: integer(1, 10_000),
    only: ['simulate'],
    help: 'Number of healthy stations to simulate (default: the six demo stations).',
  },
  {
    name: 'simulate.resources',
    kind: integer(0, 1_000_000),
    only: ['simulate'],
    help: 'Average number of resources per station (default: 1000; the demo stations have their own sizes).',
  },
  {
    name: 'simulate.page-cap',
    kind: integer(1),
    default: '200',
    only: ['simulate'],
    help: 'Maximum number of resources per page.',
  },
  {
    name: 'simulate.names',
    kind: choice(...NAMINGS),
    default: 'random',
    only: ['simulate'],
    help: 'Names of the simulated resources: random, or sequential, which compress far better.',
  },
  { name: 'simulate.latency', kind: duration(0), default: '0s', only: ['simulate'], help: 'Latency to add to each response.' },
  {
    name: 'simulate.fault',
    kind: faultShare,
    repeatable: true,
    only: ['simulate'],
    help: 'Fault to inject into all requests or a share of them, such as rate_limited:0.1.',
  },
  { name: 'from', kind: file, only: ['simulate'], help: 'Recording to replay instead of simulating resources; see record.' },
] as const satisfies readonly Flag[];

/** Flags of list and record. */
const LIST_FLAGS = [
  { name: 'format', kind: choice('table', 'json', 'csv'), default: 'table', only: ['list'], help: 'Output format: table, json or csv.' },
  {
    name: 'search',
    kind: text,
    only: ['list'],
    help: 'Print only resources whose ID, name or display name contains this text, ignoring case.',
  },
  { name: 'type', kind: text, only: ['list'], help: 'Print only resources of this type; an empty value selects resources without one.' },
  {
    name: 'product',
    kind: text,
    only: ['list'],
    help: 'Print only resources of this configured product; an empty value selects resources without one.',
  },
  { name: 'state', kind: text, only: ['list'], help: 'Print only resources in this state; an empty value selects resources without one.' },
  {
    name: 'alertable',
    kind: choice(...ALERTABLE),
    only: ['list'],
    help: 'Print only resources that can have alerts (yes), cannot (no), or for which this is unknown.',
  },
  {
    name: 'without-rules',
    kind: toggle,
    default: 'false',
    only: ['list'],
    help: 'Print only resources known to have no alert rules.',
  },
  {
    name: 'sort',
    kind: sortOrder,
    only: ['list'],
    help: `Sort by ${Object.keys(SORT_KEYS).join(', ')}; a leading - sorts in descending order (default: order of the service).`,
  },
  { name: 'limit', kind: integer(1), only: ['list'], help: 'Maximum number of resources to print (default: no limit).' },
  { name: 'output', kind: file, default: '-', only: ['record'], help: 'File to create; - writes to standard output.' },
] as const satisfies readonly Flag[];

export const FLAGS = [
  { name: 'help', short: 'h', kind: toggle, default: 'false', help: 'Show this help and exit.' },
  { name: 'version', kind: toggle, default: 'false', help: 'Show the version and exit.' },
  { name: 'config.file', kind: file, default: 'config.yaml', help: 'Path of the configuration file.' },
  {
    name: 'config.check',
    kind: toggle,
    default: 'false',
    help: 'Check the configuration, print all problems with their positions and exit.',
  },
  {
    name: 'config.auto-reload-interval',
    kind: duration(0),
    default: '0s',
    help: 'Interval at which to check the configuration file, station files and secret files for changes, and to reload; 0s disables it.',
  },
  {
    name: 'live',
    kind: toggle,
    default: 'false',
    only: ['check'],
    help: 'Query each station and print DNS, TLS, clock, permissions, sizes and costs, with an explanation of each failure.',
  },
  {
    name: 'demo',
    kind: toggle,
    default: 'false',
    only: ['serve', 'check', 'list', 'record'],
    help: 'Run and query a simulated service in the same process; requires no configuration file.',
  },
  ...WEB_FLAGS,
  {
    name: 'scrape.timeout',
    kind: duration(1),
    default: '10s',
    help: 'Timeout of a scrape without the header X-Prometheus-Scrape-Timeout-Seconds.',
  },
  {
    name: 'timeout-offset',
    kind: duration(0),
    default: '0.5s',
    help: 'Offset to subtract from the scrape timeout in the header.',
  },
  {
    name: 'shard',
    kind: shardOrdinal,
    default: '0',
    help: 'Ordinal of this shard, starting at 0; auto takes it from the end of the host name, as in a StatefulSet.',
  },
  { name: 'total-shards', kind: integer(1), default: '1', help: 'Total number of shards among which stations are distributed.' },
  {
    name: 'log.level',
    kind: choice(...LOG_LEVELS),
    default: 'info',
    help: `Minimum severity of messages to log, one of ${LOG_LEVELS.join(', ')}.`,
  },
  { name: 'log.format', kind: choice(...LOG_FORMATS), default: 'logfmt', help: `Format of log messages: ${LOG_FORMATS.join(' or ')}.` },
  {
    name: 'log.buffer-size',
    kind: size,
    default: '1MiB',
    help: 'Maximum size of log messages that wait for a slow reader of stderr; further messages are dropped and counted.',
  },
  ...LIST_FLAGS,
  ...SIMULATE_FLAGS,
] as const satisfies readonly Flag[];

type Row = (typeof FLAGS)[number];

/** Parsed values by flag name. */
export type FlagValues = { readonly [R in Row as R['name']]: ValueOf<R> };

type ValueOf<R extends Flag> =
  R['kind'] extends FlagKind<infer Value>
    ? R extends { readonly repeatable: true }
      ? readonly Value[]
      : R extends { readonly default: string }
        ? Value
        : Value | undefined
    : never;

type OwnShard =
  | { readonly ok: true; readonly shard: { readonly ordinal: number; readonly total: number } }
  | { readonly ok: false; readonly problem: string };

/** The shard of this process; `auto` takes the ordinal from the host name of a StatefulSet pod. */
export function ownShard({ shard, 'total-shards': total }: Pick<FlagValues, 'shard' | 'total-shards'>, hostName: string): OwnShard {
  if (shard !== 'auto') return { ok: true, shard: { ordinal: shard, total } };
  // Of a fully qualified name, the first label is the pod.
  const [, number] = /^[^.]*-(\d+)(?:\.|$)/.exec(hostName) ?? [];
  const ordinal = Number(number);
  if (number === undefined) return shardProblem('a host name that ends in a number, such as exporter-0', hostName);
  if (ordinal >= total) return shardProblem(`a host name that ends in a number below --total-shards (${total})`, hostName);
  return { ok: true, shard: { ordinal, total } };
}

function shardProblem(expected: string, hostName: string): OwnShard {
  return { ok: false, problem: `--shard=auto: expected ${expected}, got ${JSON.stringify(hostName)}` };
}
