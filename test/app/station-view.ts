import type { StationSpec } from '../../src/model/station-spec.ts';
import { Aggregation } from '../../src/resources/aggregates.ts';
import type { EncodedSnapshot } from '../../src/resources/encoder.ts';
import type { Resource } from '../../src/resources/fields.ts';
import { LabelValues } from '../../src/resources/label-values.ts';
import { NOTHING_KNOWN } from '../../src/resources/last-known.ts';
import type { Snapshot } from '../../src/resources/snapshot.ts';
import type { StationView } from '../../src/stations/station-cache.ts';
import { listingOf, specOf } from '../stations/fixtures.ts';

/** A station with a snapshot of these resources. */
export function viewOf(
  resources: readonly Resource[],
  changes: Partial<StationSpec> = {},
  listing: Partial<Snapshot> = {},
  withheldFiring = 0,
): StationView<EncodedSnapshot> & { served: object } {
  const spec = specOf(changes);
  const aggregates = new Aggregation();
  const values = new LabelValues(spec.labelValues);
  aggregates.addResources(resources, spec.alertability, values);
  return {
    spec,
    health: { lastAttemptMs: 2000, lastSuccessMs: 2000, durationMs: 12, failure: undefined },
    dueInMs: 345,
    isRefreshing: false,
    waitingMs: undefined,
    served: {
      publication: {
        spec,
        snapshot: listingOf(resources, listing),
        churn: new Map(),
        lastKnown: NOTHING_KNOWN,
        values,
      },
      encoded: { families: new Map(), withheld: 7, withheldFiring, aggregates },
    },
  };
}
