import { LIST_FLAGS, SIMULATE_FLAGS } from './command-flags.ts';
import type { CommandName } from './commands.ts';
import { choice, duration, type Flag, type FlagKind, file, integer, shardOrdinal, size, toggle } from './flag-kind.ts';
import { WEB_FLAGS } from './web-flags.ts';

/** Log levels, least severe first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

export const LOG_FORMATS = ['logfmt', 'json'] as const;

export const FLAGS = [
  { name: 'help', short: 'h', kind: toggle, default: 'false', help: 'Show this help and exit.' },
  { name: 'version', kind: toggle, default: 'false', help: 'Show the version and exit.' },
  {
    name: 'config.file',
    kind: file,
    default: 'config.yaml',
    only: ['serve', 'check', 'list', 'record'],
    help: 'Path of the configuration file.',
  },
  {
    name: 'config.check',
    kind: toggle,
    default: 'false',
    only: ['serve'],
    help: 'Check the configuration, print all problems with their positions and exit.',
  },
  {
    name: 'config.auto-reload-interval',
    kind: duration(0),
    default: '0s',
    only: ['serve'],
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
    only: ['serve', 'check'],
    help: 'Timeout of a scrape without the header X-Prometheus-Scrape-Timeout-Seconds.',
  },
  {
    name: 'timeout-offset',
    kind: duration(0),
    default: '0.5s',
    only: ['serve'],
    help: 'Offset to subtract from the scrape timeout in the header.',
  },
  {
    name: 'shard',
    kind: shardOrdinal,
    default: '0',
    only: ['serve', 'check'],
    help: 'Ordinal of this shard, starting at 0; auto takes it from the end of the host name, as in a StatefulSet.',
  },
  {
    name: 'total-shards',
    kind: integer(1),
    default: '1',
    only: ['serve', 'check'],
    help: 'Total number of shards among which stations are distributed.',
  },
  {
    name: 'log.level',
    kind: choice(...LOG_LEVELS),
    default: 'info',
    only: ['serve'],
    help: `Minimum severity of messages to log, one of ${LOG_LEVELS.join(', ')}.`,
  },
  {
    name: 'log.format',
    kind: choice(...LOG_FORMATS),
    default: 'logfmt',
    only: ['serve'],
    help: `Format of log messages: ${LOG_FORMATS.join(' or ')}.`,
  },
  {
    name: 'log.buffer-size',
    kind: size,
    default: '1MiB',
    only: ['serve'],
    help: 'Maximum size of log messages that wait for a slow reader of stderr; further messages are dropped and counted.',
  },
  ...LIST_FLAGS,
  ...SIMULATE_FLAGS,
] as const satisfies readonly Flag[];

/** The flags that the command uses. */
export function flagsOf(command: CommandName): readonly Flag[] {
  const flags: readonly Flag[] = FLAGS;
  return flags.filter(({ only }) => only === undefined || only.includes(command));
}

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
export function ownShard(
  { shard, 'total-shards': total }: Pick<FlagValues, 'shard' | 'total-shards'>,
  hostName: string,
): OwnShard {
  if (shard !== 'auto') return { ok: true, shard: { ordinal: shard, total } };
  // Of a fully qualified name, the first label is the pod.
  const [, number] = /^[^.]*-(\d+)(?:\.|$)/.exec(hostName) ?? [];
  const ordinal = Number(number);
  if (number === undefined) return shardProblem('a host name that ends in a number, such as exporter-0', hostName);
  if (ordinal >= total)
    return shardProblem(`a host name that ends in a number below --total-shards (${total})`, hostName);
  return { ok: true, shard: { ordinal, total } };
}

function shardProblem(expected: string, hostName: string): OwnShard {
  return { ok: false, problem: `--shard=auto: expected ${expected}, got ${JSON.stringify(hostName)}` };
}
