import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { rulesFile } from '../../../prometheus/source/rules-file.ts';
import { temporaryFile } from '../../service/support/files.ts';
import { GROUP_ORDER } from '../promql/known-metrics.ts';

/** A value per minute, as promtool writes it; `_`: no sample, and the series is stale. */
type Minutes = readonly (number | '_')[];

interface Scenario {
  readonly name: string;
  /** One target of the job each. */
  readonly exporters: readonly (readonly [series: string, minutes: Minutes])[][];
  /** Which alerts of stations and exporters fire, by minute. */
  readonly firing: Readonly<Record<number, readonly string[]>>;
}

const JOB = 'job="telemetry-station-exporter"';
const STATION = 'station="prod",upstream="main"';

const runs = (...all: readonly (readonly [minutes: number, value: number | '_'])[]): Minutes =>
  all.flatMap(([minutes, value]) => Array<number | '_'>(minutes).fill(value));

const up = (minutes: Minutes) => [`telemetry_station_up{${STATION}}`, minutes] as const;
const set = (name: string, minutes: Minutes) =>
  [`telemetry_station_last_known_resources{${STATION},set="${name}"}`, minutes] as const;
const verified = (minutes: Minutes) => [`telemetry_station_verified_resources{${STATION}}`, minutes] as const;
const resource = (id: string, minutes: Minutes) =>
  [`telemetry_station_resource_firing{${STATION},resource_id="${id}",name="${id}"}`, minutes] as const;
const scraped = (minutes: Minutes) => ['up{}', minutes] as const;

/** The exporter of a healthy target, without what happens in a scenario. */
const healthy = (minutes: number) => [up(runs([minutes, 1])), set('all', runs([minutes, 100]))];

/** What a clock shows at every minute, with a gap between two numbers of minutes. */
const times = (before: number, [gap, none]: readonly [number, '_'], after: number): Minutes =>
  runs([before, 0], [gap, none], [after, 0]).map((value, at) => (value === '_' ? value : 60 * at));

/** Every scrape whose number the rate divides is lost. */
const losing = (every: number, minutes: Minutes): Minutes =>
  minutes.map((value, minute) => (minute % every === every - 1 ? '_' : value));

