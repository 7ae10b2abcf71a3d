import type { Builder, Dataquery } from '@grafana/grafana-foundation-sdk/cog';
import { TableCellHeight, TableSortByFieldStateBuilder } from '@grafana/grafana-foundation-sdk/common';
import type { DynamicConfigValue, ThresholdsConfigBuilder, ValueMapping } from '@grafana/grafana-foundation-sdk/dashboard';
import { PanelBuilder as Table } from '@grafana/grafana-foundation-sdk/table';
import type { About } from './panel.ts';
import { UNIT } from './units.ts';

/** A column: the field that the query gives, and how it is shown. */
export interface Column {
  /** A label, or `Value #B` for the value of the query B; `Value` when there is one query. */
  readonly field: string;
  readonly title: string;
  readonly unit?: string;
  readonly decimals?: number;
  readonly width?: number;
  readonly mappings?: readonly ValueMapping[];
  /** Colours the cell's text. */
  readonly thresholds?: ThresholdsConfigBuilder;
  readonly link?: Link;
}

export interface Link {
  readonly title: string;
  readonly url: string;
}

/** Of a column that is given none: narrower than Grafana's own, so that a table fits a laptop's screen. */
const LEAST_WIDTH = 90;

/** One row for each thing that the queries tell of: they are joined on the labels they share. */
export function table(
  { title, description, nothing }: Omit<About, 'unit'>,
  targets: readonly Builder<Dataquery>[],
  columns: readonly Column[],
  sorted: { readonly by: string; readonly descending: boolean },
): Table {
  const panel = new Table()
    .title(title)
    .description(description)
    .unit(UNIT.short)
    .noValue(nothing)
    .targets([...targets])
    .cellHeight(TableCellHeight.Sm)
    .filterable(true)
    .minWidth(LEAST_WIDTH)
    .sortBy([new TableSortByFieldStateBuilder().displayName(sorted.by).desc(sorted.descending)])
    .withTransformation({ id: 'merge', options: {} })
    .withTransformation({
      id: 'filterFieldsByName',
      options: { include: { names: columns.map(({ field }) => field) } },
    })
    .withTransformation({
      id: 'organize',
      options: {
        excludeByName: {},
        indexByName: Object.fromEntries(columns.map(({ field }, index) => [field, index])),
        renameByName: Object.fromEntries(columns.map(({ field, title }) => [field, title])),
      },
    });
  for (const column of columns) {
    const properties = propertiesOf(column);
    if (properties.length > 0) panel.overrideByName(column.title, properties);
  }
  return panel;
}

function propertiesOf({ unit, decimals, width, mappings, thresholds, link }: Column): DynamicConfigValue[] {
  const colored = mappings !== undefined || thresholds !== undefined;
  return [
    ...(unit === undefined ? [] : [{ id: 'unit', value: unit }]),
    ...(decimals === undefined ? [] : [{ id: 'decimals', value: decimals }]),
    ...(width === undefined ? [] : [{ id: 'custom.width', value: width }]),
    ...(mappings === undefined ? [] : [{ id: 'mappings', value: mappings }]),
    ...(thresholds === undefined ? [] : [{ id: 'thresholds', value: thresholds.build() }]),
    ...(colored ? [{ id: 'custom.cellOptions', value: { type: 'color-text' } }] : []),
    ...(link === undefined ? [] : [{ id: 'links', value: [link] }]),
  ];
}
