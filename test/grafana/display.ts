import type { Mapping, ShippedPanel, Thresholds } from './shipped-dashboards.ts';

/** The color in which Grafana (11, 12 and 13) shows a value: that of its mapping, else of its threshold step; `null` is no data. */
export function colorOf({ fieldConfig }: ShippedPanel, value: number | null): string {
  const { thresholds = { steps: [] }, mappings = [] } = fieldConfig?.defaults ?? {};
  return mappedTo(mappings, value)?.color ?? stepOf(thresholds, value);
}

/** What a table cell shows instead of its value, if anything. */
export function cellText(panel: ShippedPanel, column: string, value: number | string | null): string | undefined {
  return mappedTo(columnMappings(panel, column), value)?.text;
}

/** Mappings of an override replace those of the panel. */
function columnMappings({ fieldConfig }: ShippedPanel, column: string): readonly Mapping[] {
  const override = fieldConfig?.overrides.find(({ matcher }) => matcher.options === column);
  const mappings = override?.properties.find(({ id }) => id === 'mappings')?.value as readonly Mapping[] | undefined;
  return mappings ?? fieldConfig?.defaults.mappings ?? [];
}

function mappedTo(mappings: readonly Mapping[], value: number | string | null) {
  for (const { type, options } of mappings) {
    if (type === 'value' && value !== null && `${value}` in options) return options[`${value}`];
    if (type === 'special' && matchesSpecial(options.match, value)) return options.result;
    if (type === 'regex' && typeof value === 'string' && new RegExp(options.pattern).test(value)) return options.result;
  }
  return undefined;
}

function matchesSpecial(match: string, value: number | string | null): boolean {
  return match === 'empty' ? value === '' : match === 'null+nan' && (value === null || Number.isNaN(value));
}

/** The lowest step has no bound, and is that of a missing value. */
function stepOf({ steps }: Thresholds, value: number | null): string {
  const reached = steps.filter((step) => step.value === null || (value !== null && value >= step.value));
  return reached.at(-1)?.color ?? '';
}
