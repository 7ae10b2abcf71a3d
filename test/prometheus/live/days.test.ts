import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { stringify } from 'yaml';
import { between, type Random, randomFrom } from '../../../lab/simulator/random.ts';
import { rulesFile } from '../../../prometheus/source/rules-file.ts';
import { temporaryFile } from '../../service/support/files.ts';
import { GROUP_ORDER } from '../promql/known-metrics.ts';

const DAY_MINUTES = 1440;

const JOB = 'job="telemetry-station-exporter"';

/** What exporters publish of a station in a minute. */
interface Minute {
  readonly resources: number;
  readonly firing: number;
  readonly unknown: number;
  readonly missing: number;
  readonly isUp: boolean;
}

/** The usual number of resources, and by how much bursts exceed it. */
const STATIONS: Readonly<Record<string, { readonly resources: number; readonly burst: number }>> = {
  steady: { resources: 200, burst: 0 },
  elastic: { resources: 100, burst: 0.6 },
  batch: { resources: 20, burst: 2 },
  large: { resources: 5000, burst: 0.3 },
  small: { resources: 4, burst: 1 },
};

/** What lasts for some minutes, begins now and then and ends before it matters: the minutes in which it does. */
function episodes(random: Random, [least, most]: readonly [number, number], perDay: number): boolean[] {
  const minutes = Array<boolean>(DAY_MINUTES).fill(false);
  for (let count = 0; count < perDay; count++) {
    const first = between(random, 0, DAY_MINUTES - 1);
    minutes.fill(true, first, first + between(random, least, most));
  }
  return minutes;
}

/** Bursts of up to 25 minutes, a daily curve of 8 %, failures, unknown states and gaps in listings of a few minutes. */
function healthyDay(random: Random, { resources, burst }: (typeof STATIONS)[string]): Minute[] {
  const bursts = burst > 0 ? episodes(random, [5, 25], 8) : [];
  // Bursts that follow one another at once last as one.
  const isBurst = bursts.map((isOn, minute) => isOn && minute % 40 >= 15);
  const failures = episodes(random, [1, 7], 4);
  const unclear = episodes(random, [1, 8], 2);
  const gaps = episodes(random, [1, 8], 3);
  const firings = episodes(random, [1, 240], 6);
  return Array.from({ length: DAY_MINUTES }, (_, minute) => {
    const curve = 1 + 0.04 * Math.sin((2 * Math.PI * minute) / DAY_MINUTES);
    const size = Math.round(resources * curve * (isBurst[minute] ? 1 + burst : 1));
    return {
      resources: size,
      firing: firings[minute] ? Math.min(4, between(random, 0, 4), size) : 0,
      unknown: unclear[minute] ? Math.ceil(size / 3) : 0,
      missing: gaps[minute] ? Math.ceil(size / 3) : 0,
      isUp: !failures[minute],
    };
  });
}

type Sample = number | '_';

/** The series of an exporter that restarts three times, of which one scrape in 25 is lost, or every fifth one for two hours. */
function seriesOf(random: Random, instance: string, offsetS: number, days: ReadonlyMap<string, readonly Minute[]>) {
  const restarts = episodes(random, [1, 3], 3);
  const flakyFrom = between(random, 0, DAY_MINUTES - 120);
  const isLost = restarts.map((isRestarting, minute) => {
    const isFlaky = minute >= flakyFrom && minute < flakyFrom + 120;
    return isFlaky ? minute % 5 === 0 : isRestarting || random() < 0.04;
  });
  const hasJustStarted = restarts.map((isRestarting, minute) => restarts[minute - 1] === true && !isRestarting);
  const series = (metric: string, labels: string, valueAt: (minute: number) => Sample) => {
    const samples = isLost.map((lost, minute) => (lost ? '_' : valueAt(minute)));
    const values = samples.map((value, minute) => (value === '_' && samples[minute - 1] !== '_' ? 'stale' : value));
    return { series: `${metric}{${JOB},instance="${instance}",pod="${instance}"${labels}}`, values: values.join(' ') };
  };
  const ofStations = [...days].flatMap(([station, day]) => {
    const labels = `,station="${station}",upstream="main"`;
    const at = (minute: number) => day[minute] as Minute;
    const isRefreshed = (minute: number) => at(minute).isUp && !hasJustStarted[minute];
    // What was last listed; a new process has listed nothing.
    const listed = { minute: 0 };
    const latest = Array.from({ length: DAY_MINUTES }, (_, minute) => {
      if (hasJustStarted[minute]) listed.minute = -1;
      if (isRefreshed(minute)) listed.minute = minute;
      return listed.minute;
    });
    const published = (numberIn: (minute: Minute) => number) => (minute: number) => {
      const from = latest[minute] as number;
      return from === -1 ? '_' : numberIn(at(from));
    };
    const known = (set: string, numberIn: (minute: Minute) => number) =>
      series('telemetry_station_last_known_resources', `${labels},set="${set}"`, published(numberIn));
    return [
      series('telemetry_station_up', labels, (minute) => (isRefreshed(minute) ? 1 : 0)),
      series(
        'telemetry_station_data_timestamp_seconds',
        labels,
        (minute) => 60 * Math.max(0, latest[minute] as number) + offsetS,
      ),
      series(
        'telemetry_station_listing_complete',
        labels,
        published(({ missing }) => (missing > 0 ? 0 : 1)),
      ),
      series(
        'telemetry_station_verified_resources',
        labels,
        published(({ resources }) => resources),
      ),
      known('all', ({ resources }) => resources),
      known('firing', ({ firing }) => firing),
      known('unknown', ({ unknown }) => unknown),
      known('missing', ({ missing }) => missing),
    ];
  });
  return [
    {
      series: `up{${JOB},instance="${instance}",pod="${instance}"}`,
      values: isLost.map((lost) => (lost ? 0 : 1)).join(' '),
    },
    series('telemetry_station_exporter_time_seconds', '', (minute) => 60 * minute + offsetS),
    series('telemetry_station_exporter_config_last_reload_successful', ',config="main"', () => 1),
    series('telemetry_station_exporter_oldest_waiting_refresh_seconds', ',upstream="main"', () =>
      between(random, 0, 90),
    ),
    ...ofStations,
  ];
}

