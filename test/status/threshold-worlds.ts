import { VerifiedNumbers } from '../../src/status/loss.ts';
import {
  hasManyUnknownStates,
  hasUnknownStates,
  isManyFiring,
  isOverloaded,
  isStale,
  lacksMany,
} from '../../src/status/thresholds.ts';

const MINUTE_MS = 60_000;

/** Every world lasts this long, from minute 0 on; its problem begins early enough for the `for` of the alert, which pages ignore. */
export const WORLD_MINUTES = 420;

/** What the exporter publishes from minute to minute, and what its pages and the rules are to make of it at the end. */
export interface World {
  readonly name: string;
  readonly alert: string;
  /** Of an alert that is critical or a warning. */
  readonly severity?: 'critical' | 'warning' | undefined;
  readonly isProblem: boolean;
  readonly series: readonly { readonly metric: string; readonly labels?: string; readonly values: readonly number[] }[];
  readonly isProblemOnPage: boolean;
  /** Without, every refresh succeeds. */
  readonly up?: readonly number[];
}

type Outcome = Pick<World, 'name' | 'isProblem'>;
type Run<T = number> = readonly [minutes: number, value: T];

/** The last run lasts until the end. */
function valuesOf<T>(...runs: readonly Run<T>[]): T[] {
  const values = runs.flatMap(([minutes, value]) => Array<T>(minutes).fill(value));
  const [, last] = runs.at(-1) as Run<T>;
  return [...values, ...Array<T>(WORLD_MINUTES + 1 - values.length).fill(last)];
}

/** Of the listings of a station that fails meanwhile, while its latest number stays published. */
function numbers({ name, isProblem }: Outcome, ...runs: readonly Run<number | 'fails'>[]): World {
  const outcomes = valuesOf(...runs);
  const verified = new VerifiedNumbers();
  const published: number[] = [];
  for (const [minute, outcome] of outcomes.entries()) {
    if (outcome === 'fails') verified.fail(minute * MINUTE_MS);
    else verified.add(outcome, minute * MINUTE_MS);
    published.push(outcome === 'fails' ? (published.at(-1) as number) : outcome);
  }
  return {
    name,
    alert: 'TelemetryStationResourcesLost',
    isProblem,
    up: outcomes.map((outcome) => (outcome === 'fails' ? 0 : 1)),
    series: [{ metric: 'telemetry_station_verified_resources', values: published }],
    isProblemOnPage: verified.lossAt(WORLD_MINUTES * MINUTE_MS) !== undefined,
  };
}

function loss(before: number, after: number, isProblem: boolean): World {
  return numbers({ name: `${before} resources, then ${after}`, isProblem }, [390, before], [0, after]);
}

/** The sizes of sets of the resources, all the time. */
function setSeries(sets: Readonly<Record<string, number>>): World['series'] {
  return Object.entries(sets).map(([set, size]) => ({
    metric: 'telemetry_station_last_known_resources',
    labels: `set="${set}"`,
    values: valuesOf([0, size]),
  }));
}

function firing(count: number, all: number, isProblem: boolean): World {
  return {
    name: `${count} of ${all} firing`,
    alert: 'TelemetryStationManyResourcesFiring',
    isProblem,
    series: setSeries({ all, firing: count }),
    isProblemOnPage: isManyFiring({ all, firing: count }),
  };
}

function refreshedMinutesAgo(age: number, isProblem: boolean): World {
  const latest = WORLD_MINUTES - age;
  return {
    name: `refreshed ${age} minutes ago`,
    alert: 'TelemetryStationDataStale',
    isProblem,
    series: [
      {
        metric: 'telemetry_station_data_timestamp_seconds',
        values: valuesOf([0, 0]).map((_, minute) => 60 * Math.min(minute, latest)),
      },
    ],
    isProblemOnPage: isStale(age * MINUTE_MS),
  };
}

function unknown(count: number, all: number, isProblem: boolean): World {
  return {
    name: `${count} of ${all} in states of unknown meaning`,
    alert: 'TelemetryStationUnknownState',
    severity: 'warning',
    isProblem,
    series: setSeries({ all, unknown: count }),
    isProblemOnPage: hasUnknownStates(count),
  };
}

function manyUnknown(count: number, all: number, isProblem: boolean): World {
  const isProblemOnPage = hasManyUnknownStates({ all, unknown: count });
  return { ...unknown(count, all, isProblem), severity: 'critical', isProblemOnPage };
}

