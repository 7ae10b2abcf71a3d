import * as z from 'zod';
import { COLLECTED_FAMILIES, FAMILY_DESCRIPTIONS } from '../collectors/collectors.ts';
import type { FamilyDescription } from '../exposition/family.ts';
import { duration, integer, optionalKey, timerDuration } from '../schema/scalar-schemas.ts';

export const cache = z.strictObject({
  ttl: timerDuration.prefault('60s').describe('Serve a snapshot younger than this without querying the service.'),
  max_stale: duration
    .prefault('6h')
    .describe('Serve the last successful snapshot for this long while refreshes fail, counted from the first failure.'),
  error_ttl: timerDuration.prefault('10s').describe('Minimum time before a failed station is refreshed again.'),
  refresh: z
    .enum(['scrape', 'background'])
    .prefault('scrape')
    .describe(
      'When to refresh a snapshot older than `ttl`: on the next `scrape`, or in the `background` by a jittered timer.',
    ),
});

/** What a station can override of it. */
export const stationCache = z.strictObject({
  ttl: optionalKey(timerDuration, 'Overrides `cache.ttl`.'),
  max_stale: optionalKey(duration, 'Overrides `cache.max_stale`.'),
  error_ttl: optionalKey(timerDuration, 'Overrides `cache.error_ttl`.'),
});

export const metrics = z.strictObject({
  per_resource: z.boolean().prefault(true).describe('Expose series for each resource.'),
  max_resources: integer(0)
    .prefault(100_000)
    .describe(
      'Maximum number of resources per station; above it, per-resource series are withheld and aggregates stay exact.',
    ),
  max_firing_resources: integer(0)
    .prefault(500)
    .describe(
      'Maximum number of firing resources per station; above it, `telemetry_station_resource_firing` is withheld and counts stay exact.',
    ),
  disabled: z
    .array(familyName(FAMILY_DESCRIPTIONS, 'the name of a metric family'))
    .prefault([])
    .describe('Names of metric families to disable.'),
});

/** What a station can override of them. */
export const stationMetrics = z.strictObject({
  per_resource: optionalKey(z.boolean(), 'Overrides `metrics.per_resource`.'),
  max_resources: optionalKey(integer(0), 'Overrides `metrics.max_resources`.'),
  max_firing_resources: optionalKey(integer(0), 'Overrides `metrics.max_firing_resources`.'),
  disabled: optionalKey(
    z.array(familyName(COLLECTED_FAMILIES, 'the name of a metric family of a station')),
    'Overrides `metrics.disabled` for the families of this station.',
  ),
});

function familyName(families: readonly FamilyDescription[], expected: string) {
  const names = families.map(({ name }) => name);
  return z.enum(names, { error: expected });
}
