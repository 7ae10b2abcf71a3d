import { csvPieces, jsonPieces } from '../inventory/records.ts';
import { shortTypes, stateWord } from '../inventory/resource-words.ts';
import { alertableOf } from '../inventory/selection.ts';
import { RESOURCE_COLUMNS, type Resource, type ResourceColumnName } from '../model/resource.ts';
import { type Colour, type Column, type Screen, tableOf } from './table.ts';

/** What to show of the resources. */
export interface ResourceView {
  /** undefined: all, or in a table those that fit. */
  readonly columns?: readonly ResourceColumnName[] | undefined;
  /** undefined: not a terminal. */
  readonly screen?: Screen | undefined;
}

interface Output {
  /** The text in pieces. */
  readonly pieces: Iterable<string>;
  /** The columns of a table for which the terminal is too narrow. */
  readonly omitted: readonly string[];
}

/** Output formats of a list of resources. */
export const RESOURCE_FORMATS = {
  table: resourceTable,
  json: (resources, { columns }) => ({ pieces: jsonPieces(chosen(columns), resources), omitted: [] }),
  csv: (resources, { columns }) => ({ pieces: csvPieces(chosen(columns), resources), omitted: [] }),
} as const satisfies Readonly<Record<string, (resources: readonly Resource[], view: ResourceView) => Output>>;

function chosen(names: readonly ResourceColumnName[] | undefined) {
  if (names === undefined) return RESOURCE_COLUMNS;
  return Object.fromEntries(names.map((name) => [name, RESOURCE_COLUMNS[name]]));
}

interface ResourceTableColumn extends Column {
  /** Shown unless columns are chosen. */
  readonly isDefault?: true;
  /** In a table instead of the value in JSON and CSV. */
  readonly cell?: (resource: Resource) => string;
  /** On a terminal of limited width instead of the exact value. */
  readonly brief?: (resource: Resource, typeNames: ReadonlyMap<string, string>) => string;
}

/** A UUID. */
const ID_WIDTH = 36;

const TABLE: Readonly<Record<ResourceColumnName, ResourceTableColumn>> = {
  resource_id: { heading: 'ID', isDefault: true, minWidth: ID_WIDTH, keepEnd: true },
  name: { heading: 'NAME', isDefault: true, rank: 5, minWidth: 16, keepEnd: true },
  display_name: { heading: 'DISPLAY NAME', isDefault: true, rank: 1, minWidth: 16 },
  resource_type: {
    heading: 'TYPE',
    isDefault: true,
    rank: 4,
    minWidth: 12,
    keepEnd: true,
    brief: ({ type }, names) => names.get(type) ?? type,
  },
  resource_type_label: { heading: 'TYPE LABEL', rank: 11, minWidth: 12 },
  product: { heading: 'PRODUCT', isDefault: true, rank: 8, minWidth: 12, keepEnd: true },
  state: {
    heading: 'STATE',
    isDefault: true,
    rank: 2,
    minWidth: 12,
    brief: ({ state }) => stateWord(state),
    colour: stateColour,
  },
  alertable: { heading: 'ALERTABLE', isDefault: true, rank: 7, cell: alertableOf },
  alert_rules: { heading: 'RULES', isDefault: true, rank: 3, right: true },
  created: { heading: 'CREATED', isDefault: true, rank: 6, minWidth: 24, brief: createdText },
  sku: { heading: 'SKU', isDefault: true, rank: 9, minWidth: 10 },
  sku_quantity: { heading: 'QUANTITY', rank: 12, right: true },
  sku_unit: { heading: 'UNIT', rank: 13, minWidth: 8 },
  gpu_model: { heading: 'GPU MODEL', isDefault: true, rank: 10, minWidth: 10 },
};

function resourceTable(resources: readonly Resource[], { columns, screen }: ResourceView): Output {
  const names = columns ?? (Object.keys(TABLE) as ResourceColumnName[]).filter((name) => TABLE[name].isDefault);
  // Chosen columns are never omitted.
  const shown = names.map((name) => (columns === undefined ? TABLE[name] : { ...TABLE[name], rank: 0 }));
  const isBrief = Number.isFinite(screen?.columns);
  const typeNames = isBrief ? shortTypes(typesOf(resources)) : new Map<string, string>();
  const cells = names.map((name): ((resource: Resource) => string) => {
    const { cell, brief } = TABLE[name];
    if (brief !== undefined && isBrief) return (resource) => brief(resource, typeNames);
    return cell ?? ((resource) => String(RESOURCE_COLUMNS[name].value(resource) ?? ''));
  });
  const rows = resources.map((resource) => cells.map((cell) => cell(resource)));
  const { lines, omitted } = tableOf(shown, rows, screen);
  return { pieces: lines, omitted };
}

function* typesOf(resources: readonly Resource[]): Iterable<string> {
  for (const { type } of resources) yield type;
}

/** In UTC. */
function createdText({ createdSeconds }: Resource): string {
  return createdSeconds === undefined
    ? ''
    : `${new Date(createdSeconds * 1000).toISOString().slice(0, 16).replace('T', ' ')}`;
}

/** By the words for the states that are known. */
const STATE_COLOURS: Readonly<Record<string, Colour>> = { Firing: 'red', Pending: 'yellow', Inactive: 'green' };

function stateColour(state: string): Colour | undefined {
  const word = stateWord(state);
  return Object.hasOwn(STATE_COLOURS, word) ? STATE_COLOURS[word] : undefined;
}