async function promtool(rules: string, test: object) {
  const tests = {
    rule_files: [temporaryFile('rules.yml', rules)],
    evaluation_interval: '1m',
    group_eval_order: GROUP_ORDER,
    tests: [{ interval: '1m', ...test }],
  };
  const { stdout } = await promisify(execFile)('promtool', [
    'test',
    'rules',
    temporaryFile('days.yml', stringify(tests)),
  ]);
  return stdout;
}

/** How many minutes pages fire, within the time before an evaluation. */
const pages = (range: string) =>
  `sum by (alertname, station) (count_over_time(ALERTS{severity="critical",alertstate="firing"}[${range}]))`;

it.each([1, 2, 3, 4, 5, 6, 7])('page for nothing on a healthy day: %i', async (day) => {
  const random = randomFrom(day);
  const days = new Map(Object.entries(STATIONS).map(([name, station]) => [name, healthyDay(random, station)]));
  // On every second day two replicas, of which one has a clock that is 20 minutes behind.
  const replicas = day % 2 === 0 ? [['a', 0] as const] : [['a', 0] as const, ['b', -1200] as const];
  const input_series = replicas.flatMap(([instance, offsetS]) => seriesOf(random, instance, offsetS, days));
  const promql_expr_test = [{ expr: pages('1d'), eval_time: `${DAY_MINUTES - 1}m`, exp_samples: [] }];
  expect(await promtool(rulesFile(), { input_series, promql_expr_test })).toContain('SUCCESS');
});

const RUNBOOK = new URL('../../../docs/runbooks/TelemetryStationResourcesLost.md', import.meta.url);

/** The rules that its line of shell writes for a station. */
function rulesWithout(station: string): string {
  const [, script = ''] = /^sed '(.*)' prometheus\/rules\.yml > rules\.yml$/m.exec(readFileSync(RUNBOOK, 'utf8')) ?? [];
  return execFileSync('sed', [script.replace('STATION', station)], { input: rulesFile(), encoding: 'utf8' });
}

describeHalves('every evening, a station that halves pages after ten minutes for six hours', rulesFile(), [365 + 350]);
describeHalves('the line of the runbook excludes it, and no other alert', rulesWithout('night'), []);

/** 100 resources by day, 40 from six in the evening to six in the morning; another station lost its resources for good. */
function describeHalves(name: string, rules: string, minutesOfPage: readonly number[]): void {
  it(name, async () => {
    const night = Array.from({ length: 2 * DAY_MINUTES }, (_, minute) => (minute % DAY_MINUTES < 1080 ? 100 : 40));
    const lost = night.map((_, minute) => (minute < 1800 ? 100 : 40));
    const input_series = Object.entries({ night, lost }).flatMap(([station, values]) => {
      const labels = `{${JOB},instance="a",station="${station}",upstream="main"`;
      return [
        { series: `telemetry_station_up${labels}}`, values: `1x${values.length - 1}` },
        { series: `telemetry_station_verified_resources${labels}}`, values: values.join(' ') },
      ];
    });
    const page = (station: string, minutes: number) => ({
      labels: `{alertname="TelemetryStationResourcesLost",station="${station}"}`,
      value: minutes,
    });
    const promql_expr_test = [
      {
        // In five minutes: ranges of Prometheus 3 lack their first moment.
        expr: `round(${pages('2d')}, 5)`,
        eval_time: `${2 * DAY_MINUTES - 1}m`,
        exp_samples: [page('lost', 365), ...minutesOfPage.map((minutes) => page('night', minutes))],
      },
    ];
    expect(await promtool(rules, { input_series, promql_expr_test })).toContain('SUCCESS');
  });
}
