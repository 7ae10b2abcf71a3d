import {
  externalUrl,
  type Flag,
  file,
  hostNames,
  integer,
  listenAddress,
  size,
  telemetryPath,
  toggle,
} from './flag-kind.ts';

/** Flags of the web server. */
export const WEB_FLAGS = [
  {
    name: 'web.listen-address',
    kind: listenAddress,
    default: ':9842',
    repeatable: true,
    only: ['serve'],
    help: 'Address to listen on; without a host, all interfaces.',
  },
  {
    name: 'web.config.file',
    kind: file,
    only: ['serve', 'check'],
    help: 'Path of the web configuration file for TLS, basic authentication and headers, in the format of the Prometheus exporter toolkit; reloaded when it changes.',
  },
  {
    name: 'web.telemetry-path',
    kind: telemetryPath,
    default: '/metrics',
    only: ['serve'],
    help: 'Path under which to expose metrics.',
  },
  {
    name: 'web.external-url',
    kind: externalUrl,
    only: ['serve'],
    help: 'URL under which the exporter is externally reachable, for example through a reverse proxy; used for links.',
  },
  {
    name: 'web.allowed-hosts',
    kind: hostNames,
    default: '',
    only: ['serve'],
    help: 'Comma-separated host names that requests may have in the Host header, to prevent DNS rebinding; IP addresses, localhost and the host of --web.external-url are always allowed. Empty means any.',
  },
  {
    name: 'web.enable-lifecycle',
    kind: toggle,
    default: 'false',
    only: ['serve'],
    help: 'Enable reload of the configuration via POST or PUT to /-/reload, and refresh of a station via POST to /stations/NAME/refresh.',
  },
  {
    name: 'web.max-connections',
    kind: integer(0),
    default: '2048',
    only: ['serve'],
    help: 'Maximum number of open connections; a further one closes the one that has been idle for the longest time, or is refused if none is idle. 0 means no limit.',
  },
  {
    name: 'web.max-connections-per-address',
    kind: integer(0),
    default: '1024',
    only: ['serve'],
    help: 'Maximum number of open connections of one client, by IPv4 address or IPv6 /64 network; a further one closes an idle one of that client, or is refused. 0 means no limit.',
  },
  {
    name: 'web.max-requests',
    kind: integer(0),
    default: '40',
    only: ['serve'],
    help: 'Maximum number of scrapes of /metrics, and of /probe, that wait for refreshes; further ones are answered at once from the cache. 0 means no limit.',
  },
  {
    name: 'web.max-response-memory',
    kind: size,
    default: '64MiB',
    only: ['serve'],
    help: 'Maximum memory of responses of /metrics, and of /probe, that clients have not read; further scrapes get 503. 0B means no limit.',
  },
] as const satisfies readonly Flag[];
