import { faultShare } from './fault-kind.ts';
import type { Flag } from './flag.ts';
import { duration, file, integer } from './flag-kind.ts';

/** What the simulated service has and how it behaves. */
export const SIMULATE_FLAGS = [
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
