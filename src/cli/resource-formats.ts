import { csvPieces, jsonPieces } from '../station/records.ts';
import { RESOURCE_COLUMNS, type Resource } from '../station/resource.ts';
import { alertableOf } from '../station/selection.ts';
import { tableLines } from './table.ts';

/** Output formats of a list of resources; each yields the text in pieces. */
export const RESOURCE_FORMATS = {
  table: tablePieces,
  json: (resources: readonly Resource[]) => jsonPieces(RESOURCE_COLUMNS, resources),
  csv: (resources: readonly Resource[]) => csvPieces(RESOURCE_COLUMNS, resources),
} as const satisfies Readonly<Record<string, (resources: readonly Resource[]) => Iterable<string>>>;

const TABLE = [
  { heading: 'ID', cell: RESOURCE_COLUMNS.resource_id.value },
  { heading: 'NAME', cell: RESOURCE_COLUMNS.name.value },
  { heading: 'DISPLAY NAME', cell: RESOURCE_COLUMNS.display_name.value },
  { heading: 'TYPE', cell: RESOURCE_COLUMNS.resource_type.value },
  { heading: 'PRODUCT', cell: RESOURCE_COLUMNS.product.value },
  { heading: 'STATE', cell: RESOURCE_COLUMNS.state.value },
  { heading: 'ALERTABLE', cell: alertableOf },
  { heading: 'RULES', cell: RESOURCE_COLUMNS.alert_rules.value, right: true },
  { heading: 'CREATED', cell: RESOURCE_COLUMNS.created.value },
  { heading: 'SKU', cell: RESOURCE_COLUMNS.sku.value },
  { heading: 'GPU MODEL', cell: RESOURCE_COLUMNS.gpu_model.value },
] as const;

function tablePieces(resources: readonly Resource[]): Iterable<string> {
  return tableLines(
    TABLE,
    resources.map((resource) => TABLE.map(({ cell }) => String(cell(resource) ?? ''))),
  );
}
