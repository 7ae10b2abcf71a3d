import type { Flag } from './flag.ts';
import {
  choice,
  duration,
  externalUrl,
  type FlagKind,
  file,
  integer,
  listenAddress,
  shardOrdinal,
  telemetryPath,
  toggle,
} from './flag-kind.ts';
import { LIST_FLAGS } from './list-flags.ts';
import { SIMULATE_FLAGS } from './simulate-flags.ts';

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
    kind: choice('debug', 'info', 'warn', 'error'),
    default: 'info',
    help: 'The least severe messages to log: debug, info, warn or error.',
  },
  { name: 'log.format', kind: choice('logfmt', 'json'), default: 'logfmt', help: 'Form of the log lines: logfmt or json.' },
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
