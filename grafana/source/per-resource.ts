import { once, SAME_RESOURCE, type Scope } from './query.ts';
import { type Column, type Link, table } from './table.ts';
import { rows } from './target.ts';
import { UNIT } from './units.ts';

/** What a panel says whose queries read more series than it shows. */
export const READS_EACH_RESOURCE =
  'Reads one series and more for each resource of the selected stations: narrow the selection where there are very many.';

/** The age of each resource that the info series name, with their labels; one without a creation time is not among them. */
export function ageOf(scope: Scope, infos: string): string {
  const created = scope.series('telemetry_station_resource_created_timestamp_seconds');
  return `(time() - ${created}) * ${SAME_RESOURCE} group_right () (${infos})`;
}

/** Resources that can have alerts, as far as that is known, and have none. */
export function uncovered(scope: Scope): string {
  const infos = scope.series('telemetry_station_resource_info', { alertable: '!="false"' });
  return `${infos} and ${SAME_RESOURCE} (${scope.series('telemetry_station_resource_alert_rules')} == 0)`;
}

/** How what describes a resource is shown. */
export function describing(link: Link): Column[] {
  return [
    { field: 'display_name', title: 'Display name', link },
    { field: 'name', title: 'Name', width: 140 },
    { field: 'resource_type', title: 'Type' },
    { field: 'sku', title: 'Sku', width: 100 },
  ];
}

const AGE: Column = { field: 'Value', title: 'Age', unit: UNIT.seconds, decimals: 1, width: 95 };

interface Extremes {
  readonly title: string;
  readonly description: string;
  readonly nothing: string;
  /** The resources to list, with their age as value. */
  readonly expression: string;
  readonly columns: readonly Column[];
  readonly oldestFirst: boolean;
}

/** Resources by age. */
export function byAge({ title, description, nothing, expression, columns, oldestFirst }: Extremes) {
  const about = { title, description: `${description} ${READS_EACH_RESOURCE}`, nothing };
  return table(about, [rows(once('telemetry_station_resource_info', expression))], [...columns, AGE, ID], {
    by: AGE.title,
    descending: oldestFirst,
  });
}

export const ID: Column = { field: 'resource_id', title: 'Id', width: 120 };
