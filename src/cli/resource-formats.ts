import type { Resource } from '../station/resource.ts';
import { alertableOf } from '../station/selection.ts';
import { tableLines } from './table.ts';

/** What is told of a resource, under the names that its labels have; null is what the service did not give or gave unusably. */
const RESOURCE_COLUMNS = {
  resource_id: ({ id }) => id,
  name: ({ name }) => name,
  display_name: ({ displayName }) => displayName,
  resource_type: ({ type }) => type,
  resource_type_label: ({ typeLabel }) => typeLabel,
  product: ({ product }) => product,
  state: ({ state }) => state,
  alertable: ({ alertable }) => alertable ?? null,
  alert_rules: ({ alertRules }) => alertRules ?? null,
  created: ({ createdSeconds }) => (createdSeconds === undefined ? null : new Date(createdSeconds * 1000).toISOString()),
  sku: ({ sku }) => sku,
  sku_quantity: ({ quantity }) => quantity?.value ?? null,
  sku_unit: ({ quantity }) => quantity?.unit ?? null,
  gpu_model: ({ gpuModel }) => gpuModel,
} as const satisfies Readonly<Record<string, (resource: Resource) => string | number | boolean | null>>;

/** Resources as text, piece by piece. */
export const RESOURCE_FORMATS = { table: tablePieces, json: jsonPieces, csv: csvPieces } as const satisfies Readonly<
  Record<string, (resources: readonly Resource[]) => Iterable<string>>
>;

const TABLE = [
  { heading: 'ID', cell: RESOURCE_COLUMNS.resource_id },
  { heading: 'NAME', cell: RESOURCE_COLUMNS.name },
  { heading: 'DISPLAY NAME', cell: RESOURCE_COLUMNS.display_name },
  { heading: 'TYPE', cell: RESOURCE_COLUMNS.resource_type },
  { heading: 'PRODUCT', cell: RESOURCE_COLUMNS.product },
  { heading: 'STATE', cell: RESOURCE_COLUMNS.state },
  { heading: 'ALERTABLE', cell: alertableOf },
  { heading: 'RULES', cell: RESOURCE_COLUMNS.alert_rules, right: true },
  { heading: 'CREATED', cell: RESOURCE_COLUMNS.created },
  { heading: 'SKU', cell: RESOURCE_COLUMNS.sku },
  { heading: 'GPU MODEL', cell: RESOURCE_COLUMNS.gpu_model },
] as const;

function tablePieces(resources: readonly Resource[]): Iterable<string> {
  return tableLines(
    TABLE,
    resources.map((resource) => TABLE.map(({ cell }) => String(cell(resource) ?? ''))),
  );
}

const COLUMNS = Object.entries(RESOURCE_COLUMNS);

/** One array with an object per line. */
function* jsonPieces(resources: readonly Resource[]): Iterable<string> {
  let separator = '[\n';
  for (const resource of resources) {
    yield separator + jsonText(Object.fromEntries(COLUMNS.map(([name, cell]) => [name, cell(resource)])));
    separator = ',\n';
  }
  yield resources.length === 0 ? '[]\n' : '\n]\n';
}

/** Characters that a terminal may act on stand as escapes: the data is the same. */
function jsonText(value: object): string {
  return JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );
}

/** By RFC 4180, with a line of headings. */
function* csvPieces(resources: readonly Resource[]): Iterable<string> {
  yield csvLine(COLUMNS.map(([name]) => name));
  for (const resource of resources) yield csvLine(COLUMNS.map(([, cell]) => csvText(cell(resource))));
}

function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`;
}

/** What a spreadsheet would take for a formula; people put their names into it, and others open them. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

function csvText(value: string | number | boolean | null): string {
  const text = String(value ?? '');
  return FORMULA.test(text) ? `'${text}` : text;
}
