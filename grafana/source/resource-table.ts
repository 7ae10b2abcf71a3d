import { deduplicate } from '../../prometheus/promql/metric.ts';
import { SAME_RESOURCE } from '../../prometheus/source/rule.ts';
import { productMappings, UNIT } from './appearance.ts';
import { resourceLink, stationLink } from './build-dashboard.ts';
import { CLUSTER_COLUMN, type Column, JOB_COLUMN, type Link, table } from './panel.ts';
import { type Scope, tableQuery } from './query.ts';

/** Marks panels whose cost grows with the number of resources. */
export const READS_EACH_RESOURCE =
  'Reads at least one series per resource of the selected stations: narrow the selection if there are very many.';

export const NO_RESOURCE_SERIES = 'None, not scraped or refreshed, or per-resource series are not published';

/** Age of the resources that `infos` selects, with their labels. Resources without a creation time are left out. */
export function ageOf(scope: Scope, infos: string): string {
  const created = scope.series('telemetry_station_resource_created_timestamp_seconds');
  return `(time() - ${created}) * ${SAME_RESOURCE} group_right () (${infos})`;
}

/** Resources without alert rules, except those known not to be alertable. */
export function withoutRules(scope: Scope): string {
  const infos = scope.series('telemetry_station_resource_info', { alertable: '!="false"' });
  return `${infos} and ${SAME_RESOURCE} (${scope.series('telemetry_station_resource_alert_rules')} == 0)`;
}

/** The links to a station and to a resource read both fields. */
export const STATION_COLUMNS: readonly Column[] = [
  { field: 'station', title: 'Station', link: stationLink },
  JOB_COLUMN,
  CLUSTER_COLUMN,
];

export const resourceColumns = (link: Link): readonly Column[] => [
  { field: 'display_name', title: 'Resource', link, wrap: true },
  { field: 'name', title: 'Name', wrap: true },
  { field: 'resource_type_label', title: 'Type', wrap: true },
  { field: 'sku', title: 'SKU', width: 110 },
];

/** In one line: a wrapped id would make each row twice as high. */
export const ID_COLUMN: Column = { field: 'resource_id', title: 'ID' };

export const PRODUCT_COLUMN: Column = { field: 'product', title: 'Product', mappings: productMappings };

export const AGE_COLUMN: Column = { field: 'Value', title: 'Age', unit: UNIT.seconds, decimals: 1, width: 90 };

interface AgeTable {
  readonly title: string;
  readonly description: string;
  /** Selects the resources, with their age as the value. */
  readonly expression: string;
  readonly oldestFirst: boolean;
}

export function ageTable(scope: Scope, { title, description, expression, oldestFirst }: AgeTable) {
  return table(
    { title, description: `${description} ${READS_EACH_RESOURCE}`, noValue: NO_RESOURCE_SERIES },
    [tableQuery(scope.withTypeName(deduplicate('telemetry_station_resource_info', expression)))],
    [...resourceColumns(resourceLink), PRODUCT_COLUMN, AGE_COLUMN, ...STATION_COLUMNS, ID_COLUMN],
    { by: AGE_COLUMN.field, descending: oldestFirst },
  );
}
