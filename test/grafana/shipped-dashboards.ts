import { readdirSync, readFileSync } from 'node:fs';

/** The fields of a dashboard file that the tests read. */
export interface ShippedDashboard {
  readonly uid: string;
  readonly panels: readonly (ShippedPanel & ShippedRow)[];
  readonly templating: { readonly list: readonly ShippedVariable[] };
  readonly annotations: { readonly list: readonly ShippedAnnotation[] };
}

interface ShippedRow {
  /** The panels of a collapsed row. */
  readonly panels?: readonly ShippedPanel[];
}

export interface ShippedPanel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly ShippedTarget[];
  readonly maxDataPoints?: number;
  readonly fieldConfig?: {
    readonly defaults: {
      readonly noValue?: string;
      readonly links?: readonly { readonly url: string }[];
    };
    readonly overrides: readonly {
      readonly matcher: { readonly id: string; readonly options: string };
      readonly properties: readonly { readonly id: string; readonly value: unknown }[];
    }[];
  };
  readonly transformations?: readonly { readonly id: string; readonly options: Readonly<Record<string, object>> }[];
}

export interface ShippedTarget {
  readonly refId: string;
  readonly expr: string;
  readonly range: boolean;
  readonly legendFormat?: string;
}

export interface ShippedVariable {
  readonly name: string;
  readonly type: string;
  readonly query: string | { readonly query: string };
  readonly allValue?: string;
  readonly current?: { readonly value: string | readonly string[] };
}

interface ShippedAnnotation {
  readonly name: string;
  readonly builtIn: number;
  readonly expr?: string;
  readonly useValueForTime?: boolean;
}

const FOLDER = new URL('../../grafana/dashboards/', import.meta.url);

/** The dashboards of grafana/dashboards by file name. */
export function shippedDashboards(): [file: string, dashboard: ShippedDashboard][] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
  return files.map((file) => [file, JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'))]);
}

/** All panels except rows, those of collapsed rows included. */
export function panelsOf({ panels }: ShippedDashboard): readonly ShippedPanel[] {
  return panels.flatMap((panel) => (panel.type === 'row' ? (panel.panels ?? []) : [panel]));
}

/** The queries of panels, with a value for what is not in a matcher, so that they can be parsed. */
export function expressionsOf(panels: readonly ShippedPanel[]): string[] {
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => parsable(expr)));
}

export function parsable(expression: string): string {
  return interpolate(expression, { limit: '100' });
}

/** The panels of all dashboards by file and title, of these types or of any. */
export function shippedPanels(...types: readonly string[]): [name: string, panel: ShippedPanel][] {
  const panels = shippedDashboards().flatMap(([file, dashboard]) =>
    panelsOf(dashboard).map((panel): [string, ShippedPanel] => [`${file}: ${panel.title}`, panel]),
  );
  return panels.filter(([, { type }]) => types.length === 0 || types.includes(type));
}

/** The visible columns of a table: the names of the fields and their titles. */
export function columnsOf(panel: ShippedPanel): [field: string, title: string][] {
  const organize = panel.transformations?.find(({ id }) => id === 'organize');
  const columns: [string, string][] = Object.entries(organize?.options['renameByName'] ?? {});
  return columns.filter(([, title]) => !isHidden(panel, title));
}

/** Whether a table has a column only for its links. */
export function isHidden({ fieldConfig }: ShippedPanel, title: string): boolean {
  const overrides = fieldConfig?.overrides.filter(({ matcher }) => matcher.options === title) ?? [];
  return overrides.some(({ properties }) =>
    properties.some(({ id, value }) => id === 'custom.hidden' && value === true),
  );
}

/** The panels that are queried when the dashboard opens. */
export function openPanelsOf({ panels }: ShippedDashboard): readonly ShippedPanel[] {
  return panels.filter(({ type }) => type !== 'row');
}

/** Parses a variable's `label_values(selector, label)` query, or a `query_result(expression)` with the name of the variable as label. */
export function labelValuesOf({ query, name }: ShippedVariable): { readonly selector: string; readonly label: string } {
  const text = typeof query === 'string' ? query : query.query;
  if (text.startsWith('query_result(')) return { selector: text.slice('query_result('.length, -1), label: name };
  const comma = text.lastIndexOf(',');
  return { selector: text.slice('label_values('.length, comma), label: text.slice(comma + 1, -1).trim() };
}

/** Replaces Grafana's built-in variables and the given ones; the format `regex` escapes the value as Grafana does. */
export function interpolate(expression: string, values: Readonly<Record<string, string>>): string {
  const all: Readonly<Record<string, string>> = { __rate_interval: '30s', __range: '1m', ...values };
  return expression.replace(
    /\$\{(\w+):regex\}|\$([a-z_]\w*)/g,
    (variable, escaped: string | undefined, plain: string | undefined) =>
      escaped === undefined
        ? (all[`${plain}`] ?? variable)
        : (all[escaped]?.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&') ?? variable),
  );
}
