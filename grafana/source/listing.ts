import { timeseries } from './panel.ts';
import { Scope } from './query.ts';
import { over } from './target.ts';
import { UNIT } from './units.ts';

const nothing = 'No snapshot';

/** Whatever type or product is selected: the service's total speaks of all. */
const whole = new Scope('station');

export const reported = () =>
  timeseries(
    {
      title: 'Reported and received',
      description:
        'The total that the service reports, where it does, and the resources received. Apart for long, the listing misses some.',
      unit: UNIT.short,
      nothing,
    },
    over(whole.sum('telemetry_station_listing_reported_resources', ['station']), '{{station}}: reported'),
    over(whole.sum('telemetry_station_resources', ['station']), '{{station}}: received'),
  );

export const oddRecords = () =>
  timeseries(
    {
      title: 'Pages and odd records',
      description: 'The pages that the snapshot took, records that came again under an id already taken, and records without a usable id.',
      unit: UNIT.short,
      nothing,
    },
    over(whole.sum('telemetry_station_listing_pages', ['station']), '{{station}}: pages'),
    over(whole.sum('telemetry_station_listing_duplicate_resources', ['station']), '{{station}}: again'),
    over(whole.sum('telemetry_station_listing_rejected_resources', ['station']), '{{station}}: rejected'),
  );

export const unreadableFields = () =>
  timeseries(
    {
      title: 'Unreadable fields',
      description: 'Field values that could not be read, by field; fields without any are left out.',
      unit: UNIT.short,
      nothing: 'Every field could be read',
    },
    over(`${whole.sum('telemetry_station_listing_invalid_fields', ['field'])} > 0`, '{{field}}'),
  );
