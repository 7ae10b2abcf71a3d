import { readdirSync, readFileSync } from 'node:fs';

/** The fields of a dashboard file that the tests read. */
export interface ShippedDashboard {
  readonly uid: string;
  /** A collapsed row has panels itself. */
  readonly panels: readonly (ShippedPanel & { readonly panels?: readonly ShippedPanel[] })[];
  readonly templating: { readonly list: readonly ShippedVariable[] };
  readonly annotations: { readonly list: readonly ShippedAnnotation[] };
}

export interface ShippedPanel {
  readonly type: string;
  readonly title: string;
  readonly options?: { readonly textMode?: string };
  readonly targets?: readonly ShippedTarget[];
  readonly fieldConfig?: {
    readonly defaults: FieldProperties;
    readonly overrides: readonly {
      readonly matcher: { readonly options: string };
      readonly properties: readonly { readonly id: string; readonly value: unknown }[];
    }[];
  };
  readonly transformations?: readonly { readonly id: string; readonly options: Readonly<Record<string, object>> }[];
}

interface FieldProperties {
  readonly unit?: string;
  readonly noValue?: string;
  readonly thresholds?: { readonly steps: readonly { readonly value: number | null; readonly color: string }[] };
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
  readonly multi?: boolean;
  readonly includeAll?: boolean;
  readonly allValue?: string;
  readonly current?: { readonly value: string | readonly string[] };
}

interface ShippedAnnotation {
  readonly name: string;
  readonly expr?: string;
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

/** The panels that are queried when the dashboard opens. */
export function openPanelsOf({ panels }: ShippedDashboard): readonly ShippedPanel[] {
  return panels.filter(({ type }) => type !== 'row');
}

export function expressionsOf(panels: readonly ShippedPanel[]): string[] {
  return panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
}

/** The panels of all dashboards by file and title, of these types or of any. */
export function shippedPanels(...types: readonly string[]): [name: string, panel: ShippedPanel][] {
  const panels = shippedDashboards().flatMap(([file, dashboard]) =>
    panelsOf(dashboard).map((panel): [string, ShippedPanel] => [`${file}: ${panel.title}`, panel]),
  );
  return panels.filter(([, { type }]) => types.length === 0 || types.includes(type));
}

/** Parses a variable's `label_values(selector, label)` query. */
export function labelValuesOf({ query }: ShippedVariable): { readonly selector: string; readonly label: string } {
  const text = typeof query === 'string' ? query : query.query;
  const comma = text.lastIndexOf(',');
  return { selector: text.slice('label_values('.length, comma), label: text.slice(comma + 1, -1).trim() };
}

/** Replaces Grafana's built-in variables and the given ones; the format `regex` escapes the value as Grafana does. */
export function interpolate(expression: string, values: Readonly<Record<string, string>>): string {
  const all: Readonly<Record<string, string>> = { __interval: '5s', __rate_interval: '30s', ...values };
  return expression.replace(
    /\$\{(\w+):regex\}|\$([a-z_]\w*)/g,
    (variable, escaped: string | undefined, plain: string | undefined) =>
      escaped === undefined
        ? (all[`${plain}`] ?? variable)
        : (all[escaped]?.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&') ?? variable),
  );
}