const MANY = ['ManyResourcesFiring'];

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'the exporter restarts in an outage of seven hours while many fire',
    exporters: [
      [
        up(runs([30, 1], [20, 0], [2, '_'], [500, 0])),
        set('all', runs([50, 100], [502, '_'])),
        set('firing', runs([50, 30], [502, '_'])),
        resource('a', runs([50, 1], [502, '_'])),
        resource('ended', runs([10, 1], [542, '_'])),
      ],
    ],
    firing: {
      20: [...MANY, 'ResourceFiring'],
      100: ['Down', 'ManyResourcesFiring', 'ResourceFiring', 'UpstreamDown'],
      380: ['Down', 'ManyResourcesFiring', 'ResourceFiring', 'UpstreamDown'],
      // Six hours after the last success, and the time of keep_firing_for.
      420: ['Down', 'UpstreamDown'],
    },
  },
  {
    name: 'the exporter is killed for two hours in an outage',
    exporters: [
      [
        scraped(runs([60, 1], [120, 0], [60, 1])),
        up(runs([20, 1], [40, 0], [120, '_'], [60, 1])),
        ['telemetry_station_exporter_time_seconds{}', times(60, [120, '_'], 60)],
        [
          `telemetry_station_data_timestamp_seconds{${STATION}}`,
          times(60, [120, '_'], 60).map((value, at) => (at < 60 ? 60 * Math.min(at, 20) : value)),
        ],
      ],
    ],
    firing: {
      59: ['DataStale', 'Down', 'UpstreamDown'],
      179: ['DataStale', 'Down', 'ExporterDown', 'UpstreamDown'],
      220: [],
    },
  },
  {
    name: 'a reload gives the station a team, in an outage while many fire',
    exporters: [
      [
        up(runs([30, 1], [30, 0], [120, '_'])),
        set('all', runs([60, 100], [120, '_'])),
        set('firing', runs([60, 30], [120, '_'])),
        [`telemetry_station_up{${STATION},team="a"}`, runs([60, '_'], [120, 0])],
        [`telemetry_station_last_known_resources{${STATION},team="a",set="all"}`, runs([60, '_'], [120, 100])],
        [`telemetry_station_last_known_resources{${STATION},team="a",set="firing"}`, runs([60, '_'], [120, 30])],
      ],
    ],
    firing: {
      59: ['Down', 'ManyResourcesFiring', 'UpstreamDown'],
      170: ['Down', 'ManyResourcesFiring', 'UpstreamDown'],
    },
  },
  {
    name: 'a reload gives the station a team after many resources were lost',
    exporters: [
      [
        up(runs([120, 1], [120, '_'])),
        set('all', runs([80, 100], [40, 50], [120, '_'])),
        verified(runs([80, 100], [40, 50], [120, '_'])),
        [`telemetry_station_up{${STATION},team="a"}`, runs([120, '_'], [120, 1])],
        [`telemetry_station_last_known_resources{${STATION},team="a",set="all"}`, runs([120, '_'], [120, 50])],
        [`telemetry_station_verified_resources{${STATION},team="a"}`, runs([120, '_'], [120, 50])],
      ],
    ],
    firing: { 119: ['ResourcesLost'], 230: ['ResourcesLost'] },
  },
  {
    name: 'many end in the time of an outage in which the exporter restarts',
    exporters: [
      [
        up(runs([30, 1], [20, 0], [2, '_'], [60, 0], [60, 1])),
        set('all', runs([50, 100], [62, '_'], [60, 100])),
        set('firing', runs([50, 30], [62, '_'], [60, 0])),
        resource('a', runs([50, 1], [122, '_'])),
      ],
    ],
    firing: { 100: ['Down', 'ManyResourcesFiring', 'ResourceFiring', 'UpstreamDown'], 150: [] },
  },
  {
    name: 'a station is removed on purpose while many fire, or while it fails',
    exporters: [
      [
        up(runs([40, 1], [200, '_'])),
        set('all', runs([40, 100], [200, '_'])),
        set('firing', runs([40, 30], [200, '_'])),
        resource('a', runs([40, 1], [200, '_'])),
        ['telemetry_station_up{station="failed",upstream="main"}', runs([20, 1], [20, 0], [200, '_'])],
        [
          'telemetry_station_last_known_resources{station="failed",upstream="main",set="all"}',
          runs([40, 100], [200, '_']),
        ],
        [
          'telemetry_station_last_known_resources{station="failed",upstream="main",set="firing"}',
          runs([40, 30], [200, '_']),
        ],
        ['telemetry_station_up{station="other",upstream="main"}', runs([240, 1])],
      ],
    ],
    firing: { 39: [...MANY, 'ResourceFiring', 'Down'], 61: [] },
  },
  {
    name: 'a failed replica keeps what it last knew beside one that works',
    exporters: [
      [
        up(runs([20, 1], [300, 0])),
        set('all', runs([320, 100])),
        set('firing', runs([320, 30])),
        verified(runs([320, 200])),
        resource('a', runs([320, 1])),
      ],
      [
        up(runs([320, 1])),
        set('all', runs([320, 100])),
        set('firing', runs([20, 30], [300, 0])),
        verified(runs([320, 200])),
        resource('a', runs([20, 1], [300, '_'])),
      ],
    ],
    firing: { 15: [...MANY, 'ResourceFiring'], 60: ['ReplicaFailing'], 310: ['ReplicaFailing'] },
  },
  {
    name: 'a rollout within six hours of an outage: what the old pod knew is not what was last known',
    exporters: [
      [up(runs([60, 1])), set('all', runs([60, 100])), set('firing', runs([60, 30]))],
      [
        up(runs([62, '_'], [60, 1], [60, 0], [2, '_'], [100, 0])),
        set('all', runs([62, '_'], [120, 100])),
        set('firing', runs([62, '_'], [120, 0])),
      ],
    ],
    firing: { 50: MANY, 170: ['Down', 'UpstreamDown'], 260: ['Down', 'UpstreamDown'] },
  },
  ...[3, 5].map((every) => ({
    name: `every scrape of ${every} is lost`,
    exporters: [
      [
        scraped(runs([120, 1]).map((value, minute) => (minute % every === every - 1 ? 0 : value))),
        up(losing(every, runs([120, 1]))),
        set('all', losing(every, runs([120, 100]))),
        set('firing', losing(every, runs([40, 30], [80, 0]))),
        set('unknown', losing(every, runs([40, 1], [80, 0]))),
        set('missing', losing(every, runs([120, 30]))),
        verified(losing(every, runs([60, 100], [60, 50]))),
        resource('a', losing(every, runs([40, 1], [80, '_']))),
        [`telemetry_station_listing_complete{${STATION}}`, losing(every, runs([120, 0]))] as const,
        ['telemetry_station_exporter_oldest_waiting_refresh_seconds{upstream="main"}', losing(every, runs([120, 200]))],
        ['telemetry_station_exporter_config_last_reload_successful{config="main"}', losing(every, runs([120, 0]))],
      ] as Scenario['exporters'][number],
    ],
    firing: {
      39: [
        ...(every === 3 ? ['ExporterDown'] : []),
        'ExporterReloadFailed',
        'ListingIncomplete',
        'ManyResourcesFiring',
        'Overloaded',
        'ResourceFiring',
        'UnknownState',
      ],
      90: [
        ...(every === 3 ? ['ExporterDown'] : []),
        'ExporterReloadFailed',
        'ListingIncomplete',
        'Overloaded',
        'ResourcesLost',
      ],
    },
  })),
  {
    name: 'an exporter is killed again and again: six minutes up, five down',
    exporters: [[scraped(Array.from({ length: 120 }, (_, minute) => (minute % 11 < 6 ? 1 : 0))), ...healthy(120)]],
    firing: { 25: ['ExporterDown'], 60: ['ExporterDown'], 119: ['ExporterDown'] },
  },
  ...[-1200, 1200].map((offsetS) => ({
    name: `the clock of an exporter is ${offsetS} seconds off, and its data is stale from minute 40 on`,
    exporters: [
      [
        up(runs([100, 1])),
        ['telemetry_station_exporter_time_seconds{}', Array.from({ length: 100 }, (_, at) => 60 * at + offsetS)],
        [
          `telemetry_station_data_timestamp_seconds{${STATION}}`,
          Array.from({ length: 100 }, (_, at) => 60 * Math.min(at, 40) + offsetS),
        ],
      ] as Scenario['exporters'][number],
    ],
    firing: { 39: [], 60: [], 62: ['DataStale'] },
  })),
  {
    name: 'Prometheus does not run for two hours and comes back in a burst of twenty minutes',
    exporters: [
      [
        up(runs([60, 1], [120, '_'], [120, 1])),
        set('all', runs([60, 100], [120, '_'], [120, 100])),
        verified(runs([60, 100], [120, '_'], [20, 200], [100, 100])),
      ],
    ],
    firing: { 190: [], 230: [], 290: [] },
  },
  {
    name: 'an elastic station halves after it was large for hours, and grows again',
    exporters: [[up(runs([300, 1])), set('all', runs([300, 100])), verified(runs([120, 100], [60, 50], [120, 100]))]],
    firing: { 119: [], 140: ['ResourcesLost'], 210: [] },
  },
];

