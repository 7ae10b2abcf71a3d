import { ALERTABLE, SORT_KEYS } from '../station/selection.ts';
import {
  choice,
  duration,
  externalUrl,
  type Flag,
  type FlagKind,
  faultShare,
  file,
  integer,
  listenAddress,
  shardOrdinal,
  sortOrder,
  telemetryPath,
  text,
  toggle,
} from './flag-kind.ts';

/** Log levels, least severe first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export const LOG_FORMATS = ['logfmt', 'json'] as const;

type OwnShard =
  | { readonly ok: true; readonly shard: { readonly ordinal: number; readonly total: number } }
  | { readonly ok: false; readonly problem: string };

/** Which shard this process is; the pods of a StatefulSet are told apart by the number that ends their host name. */
export function ownShard({ shard, 'total-shards': total }: Pick<FlagValues, 'shard' | 'total-shards'>, hostName: string): OwnShard {
  if (shard !== 'auto') return { ok: true, shard: { ordinal: shard, total } };
  // Of a full name only the first part is the pod's.
  const [, number] = /^[^.]*-(\d+)(?:\.|$)/.exec(hostName) ?? [];
  const ordinal = Number(number);
  if (number === undefined) return refusal('a host name that ends in a number, such as exporter-0', hostName);
  if (ordinal >= total) return refusal(`a host name that ends in a number below --total-shards, which is ${total}`, hostName);
  return { ok: true, shard: { ordinal, total } };
}

function refusal(expected: string, hostName: string): OwnShard {
  return { ok: false, problem: `--shard=auto: expected ${expected}, got ${JSON.stringify(hostName)}` };
}

/** What the simulated service has and how it behaves. */
const SIMULATE_FLAGS = [
  {
    name: 'simulate.port',
    kind: integer(0, 65_535),
    default: '9843',
    only: ['simulate'],
    help: 'Port of 127.0.0.1 for the simulated service; 0 is any that is free.',
  },
  {
    name: 'simulate.seed',
    kind: integer(0),
    default: '1',
    only: ['simulate'],
    help: 'Decides which world is simulated, and what faults strike.',
  },
  {
    name: 'simulate.stations',
    kind: integer(1, 10_000),
    only: ['simulate'],
    help: 'So many stations that behave well, instead of the six of the demo, of which some do not.',
  },
  { name: 'simulate.resources', kind: integer(0, 1_000_000), only: ['simulate'], help: 'How many resources each station has on average.' },
  {
    name: 'simulate.page-cap',
    kind: integer(1),
    default: '200',
    only: ['simulate'],
    help: 'The most resources that a page has, whatever is asked for.',
  },
  { name: 'simulate.latency', kind: duration(0), default: '0s', only: ['simulate'], help: 'How long every answer takes.' },
  {
    name: 'simulate.fault',
    kind: faultShare,
    repeatable: true,
    only: ['simulate'],
    help: 'What goes wrong, with all requests or with a share of them, such as rate_limited:0.1.',
  },
  { name: 'from', kind: file, only: ['simulate'], help: 'A file of the command record, to be served instead of a simulated world.' },
] as const satisfies readonly Flag[];

/** What to print of a station, and where to write it down. */
const LIST_FLAGS = [
  { name: 'format', kind: choice('table', 'json', 'csv'), default: 'table', only: ['list'], help: 'Form of the list: table, json or csv.' },
  { name: 'search', kind: text, only: ['list'], help: 'Only resources with this in their id, name or display name, in any case.' },
  { name: 'type', kind: text, only: ['list'], help: 'Only resources of this resource type; an empty one finds those that have none.' },
  { name: 'product', kind: text, only: ['list'], help: 'Only resources of this configured product; an empty one finds those of none.' },
  { name: 'state', kind: text, only: ['list'], help: 'Only resources in this state; an empty one finds those that have none.' },
  {
    name: 'alertable',
    kind: choice(...ALERTABLE),
    only: ['list'],
    help: 'Only resources that can have alerts (yes), cannot (no), or of which it is unknown.',
  },
  {
    name: 'without-rules',
    kind: toggle,
    default: 'false',
    only: ['list'],
    help: 'Only resources that are known to have no alert rule.',
  },
  {
    name: 'sort',
    kind: sortOrder,
    only: ['list'],
    help: `What to sort by: ${Object.keys(SORT_KEYS).join(', ')}; - in front turns the order. Without it, the service's own order.`,
  },
  { name: 'limit', kind: integer(1), only: ['list'], help: 'The most resources to print.' },
  { name: 'output', kind: file, default: '-', only: ['record'], help: 'The new file to write to; - is the standard output.' },
] as const satisfies readonly Flag[];

