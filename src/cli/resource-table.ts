import { RESOURCE_COLUMNS, type Resource, type ResourceColumn, type ResourceColumnName } from '../resources/fields.ts';
import { shortTypes, stateWord } from '../resources/resource-words.ts';
import { alertableOf } from '../resources/selection.ts';
import { type Colour, type Screen, type TextColumn, tableOf } from './table.ts';

/** Without a rank, it is shown only when chosen. */
interface ResourceTableColumn extends Partial<TextColumn<Resource>> {
  readonly heading: string;
  /** On a terminal of limited width instead of the exact value. */
  readonly brief?: (resource: Resource, typeNames: ReadonlyMap<string, string>) => string;
}

const TABLE_COLUMNS: Readonly<Record<ResourceColumnName, ResourceTableColumn>> = {
  // As wide as a UUID.
  resource_id: { heading: 'ID', rank: 0, minWidth: 36 },
  name: { heading: 'NAME', rank: 5 },
  display_name: { heading: 'DISPLAY NAME', rank: 1 },
  resource_type: { heading: 'TYPE', rank: 4, brief: ({ type }, names) => names.get(type) ?? type },
  resource_type_label: { heading: 'TYPE LABEL' },
  product: { heading: 'PRODUCT', rank: 8 },
  state: {
    heading: 'STATE',
    rank: 2,
    brief: ({ state }) => stateWord(state),
  },
  alert_state: { heading: 'ALERT STATE', rank: 2, colour: (cell) => ALERT_STATE_COLOURS.get(cell) },
  alertable: { heading: 'ALERTABLE', rank: 7, cell: alertableOf },
  alert_rules: { heading: 'RULES', rank: 3, isNumber: true },
  created: { heading: 'CREATED', rank: 6, brief: createdText },
  sku: { heading: 'SKU', rank: 9 },
  sku_quantity: { heading: 'QUANTITY', isNumber: true },
  sku_unit: { heading: 'UNIT' },
  gpu_model: { heading: 'GPU MODEL', rank: 10 },
};

/** With the chosen columns, or those that fit. `columns`: as in JSON and CSV. */
export function resourceTable(
  resources: readonly Resource[],
  chosen: readonly string[] | undefined,
  screen: Screen | undefined,
  columns: Readonly<Record<string, ResourceColumn>> = RESOURCE_COLUMNS,
) {
  const isBrief = Number.isFinite(screen?.columns);
  const typeNames = shortTypes(isBrief ? resources.map(({ type }) => type) : []);
  const columnOf = (name: string) => {
    const column = columnNamed(name);
    const { brief, cell = (columns[name] as ResourceColumn).cell } = column;
    return { ...column, cell: isBrief && brief ? (resource: Resource) => brief(resource, typeNames) : cell };
  };
  const shown = chosen
    ? // Never omitted.
      chosen.map((name) => ({ ...columnOf(name), rank: 0 }))
    : Object.keys(columns)
        .map(columnOf)
        .filter(({ rank }) => rank !== undefined);
  return tableOf(shown, resources, screen);
}

/** Any other is a label. */
function columnNamed(name: string): ResourceTableColumn {
  return Object.hasOwn(TABLE_COLUMNS, name)
    ? TABLE_COLUMNS[name as ResourceColumnName]
    : { heading: name.toUpperCase(), rank: 4 };
}

/** The time in UTC, to the minute. */
function createdText({ createdSeconds }: Resource): string {
  return createdSeconds === undefined
    ? ''
    : new Date(createdSeconds * 1000).toISOString().slice(0, 16).replace('T', ' ');
}

/** An unknown one has none: it is neither good nor bad. */
const ALERT_STATE_COLOURS: ReadonlyMap<string, Colour> = new Map([
  ['firing', 'red'],
  ['pending', 'yellow'],
  ['inactive', 'green'],
]);
