import { optionalSample, stationFamilies } from '../../../src/exposition/family.ts';
import { completenessRows } from '../../../src/exposition/health-families.ts';
import type { Listing } from '../../../src/model/listing.ts';
import type { StationSpec } from '../../../src/model/station-spec.ts';

const COMPLETENESS = completenessRows('telemetry_station_silences');

export const SILENCE_FAMILIES = stationFamilies<{ readonly spec: StationSpec; readonly listing: Listing<string> }>()({
  telemetry_station_silences_complete: COMPLETENESS.complete,
  telemetry_station_silences_incomplete: COMPLETENESS.incomplete,
  telemetry_station_silences: {
    help: 'Silenced alerts.',
    exampleTitle: 'Silenced alerts by station',
    example: 'telemetry_station_silences',
    samples: ({ listing }) => optionalSample(listing.size),
  },
});