export const FLAGS = [
  { name: 'help', short: 'h', kind: toggle, default: 'false', help: 'Show this help and exit.' },
  { name: 'version', kind: toggle, default: 'false', help: 'Show the version and exit.' },
  { name: 'config.file', kind: file, default: 'config.yaml', help: 'The configuration file.' },
  {
    name: 'config.check',
    kind: toggle,
    default: 'false',
    help: 'Check the configuration file, print every problem with its place, and exit.',
  },
  {
    name: 'live',
    kind: toggle,
    default: 'false',
    only: ['check'],
    help: 'Ask each station for real: print names, certificates, clocks, permissions, sizes and costs, and each trouble in words.',
  },
  {
    name: 'demo',
    kind: toggle,
    default: 'false',
    only: ['serve', 'check', 'list', 'record'],
    help: 'Run a simulated service in the same process and ask that; needs no configuration file.',
  },
  {
    name: 'web.listen-address',
    kind: listenAddress,
    default: ':9842',
    repeatable: true,
    help: 'Address to serve on; without a host, every address of the machine.',
  },
  {
    name: 'web.config.file',
    kind: file,
    help: 'File that switches on TLS, basic authentication and further headers, in the format of the Prometheus exporter toolkit; read again when it changes.',
  },
  { name: 'web.telemetry-path', kind: telemetryPath, default: '/metrics', help: 'Path of the metrics.' },
  {
    name: 'web.external-url',
    kind: externalUrl,
    help: 'URL under which the exporter is reached from outside, for example behind a reverse proxy; links are made from it.',
  },
  {
    name: 'web.enable-lifecycle',
    kind: toggle,
    default: 'false',
    help: 'Allow a reload of the configuration by POST or PUT to /-/reload.',
  },
  { name: 'web.max-requests', kind: integer(0), default: '40', help: 'Scrapes answered at the same time; 0 is no limit.' },
  {
    name: 'scrape.timeout',
    kind: duration(1),
    default: '10s',
    help: 'How long a scrape waits for fresh data when it does not announce its own timeout in X-Prometheus-Scrape-Timeout-Seconds.',
  },
  {
    name: 'timeout-offset',
    kind: duration(0),
    default: '0.5s',
    help: 'Taken off the timeout that a scrape announces, so that the answer arrives within it.',
  },
  {
    name: 'shard',
    kind: shardOrdinal,
    default: '0',
    help: 'Which of the shards this exporter is, counted from 0; auto takes the number that ends the host name, as the pods of a StatefulSet have it.',
  },
  { name: 'total-shards', kind: integer(1), default: '1', help: 'How many exporters share the stations among them.' },
  {
    name: 'log.level',
    kind: choice(...LOG_LEVELS),
    default: 'info',
    help: 'The least severe messages to log: debug, info, warn or error.',
  },
  { name: 'log.format', kind: choice(...LOG_FORMATS), default: 'logfmt', help: 'Form of the log lines: logfmt or json.' },
  ...LIST_FLAGS,
  ...SIMULATE_FLAGS,
] as const satisfies readonly Flag[];

type Row = (typeof FLAGS)[number];

/** What the flags came to, by name. */
export type FlagValues = { readonly [R in Row as R['name']]: ValueOf<R> };

type ValueOf<R extends Flag> =
  R['kind'] extends FlagKind<infer Value>
    ? R extends { readonly repeatable: true }
      ? readonly Value[]
      : R extends { readonly default: string }
        ? Value
        : Value | undefined
    : never;