function missing(count: number, all: number, isProblem: boolean): World {
  return {
    name: `${count} of ${all} missing from the listing`,
    alert: 'TelemetryStationListingIncomplete',
    severity: 'critical',
    isProblem,
    series: setSeries({ all, missing: count }),
    isProblemOnPage: lacksMany({ all, missing: count }),
  };
}

function waiting(seconds: number, isProblem: boolean): World {
  return {
    name: `a refresh has waited ${seconds} seconds`,
    alert: 'TelemetryStationOverloaded',
    isProblem,
    series: [{ metric: 'telemetry_station_exporter_oldest_waiting_refresh_seconds', values: valuesOf([0, seconds]) }],
    isProblemOnPage: isOverloaded(1000 * seconds),
  };
}

export const WORLDS: readonly World[] = [
  loss(10, 6, false),
  loss(10, 5, true),
  loss(2, 0, false),
  loss(3, 0, true),
  loss(3, 1, false),
  loss(4, 0, true),
  loss(4, 1, false),
  loss(5, 0, true),
  loss(6, 1, true),
  loss(19, 15, false),
  loss(19, 14, true),
  loss(20, 16, false),
  loss(20, 15, true),
  loss(25, 20, false),
  loss(26, 20, true),
  loss(100, 80, false),
  loss(100, 79, true),
  loss(100, 100, false),
  loss(20_000, 16_000, false),
  loss(20_000, 15_999, true),
  numbers({ name: 'a loss of five hours ago', isProblem: true }, [120, 100], [0, 50]),
  numbers({ name: 'a loss of six and a half hours ago', isProblem: false }, [30, 100], [0, 50]),
  numbers({ name: 'a loss that was made up for', isProblem: false }, [200, 100], [100, 50], [0, 95]),
  numbers({ name: 'a loss of which a part came back', isProblem: true }, [200, 100], [100, 50], [0, 70]),
  numbers({ name: 'a loss in small steps', isProblem: true }, [200, 100], [50, 90], [50, 85], [0, 75]),
  numbers({ name: 'a peak of more than half an hour within six', isProblem: true }, [200, 100], [40, 130], [0, 100]),
  numbers({ name: 'a burst of ten minutes', isProblem: false }, [200, 100], [10, 140], [0, 100]),
  numbers({ name: 'one listing with twice the records', isProblem: false }, [200, 100], [1, 200], [0, 100]),
  numbers({ name: 'a burst after a loss', isProblem: true }, [200, 100], [40, 50], [10, 100], [0, 50]),
  numbers({ name: 'one listing before failures', isProblem: false }, [200, 100], [1, 140], [31, 'fails'], [0, 100]),
  numbers(
    { name: 'a peak with a few failures', isProblem: true },
    [200, 100],
    [20, 140],
    [5, 'fails'],
    [20, 140],
    [0, 100],
  ),
  numbers({ name: 'a peak and failures after it', isProblem: true }, [200, 100], [40, 140], [60, 'fails'], [0, 100]),
  numbers({ name: 'failures in half an hour', isProblem: false }, [200, 100], [15, 140], [25, 'fails'], [0, 100]),
  numbers({ name: 'a loss that ends in failures', isProblem: true }, [300, 100], [40, 50], [0, 'fails']),
  numbers({ name: 'bursts again and again', isProblem: false }, [200, 100], [20, 140], [5, 100], [20, 140], [0, 100]),
  numbers({ name: 'a small station that is empty for a minute', isProblem: false }, [200, 4], [1, 0], [0, 4]),
  firing(4, 4, false),
  firing(4, 7, false),
  firing(5, 5, true),
  firing(5, 9, true),
  firing(5, 10, false),
  firing(10, 10, true),
  firing(20, 20, true),
  firing(20, 39, true),
  firing(20, 40, false),
  firing(21, 40, true),
  firing(20, 100, false),
  firing(21, 100, true),
  firing(22, 2500, false),
  firing(125, 2500, false),
  firing(126, 2500, true),
  firing(500, 10_000, false),
  firing(501, 10_000, true),
  firing(500, 20_000, false),
  firing(501, 20_000, true),
  firing(600, 20_000, true),
  refreshedMinutesAgo(1, false),
  refreshedMinutesAgo(15, false),
  refreshedMinutesAgo(20, false),
  refreshedMinutesAgo(21, true),
  unknown(0, 100, false),
  unknown(1, 100, true),
  manyUnknown(4, 4, false),
  manyUnknown(5, 24, true),
  manyUnknown(5, 25, false),
  manyUnknown(20, 100, false),
  manyUnknown(21, 100, true),
  missing(0, 100, false),
  missing(20, 100, false),
  missing(21, 100, true),
  missing(1, 4, true),
  waiting(120, false),
  waiting(121, true),
];
