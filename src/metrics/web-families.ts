import type { FamilyDescription } from './family.ts';

/** Limits of the web server: the values of the label `limit`. */
export const WEB_LIMITS = [
  'max_connections',
  'max_connections_per_address',
  'pipelined_requests',
  'max_requests',
  'max_response_memory',
  'pages',
  'reloads',
  'refreshes',
  'password_checks',
  'rate_limit',
] as const;

export type WebLimit = (typeof WEB_LIMITS)[number];

/** Families of the web server. */
export const WEB_FAMILIES = {
  webConnections: {
    name: 'telemetry_station_exporter_web_connections',
    help: 'Open connections of clients.',
    type: 'gauge',
    labels: [],
    exampleTitle: 'Peak of open connections, to compare with --web.max-connections',
    example: 'max_over_time(telemetry_station_exporter_web_connections[1h])',
  },
  webLimitsReached: {
    name: 'telemetry_station_exporter_web_limits_reached_total',
    help: 'Requests and connections that were refused, closed or answered without waiting because of a limit of the web server.',
    type: 'counter',
    labels: ['limit'],
    exampleTitle: 'Limits of the web server that were reached in the last hour',
    example: 'sum by (limit) (increase(telemetry_station_exporter_web_limits_reached_total[1h])) > 0',
  },
} as const satisfies Record<string, FamilyDescription>;
