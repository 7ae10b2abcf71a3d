import { colorStates, ranking, stacked, stat, withoutPrefix } from './panel.ts';
import { FIRING, named, type Scope } from './query.ts';
import { now, over } from './target.ts';
import { UNIT } from './units.ts';

/** How many resources there are: 0, not nothing, for a station that was listed and has none. */
export function resourceCount(scope: Scope, by: readonly ('job' | 'station')[] = []): string {
  return `${scope.sum('telemetry_station_resources', by)} or 0 * ${scope.sum('telemetry_station_listing_complete', by)}`;
}

export function firingCount(scope: Scope, by: readonly ('job' | 'station')[] = []): string {
  return `${scope.sum('telemetry_station_resources', by, { state: FIRING })} or 0 * ${scope.sum('telemetry_station_resources', by)}`;
}

const nothing = 'No resources listed';

export const resourcesNow = (scope: Scope) =>
  stat(
    { title: 'Resources', description: 'Resources attached to the selected stations, each counted once.', unit: UNIT.count, nothing },
    now(resourceCount(scope)),
  );

export const byState = (scope: Scope) =>
  colorStates(
    stacked(
      {
        title: 'Resources by state',
        description: 'Resources by alert state, as the service sends it. A state that is new appears under its own name.',
        unit: UNIT.short,
        nothing,
      },
      over(named('state', scope.sum('telemetry_station_resources', ['state'])), '{{state}}'),
    ),
  );

export const byType = (scope: Scope) =>
  withoutPrefix(
    stacked(
      {
        title: 'Resources by type',
        description: 'Resources by type: the 20 most common ones at each moment.',
        unit: UNIT.short,
        nothing,
      },
      over(named('resource_type', `topk(20, ${scope.sum('telemetry_station_resources', ['resource_type'])})`), '{{resource_type}}'),
    ),
    'resource_type.',
  );

export const byProduct = (scope: Scope) =>
  withoutPrefix(
    ranking(
      {
        title: 'Resources by product',
        description: 'Resources by configured product, the 15 largest. `none` holds those of no configured product.',
        unit: UNIT.count,
        nothing,
      },
      now(named('product', `topk(15, ${scope.sum('telemetry_station_resources', ['product'])})`), '{{product}}'),
    ),
    'product.',
  );

export const byStation = (scope: Scope) =>
  ranking(
    { title: 'Resources by station', description: 'The 15 stations with the most resources.', unit: UNIT.count, nothing },
    now(`topk(15, ${scope.sum('telemetry_station_resources', ['station'])})`, '{{station}}'),
  );
