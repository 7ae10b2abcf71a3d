import {
  type DynamicConfigValue,
  MappingType,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';

/** Grafana's unit identifiers. */
export const UNIT = {
  count: 'locale',
  short: 'short',
  ratio: 'percentunit',
  seconds: 's',
  bytes: 'bytes',
  requestsPerSecond: 'reqps',
  date: 'dateTimeAsIso',
  text: 'string',
} as const;

/** Steps in ascending order; the first has no lower bound. */
export function thresholds(...steps: readonly (readonly [from: number | null, color: string])[]): ThresholdsConfigBuilder {
  const made = steps.map(([value, color]): Threshold => ({ value, color }));
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(made);
}

export const neutral = () => thresholds([null, 'text']);
export const orangeFromOne = () => thresholds([null, 'green'], [1, 'orange']);
export const redFromOne = () => thresholds([null, 'green'], [1, 'red']);

export const coverageThresholds = () => thresholds([null, 'red'], [0.5, 'orange'], [0.8, 'yellow'], [0.95, 'green']);

/** Red at the threshold of TelemetryStationDataStale, the default of max_stale. */
export const ageThresholds = () => thresholds([null, 'green'], [300, 'orange'], [900, 'red']);

/** Red at the threshold of TelemetryStationScrapeSlow, 80% of Prometheus' default scrape_timeout. */
export const scrapeThresholds = () => thresholds([null, 'green'], [5, 'orange'], [8, 'red']);

export const upMappings = mappings({ 1: ['Up', 'green'], 0: ['Failing', 'red'] });
export const completeMappings = mappings({ 1: ['Complete', 'green'], 0: ['Incomplete', 'orange'] });
export const reloadMappings = mappings({ 1: ['Loaded', 'green'], 0: ['Rejected', 'red'] });
export const presentMappings = mappings({ 1: ['●', 'blue'] });

/** The set of states is open: one that is not mapped here is shown as sent. */
export const stateMappings = mappings({
  ALERTSTATE_FIRING: ['Firing', 'red'],
  ALERTSTATE_PENDING: ['Pending', 'orange'],
  ALERTSTATE_INACTIVE: ['Inactive', 'green'],
  ALERTSTATE_UNSPECIFIED: ['Unspecified', 'text'],
});

/** For panels in which each state is a series. */
export const stateColors: readonly (readonly [regexp: string, color: string])[] = [
  ['/firing/i', 'red'],
  ['/pending/i', 'orange'],
  ['/inactive/i', 'green'],
];

export function fixedColor(color: string): DynamicConfigValue {
  return { id: 'color', value: { mode: 'fixed', fixedColor: color } };
}

function mappings(values: Readonly<Record<string, readonly [text: string, color: string]>>): ValueMapping[] {
  const options = Object.entries(values).map(([value, [text, color]], index) => [value, { text, color, index }]);
  return [{ type: MappingType.ValueToText, options: Object.fromEntries(options) }];
}
