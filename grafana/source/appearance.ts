import {
  type DynamicConfigValue,
  MappingType,
  SpecialValueMatch,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { FailureReason } from '../../src/model/failure.ts';

/** Grafana's unit identifiers. */
export const UNIT = {
  count: 'locale',
  short: 'short',
  ratio: 'percentunit',
  seconds: 's',
  /** hh:mm:ss: the axis of `seconds` has ticks such as "1.67 mins". */
  clock: 'dthms',
  bytes: 'bytes',
  requestsPerSecond: 'reqps',
  date: 'dateTimeAsIso',
  text: 'string',
} as const;

/** The color of what is not known: Grafana uses the color of the lowest step when there is no data or the query failed. */
const UNKNOWN = 'text';

/** The color of states of unknown meaning: neither good nor bad, and visible. */
export const UNKNOWN_STATE = 'blue';

/** The text of a panel without data: its likely causes are an exporter that is down and a station that was never refreshed. */
export const NO_DATA = 'Not scraped or refreshed';
export const NONE_OR_NO_DATA = 'None, or not scraped or refreshed';

/** Name of an empty label value, and of the series at 0 that a chart of problems shows while there are none. */
export const NONE = 'none';

/** Name of the state of a resource without one. */
export const NO_STATE = 'no state';

/** Steps from 0 in ascending order. */
export function thresholds(...steps: readonly (readonly [from: number, color: string])[]): ThresholdsConfigBuilder {
  const known = steps.map(([value, color]): Threshold => ({ value, color }));
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([{ value: null, color: UNKNOWN }, ...known]);
}

export const neutral = () => thresholds();
export const blueFromOne = () => thresholds([1, UNKNOWN_STATE]);
export const orangeFromOne = () => thresholds([0, 'green'], [1, 'dark-orange']);
export const redFromOne = () => thresholds([0, 'green'], [1, 'red']);
export const redBelowOne = () => thresholds([0, 'red'], [1, 'green']);

export const coverageThresholds = () => thresholds([0, 'red'], [0.5, 'dark-orange'], [0.95, 'green']);

/** The default of max_stale, and the threshold of TelemetryStationDataStale. */
export const MAX_STALE_S = 900;
export const ageThresholds = () => thresholds([0, 'green'], [300, 'dark-orange'], [MAX_STALE_S, 'red']);

/** The threshold of TelemetryStationScrapeSlow, 80% of Prometheus' default scrape_timeout. */
export const SLOW_SCRAPE_S = 8;
export const scrapeThresholds = () => thresholds([0, 'green'], [5, 'dark-orange'], [SLOW_SCRAPE_S, 'red']);

export const upMappings = mappings({ 1: ['Up', 'green'], 0: ['Failing', 'red'], '-1': ['No data', 'red'] });
export const targetMappings = mappings({ 1: ['Scraped', 'green'], 0: ['Scrape failed', 'red'] });
export const listingMappings = mappings({
  1: ['Complete', 'green'],
  0.75: ['Unknown', UNKNOWN],
  0.5: ['Rejected', 'dark-orange'],
  0: ['Incomplete', 'dark-orange'],
  '-0.5': ['Incomplete', 'dark-orange'],
});
export const reloadMappings = mappings({ 1: ['Loaded', 'green'], 0: ['Rejected', 'red'], 0.5: ['Unknown', UNKNOWN] });
/** The capacity of an upstream, the worst is the largest. */
export const CAPACITY = { tooSmall: 1, throttled: 0.75, unknown: 0.5, enough: 0 } as const;
export const capacityMappings = mappings({
  [CAPACITY.tooSmall]: ['Too small', 'red'],
  [CAPACITY.throttled]: ['Throttled', 'dark-orange'],
  [CAPACITY.unknown]: ['Unknown', UNKNOWN],
  [CAPACITY.enough]: ['Enough', 'green'],
});

/** What `noneOrUnknown` returns while data is missing. */
export const noneKnownMappings = mappings({ '-1': ['None known', UNKNOWN] });

/** The age of a station that was never refreshed. */
export const NEVER_S = 1e9;
export const neverMappings = mappings({ [NEVER_S]: ['Never refreshed', 'red'] });

/** Values of `state_label`: a state of unknown meaning is shown as sent, in no color. */
export const stateMappings = mappings({
  firing: ['Firing', 'red'],
  pending: ['Pending', 'dark-orange'],
  inactive: ['Inactive', 'green'],
});

/** Values of the label `alertstate` of ALERTS. */
export const alertStateMappings = mappings({ firing: ['Firing', 'red'], pending: ['Pending', 'dark-orange'] });
export const severityMappings = mappings({
  critical: ['critical', 'red'],
  warning: ['warning', 'dark-orange'],
  info: ['info', 'blue'],
});

/** All begin alike: in a narrow column, only that would be visible. */
export const alertNameMappings = [withoutPrefix('TelemetryStation')];

export const productMappings = [withoutPrefix('product.')];

/** An empty cell: without it, Grafana shows the text of the panel without data. */
export const EMPTY_CELL: readonly ValueMapping[] = [SpecialValueMatch.NullAndNan, SpecialValueMatch.Empty].map(
  (match) => ({
    type: MappingType.SpecialValue,
    options: { match, result: { text: '–', color: UNKNOWN } },
  }),
);

/** For panels in which each value of `alert_state` is a series: its name and color. */
export const STATE_SERIES: readonly (readonly [alertState: string, name: string, color: string])[] = [
  ['firing', 'Firing', 'red'],
  ['pending', 'Pending', 'dark-orange'],
  ['inactive', 'Inactive', 'green'],
];

/**
 * Hues of categories, which are no status: neither red nor orange nor green. Their contrast is at least 3 to 1 in both themes, measured as for
 * Grafana's own colors.
 */
export const HUE = {
  blue: 'blue',
  purple: 'purple',
  cyan: '#1a8fb0',
  pink: '#d4459c',
  teal: '#14857f',
  gray: '#7f8796',
} as const;

/** No failure is green. */
export const REASON_COLORS: Readonly<Record<FailureReason, string>> = {
  timeout: 'dark-orange',
  network: 'red',
  tls: HUE.purple,
  auth: HUE.pink,
  forbidden: '#9b6f52',
  not_found: HUE.blue,
  rate_limited: '#a1781c',
  status: HUE.cyan,
  body: HUE.teal,
  internal: HUE.gray,
};

export function fixedColor(color: string): DynamicConfigValue {
  return { id: 'color', value: { mode: 'fixed', fixedColor: color } };
}

/** One hue for all series of an override, with a different shade for each. */
export function shadesOf(color: string): DynamicConfigValue {
  return { id: 'color', value: { mode: 'shades', fixedColor: color } };
}

/** For limits and upper quantiles, beside what they limit. */
export const DASHED: DynamicConfigValue = { id: 'custom.lineStyle', value: { fill: 'dash', dash: [8, 6] } };

export function displayName(name: string): DynamicConfigValue {
  return { id: 'displayName', value: name };
}

function mappings(values: Readonly<Record<string, readonly [text: string, color: string]>>): ValueMapping[] {
  const options = Object.entries(values).map(([value, [text, color]], index) => [value, { text, color, index }]);
  return [{ type: MappingType.ValueToText, options: Object.fromEntries(options) }];
}

function withoutPrefix(prefix: string): ValueMapping {
  return {
    type: MappingType.RegexToText,
    options: { pattern: `^${prefix.replaceAll('.', '\\.')}(.*)$`, result: { text: '$1', color: UNKNOWN } },
  };
}
