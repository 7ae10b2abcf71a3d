import type { WorldName } from './worlds.ts';

const NEUTRAL = { Stations: 'text', Resources: 'text', GPUs: 'text' };
const RESOURCES = { Matching: 'text', 'Matching, rules': 'text' };
const EXPORTER = { Stations: 'text', Series: 'text', 'Max memory': 'text', Version: 'text' };

/** The color of each stat, by world and dashboard. */
export const EXPECTED_COLORS: readonly [WorldName, Record<string, Record<string, string>>][] = [
  [
    'healthy',
    {
      'fleet.json': {
        ...NEUTRAL,
        Failing: 'green',
        Firing: 'green',
        'Oldest data': 'green',
        'Without alert rules': 'green',
        'Alert coverage': 'green',
      },
      'station.json': {
        'Latest refresh': 'green',
        Listing: 'green',
        Firing: 'green',
        'Oldest data': 'green',
        Resources: 'text',
        'Without alert rules': 'green',
        'Alert coverage': 'green',
        'Alert rules': 'text',
      },
      // Per-resource series are not published: not known, not fine.
      'resources.json': {
        ...RESOURCES,
        Resources: 'text',
        Firing: 'green',
        'Without alert rules': 'green',
        'Alert coverage': 'green',
        'Matching, firing': 'text',
        'Matching, no rules': 'text',
      },
      'exporter.json': {
        ...EXPORTER,
        'Exporters up': 'green',
        Configuration: 'green',
        'Shards present': 'green',
        'Slowest scrape': 'green',
      },
    },
  ],
  [
    'failing',
    {
      'fleet.json': {
        ...NEUTRAL,
        Failing: 'red',
        Firing: 'dark-orange',
        'Oldest data': 'red',
        'Without alert rules': 'dark-orange',
        'Alert coverage': 'green',
      },
      'station.json': {
        'Latest refresh': 'red',
        Listing: 'dark-orange',
        Firing: 'dark-orange',
        'Oldest data': 'red',
        Resources: 'text',
        'Without alert rules': 'dark-orange',
        'Alert coverage': 'green',
        'Alert rules': 'text',
      },
      'resources.json': {
        ...RESOURCES,
        Resources: 'text',
        Firing: 'dark-orange',
        'Without alert rules': 'dark-orange',
        'Alert coverage': 'green',
        'Matching, firing': 'dark-orange',
        'Matching, no rules': 'text',
      },
      'exporter.json': {
        ...EXPORTER,
        'Exporters up': 'red',
        Configuration: 'red',
        'Shards present': 'red',
        'Slowest scrape': 'red',
      },
    },
  ],
  [
    'large',
    {
      'fleet.json': {
        ...NEUTRAL,
        Failing: 'green',
        Firing: 'dark-orange',
        'Oldest data': 'green',
        'Without alert rules': 'dark-orange',
        'Alert coverage': 'green',
      },
      'resources.json': {
        ...RESOURCES,
        Resources: 'text',
        Firing: 'dark-orange',
        'Without alert rules': 'dark-orange',
        'Alert coverage': 'green',
        'Matching, firing': 'dark-orange',
        'Matching, no rules': 'dark-orange',
      },
    },
  ],
];

/** Panels with a query that has nothing to show. */
const NO_ALERTS = ['Alerts'];
const NO_REASON = ['All stations'];
const NO_FIRING = ['Firing by station and type', 'Firing resources'];
const NO_RATE_LIMIT = ['Requests and rate limit', 'Time to refresh every station'];
const NO_PER_RESOURCE = ['Resources without alert rules', 'Oldest resources', 'Newest resources'];
const NO_RESOURCE = ['Details', 'Alert state over time', 'Alert rules over time', 'SKU quantity over time'];
const NO_MATCH = ['Matching', 'Matching, firing', 'Matching, no rules', 'Matching, rules', 'Inventory'];

/** The panels with a query that returns nothing, by world and dashboard. */
export const EXPECTED_EMPTY: readonly [WorldName, Record<string, readonly string[]>][] = [
  [
    'healthy',
    {
      'fleet.json': [...NO_ALERTS, ...NO_FIRING, ...NO_REASON],
      'station.json': [...NO_ALERTS, ...NO_FIRING, ...NO_PER_RESOURCE],
      'resources.json': [...NO_MATCH, ...NO_RESOURCE],
      'exporter.json': [...NO_ALERTS, ...NO_RATE_LIMIT],
    },
  ],
  [
    'failing',
    {
      'fleet.json': [],
      'station.json': NO_PER_RESOURCE,
      'resources.json': ['Matching, no rules', 'Inventory', 'Details', 'SKU quantity over time'],
      'exporter.json': [],
    },
  ],
  [
    'large',
    {
      'fleet.json': [...NO_ALERTS, ...NO_REASON],
      'station.json': NO_ALERTS,
      'resources.json': NO_RESOURCE,
      'exporter.json': [...NO_ALERTS, ...NO_RATE_LIMIT],
    },
  ],
];
