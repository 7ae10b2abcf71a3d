import { storedTexts } from '../../../src/exposition/segment.ts';
import { stationTexts } from '../../../src/exposition/text-format.ts';
import type { ListingKind, StationSource } from '../../../src/model/listing.ts';
import type { StationSpec } from '../../../src/model/station-spec.ts';
import { isObject } from '../../../src/model/values.ts';
import type { MetricsOnly, StationCollector } from '../../../src/stations/collector.ts';
import { SILENCE_FAMILIES } from './families.ts';

/** An invented listing: the silenced alerts of a station. */
const SILENCES: ListingKind<string> = {
  name: 'silences',
  path: 'silences',
  field: 'silences',
  idField: 'silence_id',
  fields: [],
  read: (record) => {
    const id = isObject(record) ? record['silence_id'] : undefined;
    return typeof id === 'string' ? { row: id, id, invalid: [] } : undefined;
  },
};

export function silenceCollector(spec: StationSpec, source: StationSource): StationCollector<MetricsOnly> {
  const list = source.lister(SILENCES);
  return {
    name: 'silences',
    async collect(context) {
      const listing = await list({}, context);
      const families = storedTexts(stationTexts(Object.values(SILENCE_FAMILIES), [{ spec, listing }]));
      const repeated = [{ pages: listing.pages, intervalMs: spec.cache.ttlMs }];
      const served = { data: undefined, families, withheld: 0, repeated };
      return { served, report: undefined, commit: () => undefined };
    },
    adopt: () => undefined,
  };
}
