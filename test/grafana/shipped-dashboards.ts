import { readdirSync, readFileSync } from 'node:fs';

/** The fields of a dashboard file that the tests read. */
export interface ShippedDashboard {
  readonly title: string;
  readonly uid: string;
  readonly tags: readonly string[];
  readonly editable: boolean;
  readonly schemaVersion: number;
  readonly graphTooltip: number;
  readonly panels: readonly ShippedPanel[];
  readonly templating: { readonly list: readonly ShippedVariable[] };
  readonly annotations: { readonly list: readonly ShippedAnnotation[] };
  readonly links: readonly Readonly<Record<string, unknown>>[];
}

export interface ShippedPanel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly description?: string;
  readonly datasource?: { readonly uid: string };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly ShippedTarget[];
  readonly options?: { readonly legend?: { readonly showLegend: boolean } };
  readonly fieldConfig?: {
    readonly defaults: {
      readonly unit?: string;
      readonly noValue?: string;
      readonly thresholds?: object;
      readonly mappings?: readonly object[];
      readonly custom?: { readonly minWidth?: number };
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
  readonly instant: boolean;
  readonly range: boolean;
  readonly legendFormat?: string;
  readonly datasource: { readonly uid: string };
}

export interface ShippedVariable {
  readonly name: string;
  readonly type: string;
  readonly label: string;
  readonly query: string | { readonly query: string };
  readonly datasource?: { readonly uid: string };
  readonly multi: boolean;
  readonly includeAll: boolean;
  readonly allValue?: string;
  readonly refresh?: number;
  readonly current?: { readonly value: string | readonly string[] };
}

interface ShippedAnnotation {
  readonly name: string;
  readonly builtIn: number;
  readonly expr?: string;
  readonly placement?: string;
}

const FOLDER = new URL('../../grafana/dashboards/', import.meta.url);

/** The dashboards of grafana/dashboards by file name. */
export function shippedDashboards(): [file: string, dashboard: ShippedDashboard][] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.json'));
  return files.map((file) => [file, JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'))]);
}

/** All panels except rows. */
export function panelsOf({ panels }: ShippedDashboard): readonly ShippedPanel[] {
  return panels.filter(({ type }) => type !== 'row');
}

/** Parses a variable's `label_values(selector, label)` query. */
export function labelValuesOf({ query }: ShippedVariable): { readonly selector: string; readonly label: string } {
  const text = typeof query === 'string' ? query : query.query;
  const comma = text.lastIndexOf(',');
  return { selector: text.slice('label_values('.length, comma), label: text.slice(comma + 1, -1).trim() };
}

/** Replaces Grafana's built-in variables and the given ones. */
export function interpolate(expression: string, values: Readonly<Record<string, string>>): string {
  const all: Readonly<Record<string, string>> = { __rate_interval: '30s', __range: '1m', ...values };
  return expression.replace(/\$(\w+)/g, (variable, name: string) => all[name] ?? variable);
}
