import type { StationChange } from '../resources/changes.ts';
import { resourceLabel } from '../resources/fields.ts';
import { type Columns, documented } from '../text/records.ts';

/** A change in JSON and CSV. */
export const CHANGE_COLUMNS = documented<StationChange>({
  time: ['End of the refresh that found it.', ({ atMs }) => new Date(atMs).toISOString()],
  station: ['Name of the station.', 'station'],
  change: ['`added`, `removed`, `state`, `rules` (number of alert rules) or `type`.', 'change'],
  resource_id: ['ID of the resource.', ({ resource }) => resource.id],
  name: ['Its name.', ({ resource }) => resource.name],
  display_name: ['Its display name.', ({ resource }) => resource.displayName],
  resource_type: ['Its type, after the change.', ({ resource }) => resource.type],
  from: ['State, number of alert rules or type before the change; the last state of a removed resource.', 'from'],
  to: ['The same after the change; the first state of an added resource.', 'to'],
});

/** With the labels of `resource_labels`; one with the name of another column is left out. */
export function changeColumns(labels: readonly string[]): Columns<StationChange> {
  const owners = labels
    .filter((name) => !Object.hasOwn(CHANGE_COLUMNS, name))
    .map((name) => [name, { cell: ({ resource }: StationChange) => resourceLabel(resource, name) }]);
  return { ...CHANGE_COLUMNS, ...Object.fromEntries(owners) };
}
