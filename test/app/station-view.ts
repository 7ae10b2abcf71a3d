import { NO_CHURN } from '../../src/resources/churn.ts';
import type { Resources } from '../../src/resources/collector.ts';
import type { Resource } from '../../src/resources/fields.ts';
import { LabelValues } from '../../src/resources/label-values.ts';
import { NOTHING_KNOWN } from '../../src/resources/last-known.ts';
import type { Snapshot } from '../../src/resources/snapshot.ts';
import type { ResourceSpec } from '../../src/resources/spec.ts';
import type { StationView } from '../../src/stations/station-cache.ts';
import { aggregatesOf, listingOf, specOf } from '../stations/fixtures.ts';

/** A station with a snapshot of these resources. */
export function viewOf(
  resources: readonly Resource[],
  changes: Partial<ResourceSpec> = {},
  listing: Partial<Snapshot> = {},
  withheldFiring = 0,
): StationView<Resources> & { served: NonNullable<StationView<Resources>['served']> } {
  const spec = specOf(changes);
  const values = new LabelValues(spec.labelValues);
  const aggregates = aggregatesOf(resources, spec.alertability, values);
  const snapshot = listingOf(resources, listing);
  return {
    spec,
    collector: 'resources',
    further: [],
    health: {
      addedMs: 1000,
      lastAttemptMs: 2000,
      lastSuccessMs: 2000,
      durationMs: 12,
      failure: undefined,
      firstMessage: undefined,
    },
    dueInMs: 345,
    isRefreshing: false,
    waitingMs: undefined,
    served: {
      data: {
        spec,
        snapshot,
        churn: NO_CHURN,
        lastKnown: NOTHING_KNOWN,
        values,
        withheld: 7,
        withheldFiring,
        aggregates,
        comparison: { result: 'started', base: undefined, nowMs: 0 },
      },
      families: new Map(),
      withheld: 7 + withheldFiring,
      repeated: snapshot.repeated,
    },
  };
}
