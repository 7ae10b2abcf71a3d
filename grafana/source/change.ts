import { fixedColor } from './appearance.ts';
import { bars, colorStates } from './panel.ts';
import type { Scope } from './query.ts';
import { over } from './target.ts';
import { UNIT } from './units.ts';

const nothing = 'No two whole listings yet';

export const addedAndRemoved = (scope: Scope) =>
  bars(
    {
      title: 'Added and removed per hour',
      description:
        'How fast resources come (above the line) and go (below it). Counted between listings that are proven whole, so a failed or incomplete one never looks like a removal.',
      unit: UNIT.short,
      nothing,
    },
    over(scope.hourly('telemetry_station_resources_added_total', []), 'added'),
    over(`-${scope.hourly('telemetry_station_resources_removed_total', [])}`, 'removed'),
  )
    .overrideByName('added', [fixedColor('green')])
    .overrideByName('removed', [fixedColor('orange')]);

export const stateChanges = (scope: Scope) =>
  colorStates(
    bars(
      {
        title: 'State changes per hour',
        description: 'How often resources change their alert state, by the state changed to.',
        unit: UNIT.short,
        nothing,
      },
      over(scope.hourly('telemetry_station_resource_state_changes_total', ['state']), 'to {{state}}'),
    ),
  );
