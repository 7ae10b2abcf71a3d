import type { ShippedPanel, ShippedTarget } from '../shipped-dashboards.ts';
import { type Field, type Frame, loadGrafanaData } from './grafana-data.ts';

const grafana = loadGrafanaData();
const theme = grafana.createTheme({ colors: { mode: 'dark' } });

/** The result of a query: labels and value of each series. */
export type QueryResult = readonly (readonly [labels: Readonly<Record<string, string>>, value: number | null])[];

/**
 * The rows of a table, or the values of stats: what Grafana displays of the results of the queries. A cell is its text, with its color unless
 * that is the one of all text.
 */
export async function render(
  panel: ShippedPanel,
  results: readonly QueryResult[],
): Promise<readonly (readonly string[])[]> {
  return panel.type === 'table' ? tableRows(panel, results) : statRows(panel, results);
}

async function tableRows(
  panel: ShippedPanel,
  results: readonly QueryResult[],
): Promise<readonly (readonly string[])[]> {
  const frames = (panel.targets ?? []).map((target, index) =>
    tableFrame(target, results[index] ?? [], results.length > 1 ? `Value #${target.refId}` : 'Value'),
  );
  const [frame] = withOverrides(panel, await transformed(panel, frames));
  if (frame === undefined) return [[`${panel.fieldConfig?.defaults.noValue}`]];
  const nameOf = (field: Field) => grafana.getFieldDisplayName(field, frame, [frame]);
  const fields = frame.fields.filter((field) => !isHidden(panel, nameOf(field)));
  return Array.from({ length: frame.length }, (_, row) => fields.map((field) => cell(field, row)));
}

/** Whether a column is there only for links. */
function isHidden({ fieldConfig }: ShippedPanel, title: string): boolean {
  const overrides = fieldConfig?.overrides.filter(({ matcher }) => matcher.options === title) ?? [];
  return overrides.some(({ properties }) => properties.some(({ id, value }) => id === 'custom.hidden' && value));
}

function cell({ values, display, config }: Field, row: number): string {
  const shown = display?.(values[row]) ?? { text: '' };
  const text = grafana.formattedValueToString(shown);
  return config.custom?.cellOptions?.type === 'color-text' ? colored(text, shown.color) : text;
}

function statRows(panel: ShippedPanel, results: readonly QueryResult[]): readonly (readonly string[])[] {
  const data = withOverrides(panel, seriesFrames(panel, results));
  const { fieldConfig, options } = panel;
  const reduceOptions = { calcs: ['lastNotNull'], values: false, fields: '' };
  const values = grafana.getFieldDisplayValues({ data, fieldConfig, reduceOptions, theme, replaceVariables, timeZone });
  return values.map(({ display }) => {
    const text = colored(grafana.formattedValueToString(display), display.color);
    const isNamed = display.title !== undefined && (values.length > 1 || options?.textMode === 'value_and_name');
    return [isNamed ? `${display.title}: ${text}` : text];
  });
}

/** A result in the format `table`, as Grafana's Prometheus data source converts it: a frame without rows has its time and its value. */
function tableFrame({ refId }: ShippedTarget, result: QueryResult, valueName: string): Frame {
  const names = [...new Set(result.flatMap(([labels]) => Object.keys(labels)))].toSorted();
  const labels = names.map(
    (name): Field => ({ name, type: 'string', values: result.map(([labels]) => labels[name] ?? ''), config: {} }),
  );
  const time: Field = { name: 'Time', type: 'time', values: result.map(() => 0), config: {} };
  const value: Field = { name: valueName, type: 'number', values: result.map(([, value]) => value), config: {} };
  return { refId, fields: [time, ...labels, value], length: result.length };
}

/** A frame per series, named by its legend. */
function seriesFrames({ targets = [] }: ShippedPanel, results: readonly QueryResult[]): Frame[] {
  return targets.flatMap(({ refId, legendFormat = '' }, index) =>
    (results[index] ?? []).map(([labels, value]): Frame => {
      const displayNameFromDS = legendFormat.replace(/\{\{(\w+)\}\}/g, (_, label: string) => labels[label] ?? '');
      const time: Field = { name: 'Time', type: 'time', values: [0], config: {} };
      return {
        refId,
        fields: [time, { name: 'Value', type: 'number', values: [value], labels, config: { displayNameFromDS } }],
        length: 1,
      };
    }),
  );
}

function transformed({ transformations = [] }: ShippedPanel, frames: readonly Frame[]): Promise<Frame[]> {
  return new Promise((resolve, reject) => {
    grafana.transformDataFrame(transformations, frames).subscribe({ next: resolve, error: reject });
  });
}

function withOverrides({ fieldConfig: config }: ShippedPanel, data: readonly Frame[]): Frame[] {
  const fieldConfig = { defaults: { ...STANDARD, ...config?.defaults }, overrides: config?.overrides ?? [] };
  return grafana.applyFieldOverrides({ data, fieldConfig, theme, replaceVariables, timeZone, fieldConfigRegistry });
}

const timeZone = 'utc';
const replaceVariables = (text: string) => text;

/** What Grafana adds to a panel without it. */
const STANDARD = {
  color: { mode: 'thresholds' },
  thresholds: {
    mode: 'absolute',
    steps: [
      { value: null, color: 'green' },
      { value: 80, color: 'red' },
    ],
  },
};

/** Applies the values of all properties as they are. */
const fieldConfigRegistry = {
  list: () => DEFAULTS.map(property),
  getIfExists: property,
};

const DEFAULTS = ['unit', 'decimals', 'min', 'max', 'color', 'thresholds', 'mappings', 'noValue', 'links'];

function property(id: string) {
  const isCustom = id.startsWith('custom.');
  const path = id.replace(/^custom\./, '');
  return { id, path, isCustom, settings: {}, process: (value: unknown) => value, shouldApply: () => true };
}

const COLOR_NAMES = new Map([
  ['#ccccdc', 'text'],
  ...['text', 'green', 'red', 'dark-orange', 'blue', 'purple'].map((name): [string, string] => [
    theme.visualization.getColorByName(name),
    name,
  ]),
]);

function colored(text: string, color = ''): string {
  const name = COLOR_NAMES.get(color) ?? color;
  return name === 'text' ? text : `${text} (${name})`;
}
