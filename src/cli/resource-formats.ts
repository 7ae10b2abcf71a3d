import { RESOURCE_COLUMNS, type Resource } from '../station/resource.ts';
import { alertableOf } from '../station/selection.ts';
import { printable, tableLines } from './table.ts';

/** Output formats of a list of resources; each yields the text in pieces. */
export const RESOURCE_FORMATS = { table: tablePieces, json: jsonPieces, csv: csvPieces } as const satisfies Readonly<
  Record<string, (resources: readonly Resource[]) => Iterable<string>>
>;

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

const COLUMNS = Object.entries(RESOURCE_COLUMNS);

/** A JSON array with one object per line. */
function* jsonPieces(resources: readonly Resource[]): Iterable<string> {
  let separator = '[\n';
  for (const resource of resources) {
    yield separator + jsonText(Object.fromEntries(COLUMNS.map(([name, { value }]) => [name, value(resource)])));
    separator = ',\n';
  }
  yield resources.length === 0 ? '[]\n' : '\n]\n';
}

/** Escapes control and format characters, which does not change the data. */
function jsonText(value: object): string {
  return JSON.stringify(value).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );
}

/** RFC 4180 with a header line; a resource is always one line. JSON has the exact data. */
function* csvPieces(resources: readonly Resource[]): Iterable<string> {
  yield csvLine(COLUMNS.map(([name]) => name));
  for (const resource of resources) yield csvLine(COLUMNS.map(([, { value }]) => csvText(value(resource))));
}

function csvLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(',')}\r\n`;
}

/** Text that a spreadsheet would evaluate as a formula; it ignores leading spaces of any kind. */
const FORMULA = /^\p{Zs}*[=+\-@\uff1d\uff0b\uff0d\uff20]/u;

function csvText(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return String(value ?? '');
  const text = printable(value);
  return FORMULA.test(text) ? `'${text}` : text;
}
