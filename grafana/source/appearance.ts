import {
  type DynamicConfigValue,
  MappingType,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard';

/** From the lowest up; the first has no value. */
export function thresholds(...steps: readonly (readonly [from: number | null, color: string])[]): ThresholdsConfigBuilder {
  const made = steps.map(([value, color]): Threshold => ({ value, color }));
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(made);
}

export const plain = () => thresholds([null, 'text']);

/** Any at all is worth a look. */
export const noneIsGood = () => thresholds([null, 'green'], [1, 'orange']);
export const noneMustBe = () => thresholds([null, 'green'], [1, 'red']);

export const coverageThresholds = () => thresholds([null, 'red'], [0.5, 'orange'], [0.8, 'yellow'], [0.95, 'green']);

/** Red from where TelemetryStationDataStale fires: the default of max_stale. */
export const ageThresholds = () => thresholds([null, 'green'], [300, 'orange'], [900, 'red']);

/** Red from where TelemetryStationScrapeSlow fires: four fifths of Prometheus' default scrape timeout. */
export const scrapeThresholds = () => thresholds([null, 'green'], [5, 'orange'], [8, 'red']);

type Mapped = Readonly<Record<string, readonly [text: string, color: string]>>;

export const upMappings = mappings({ 1: ['Up', 'green'], 0: ['Failing', 'red'] });
export const wholeMappings = mappings({ 1: ['Whole', 'green'], 0: ['May miss some', 'orange'] });
export const reloadMappings = mappings({ 1: ['In force', 'green'], 0: ['Rejected', 'red'] });
export const presentMappings = mappings({ 1: ['●', 'blue'] });

/** A state that is not known here is shown as it was sent. */
export const stateMappings = mappings({
  ALERTSTATE_FIRING: ['Firing', 'red'],
  ALERTSTATE_PENDING: ['Pending', 'orange'],
  ALERTSTATE_INACTIVE: ['Inactive', 'green'],
  ALERTSTATE_UNSPECIFIED: ['Unspecified', 'text'],
});

/** The colours of states, for panels in which a state is a series. */
export const stateColors: readonly (readonly [regexp: string, color: string])[] = [
  ['/firing/i', 'red'],
  ['/pending/i', 'orange'],
  ['/inactive/i', 'green'],
];

export function fixedColor(color: string): DynamicConfigValue {
  return { id: 'color', value: { mode: 'fixed', fixedColor: color } };
}

function mappings(values: Mapped): ValueMapping[] {
  const options = Object.entries(values).map(([value, [text, color]], index) => [value, { text, color, index }]);
  return [{ type: MappingType.ValueToText, options: Object.fromEntries(options) }];
}
