import {
  type DynamicConfigValue,
  MappingType,
  SpecialValueMatch,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { STALE_SECONDS } from '../../src/status/thresholds.ts';

/** Grafana's unit identifiers. */
export const UNIT = {
  count: 'locale',
  short: 'short',
  ratio: 'percentunit',
  seconds: 's',
  minutes: 'm',
  bytes: 'bytes',
  requestsPerSecond: 'reqps',
  time: 'dateTimeAsIsoNoDateIfToday',
} as const;

/** Neither good nor bad: the color of counts, and of what is not known, because Grafana uses that of the lowest step without data. */
const NEUTRAL = 'text';

/** Readable as text in both themes; Grafana's orange is too light. */
export const ORANGE = 'dark-orange';

export const NO_DATA = 'No data';

/** Steps in ascending order. Green is only for values that are themselves known to be well. */
export function thresholds(...steps: readonly (readonly [from: number, color: string])[]): ThresholdsConfigBuilder {
  const colored = steps.map(([value, color]): Threshold => ({ value, color }));
  return new ThresholdsConfigBuilder()
    .mode(ThresholdsMode.Absolute)
    .steps([{ value: null, color: NEUTRAL }, ...colored]);
}

export const neutral = () => thresholds();
export const redFromOne = () => thresholds([1, 'red']);
export const orangeFromOne = () => thresholds([1, ORANGE]);
/** A state of unknown meaning is neither good nor bad, but visible. */
export const blueFromOne = () => thresholds([1, 'blue']);
export const greenIfAll = () => thresholds([0, 'red'], [1, 'green']);

export const ageThresholds = () => thresholds([300, ORANGE], [STALE_SECONDS, 'red']);

/** The timestamp of a station that was never refreshed is 0: its age is that of the epoch. */
export const neverMappings: readonly ValueMapping[] = [
  {
    type: MappingType.RangeToText,
    options: { from: 1e9, to: null, result: { text: 'Never', color: 'red' } },
  },
];

/** Complete is not green: the listing may be hours old. */
export const listingMappings = valueMappings({ 1: ['Complete', NEUTRAL], 0: ['Incomplete', ORANGE] });
export const scrapeMappings = valueMappings({ 1: ['Up', 'green'], 0: ['Down', 'red'] });
export const reloadMappings = valueMappings({ 1: ['Current', 'green'], 0: ['Rejected', 'red'] });
export const alertStateMappings = valueMappings({ firing: ['Firing', 'red'], pending: ['Pending', ORANGE] });
export const severityMappings = valueMappings({
  critical: ['critical', 'red'],
  warning: ['warning', ORANGE],
  info: ['info', 'blue'],
});

/** The name of a refresh that succeeded, beside the reasons of those that failed. */
export const UP = 'Up';
export const refreshMappings: readonly ValueMapping[] = [
  ...valueMappings({ [UP]: [UP, 'green'], not_tried: ['not_tried', NEUTRAL] }),
  regexMapping('(.+)', 'red'),
];

/** What all values of a label begin with is left out: in a narrow column, only that would be visible. */
export const withoutPrefix = (prefix: string): readonly ValueMapping[] => [
  regexMapping(`^${prefix.replaceAll('.', '\\.')}(.*)$`),
];

/** An empty cell: without it, Grafana shows the text of the panel without data. */
export const EMPTY_CELL = emptyCell('–');
/** A dash would be a link as well. */
export const EMPTY_LINK = emptyCell('');

export const withoutOwner = emptyCell('(none)');

/** For what is no status: neither red nor orange nor green. Their contrast is at least 3 to 1 in both themes. */
export const HUE = {
  blue: 'blue',
  purple: 'purple',
  cyan: '#1a8fb0',
  brown: '#9b6f52',
  gray: '#7f8796',
  pink: '#d4459c',
} as const;

/** The colors of the values of `alert_state`. */
export const STATE_COLORS = { firing: 'red', pending: ORANGE, unknown: 'blue', inactive: HUE.gray } as const;

/** No failure is green. */
export const REASON_COLORS = {
  timeout: ORANGE,
  network: 'red',
  tls: HUE.purple,
  auth: HUE.pink,
  forbidden: HUE.brown,
  not_found: HUE.blue,
  rate_limited: '#a1781c',
  status: HUE.cyan,
  body: '#14857f',
  internal: HUE.gray,
} as const;

export function fixedColor(color: string): DynamicConfigValue {
  return { id: 'color', value: { mode: 'fixed', fixedColor: color } };
}

/** One hue for all series of an override, with a different shade for each. */
export function shadesOf(color: string): DynamicConfigValue {
  return { id: 'color', value: { mode: 'shades', fixedColor: color } };
}

/** For limits and upper quantiles, beside what they limit. */
export const DASHED: DynamicConfigValue = { id: 'custom.lineStyle', value: { fill: 'dash', dash: [8, 6] } };

function emptyCell(text: string): readonly ValueMapping[] {
  return [SpecialValueMatch.NullAndNan, SpecialValueMatch.Empty].map((match) => ({
    type: MappingType.SpecialValue,
    options: { match, result: { text, color: NEUTRAL } },
  }));
}

function valueMappings(values: Readonly<Record<string, readonly [text: string, color: string]>>): ValueMapping[] {
  const options = Object.entries(values).map(([value, [text, color]], index) => [value, { text, color, index }]);
  return [{ type: MappingType.ValueToText, options: Object.fromEntries(options) }];
}

function regexMapping(pattern: string, color: string = NEUTRAL): ValueMapping {
  return { type: MappingType.RegexToText, options: { pattern, result: { text: '$1', color } } };
}