function unitTest({ name, exporters, firing }: Scenario): object {
  return {
    name,
    interval: '1m',
    input_series: exporters.flatMap((all, at) =>
      all.map(([series, minutes]) => ({
        series: series.replace('{', `{${JOB},instance="${at}",pod="${at}",`),
        // A gap ends a series, as a scrape that fails.
        values: minutes
          .map((value, minute) => (value === '_' && minutes[minute - 1] !== '_' ? 'stale' : value))
          .join(' '),
      })),
    ),
    promql_expr_test: Object.entries(firing).map(([minute, alerts]) => ({
      expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
      eval_time: `${minute}m`,
      exp_samples: alerts.map((alert) => ({ labels: `{alertname="TelemetryStation${alert}"}`, value: 1 })),
    })),
  };
}

it.each(SCENARIOS)('fire and end when $name', async (scenario) => {
  const rules = temporaryFile('rules.yml', rulesFile());
  const tests = {
    rule_files: [rules],
    evaluation_interval: '1m',
    group_eval_order: GROUP_ORDER,
    tests: [unitTest(scenario)],
  };
  const { stdout } = await promisify(execFile)('promtool', [
    'test',
    'rules',
    temporaryFile('test.yml', stringify(tests)),
  ]);
  expect(stdout).toContain('SUCCESS');
});
