import { ALERTABLE, SORT_KEYS } from '../inventory/selection.ts';
import { NAMINGS } from '../simulator/resource.ts';
import {
  choice,
  duration,
  type Flag,
  faultShare,
  file,
  integer,
  resourceColumns,
  sortOrder,
  text,
  toggle,
} from './flag-kind.ts';

/** Flags of list and record. */
export const LIST_FLAGS = [
  {
    name: 'format',
    kind: choice('table', 'json', 'csv'),
    default: 'table',
    only: ['list'],
    help: 'Output format: table, json or csv.',
  },
  {
    name: 'search',
    kind: text,
    only: ['list'],
    help: 'Print only resources whose ID, name or display name contains this text, ignoring case.',
  },
  {
    name: 'type',
    kind: text,
    only: ['list'],
    help: 'Print only resources of this type, or of the types with this short name, such as eip; an empty value selects resources without one.',
  },
  {
    name: 'product',
    kind: text,
    only: ['list'],
    help: 'Print only resources of this configured product; an empty value selects resources without one.',
  },
  {
    name: 'state',
    kind: text,
    only: ['list'],
    help: 'Print only resources in this state, such as firing or ALERTSTATE_FIRING; an empty value selects resources without one.',
  },
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
  {
    name: 'limit',
    kind: integer(1),
    only: ['list'],
    help: 'Maximum number of resources to print (default: no limit).',
  },
  {
    name: 'columns',
    kind: resourceColumns,
    only: ['list'],
    help: 'Comma-separated columns to print, in this order (default: in a table, those that the terminal has space for).',
  },
  {
    name: 'wide',
    kind: toggle,
    default: 'false',
    only: ['check', 'list'],
    help: 'Print all columns of a table, whatever the width of the terminal.',
  },
  { name: 'output', kind: file, default: '-', only: ['record'], help: 'File to create; - writes to standard output.' },
] as const satisfies readonly Flag[];

/** Flags of the simulated service. */
export const SIMULATE_FLAGS = [
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
  {
    name: 'simulate.latency',
    kind: duration(0),
    default: '0s',
    only: ['simulate'],
    help: 'Latency to add to each response.',
  },
  {
    name: 'simulate.fault',
    kind: faultShare,
    repeatable: true,
    only: ['simulate'],
    help: 'Fault to inject into all requests or a share of them, such as rate_limited:0.1.',
  },
  {
    name: 'simulate.auth',
    kind: choice('bearer', 'basic', 'hmac', 'oauth2'),
    only: ['simulate'],
    help: 'Authentication scheme that the simulated service requires, one of bearer, basic, hmac, oauth2, with the credentials in the printed configuration (default: none).',
  },
  {
    name: 'from',
    kind: file,
    only: ['simulate'],
    help: 'Recording to replay instead of simulating resources; see record.',
  },
] as const satisfies readonly Flag[];
