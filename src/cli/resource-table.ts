import { alertableOf, type Resource, type ResourceColumn, type ResourceColumnName } from '../resources/fields.ts';
import { shortTypes, stateWord } from '../status/resource-words.ts';
import { type Colour, type Screen, type TextColumn, tableOf } from './table.ts';

interface Layout extends Partial<Pick<TextColumn<Resource>, 'cell' | 'minWidth' | 'colour'>> {
  /** On a terminal of limited width instead of the exact value. */
  readonly brief?: (resource: Resource, typeNames: ReadonlyMap<string, string>) => string;
}

const LAYOUTS: Readonly<Partial<Record<ResourceColumnName, Layout>>> = {
  // As wide as a UUID.
  resource_id: { minWidth: 36 },
  resource_type: { brief: ({ type }, names) => names.get(type) ?? type },
  state: { brief: ({ state }) => stateWord(state) },
  alert_state: { colour: (cell) => ALERT_STATE_COLOURS.get(cell) },
  alertable: { cell: alertableOf },
  created: { brief: createdText },
};

/** `columns`: as in JSON and CSV; those without a rank are left out. */
export function resourceTable(
  resources: readonly Resource[],
  columns: Readonly<Record<string, ResourceColumn>>,
  screen: Screen | undefined,
) {
  const isBrief = Number.isFinite(screen?.columns);
  const typeNames = shortTypes(isBrief ? resources.map(({ type }) => type) : []);
  const ranked = Object.entries(columns).filter(([, { rank }]) => rank !== undefined);
  const shown = ranked.map(([name, exact]) => {
    const { brief, ...column } = { ...exact, ...LAYOUTS[name as ResourceColumnName] };
    return isBrief && brief ? { ...column, cell: (resource: Resource) => brief(resource, typeNames) } : column;
  });
  return tableOf(shown, resources, screen);
}

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
