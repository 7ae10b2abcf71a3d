import { labelList } from '../../prometheus/promql/cluster.ts';
import {
  ageThresholds,
  listingMappings,
  MAX_STALE_S,
  NEVER_S,
  neverMappings,
  redBelowOne,
  UNIT,
  upMappings,
} from './appearance.ts';
import { categories, colorReasons, stackedSteps, stat, stateTimeline, timeseries, withLimit } from './panel.ts';
import { BY_STATION, BY_TARGET, instantQuery, orNone, rangeQuery, type Scope } from './query.ts';

const LAST_SUCCESS = 'telemetry_station_last_success_timestamp_seconds';

/** Exporters seen within the time range, including those that are down now. */
export function knownExporters(scope: Scope): string {
  return `last_over_time(${scope.series('telemetry_station_exporter_build_info')}[$__range])`;
}

export const exportersUp = (scope: Scope) =>
  stat(
    {
      title: 'Exporters up',
      description: 'Share of the exporters seen within the time range that are up.',
      unit: UNIT.ratio,
    },
    instantQuery(`avg by ${labelList()} (${scope.series('up')} and on ${BY_TARGET} ${knownExporters(scope)})`),
  )
    .thresholds(redBelowOne())
    .decimals(0);

/** Seconds since the last successful refresh of each station; a refresh may succeed after the scrape's timestamp. */
export function dataAge(lastSuccess: string): string {
  return `clamp_min(time() - ${lastSuccess}, 0)`;
}

export function oldestData(scope: Scope) {
  const age = dataAge(`(${scope.deduplicated(LAST_SUCCESS)} or ${scope.gone(LAST_SUCCESS)})`);
  const never = `${NEVER_S} * (${scope.deduplicated('telemetry_station_up')} >= bool 0)`;
  return stat(
    {
      title: 'Oldest data',
      description:
        'Longest time since the last successful refresh of a station. Orange from 5 minutes, red from 15 minutes, the default of `max_stale`.',
      unit: UNIT.seconds,
    },
    instantQuery(`max by ${labelList()} (${age} or ${never})`),
  )
    .thresholds(ageThresholds())
    .mappings(neverMappings)
    .decimals(0);
}

/** 1 for a listing that is verified complete, half less if records were rejected, 1 less if it is incomplete for another reason. */
export function listingState(scope: Scope): string {
  const incomplete = (reason: string) =>
    `max by ${BY_STATION} (${scope.series('telemetry_station_listing_incomplete', { reason })})`;
  return `(1 - ${incomplete('!="rejected_records"')} - ${incomplete('="rejected_records"')} / 2)`;
}

export const listingStat = (scope: Scope) =>
  stat(
    {
      title: 'Listing',
      description:
        'Whether the served snapshot is verified complete. An incomplete one may be missing resources. `Rejected`: it misses only records without a usable id.',
      unit: UNIT.short,
    },
    instantQuery(`min by ${labelList()} (${listingState(scope)} or 0 * ${scope.stationState()} + 0.75)`),
  ).mappings(listingMappings);

export function upTimeline(scope: Scope) {
  const up = scope.deduplicated('telemetry_station_up');
  const average = `max by ${BY_STATION} (avg_over_time(${scope.series('telemetry_station_up')}[$__range] @ end()))`;
  return stateTimeline(
    {
      title: 'Refresh status by station',
      description:
        'Whether the latest refresh succeeded: the 20 stations that failed most often within the time range.',
      unit: UNIT.short,
    },
    rangeQuery(scope.withStationName(`(${up} and on ${BY_STATION} bottomk(20, ${average}))`), '{{station_label}}'),
  ).mappings(upMappings);
}

export const failuresByReason = (scope: Scope) =>
  colorReasons(
    stackedSteps(
      {
        title: 'Failing stations by reason',
        description: 'Stations whose latest refresh failed, by reason. `none`: no station fails.',
        unit: UNIT.short,
      },
      rangeQuery(
        orNone(
          `${scope.sum('telemetry_station_failure', ['reason'])} > 0`,
          'reason',
          scope.series('telemetry_station_up'),
        ),
        '{{reason}}',
      ),
    ),
  );

export const ageByStation = (scope: Scope) =>
  withLimit(
    categories(
      timeseries(
        {
          title: 'Data age',
          description:
            'Time since the last successful refresh in hours, minutes and seconds: the 20 oldest. The line at 15 minutes is the default of `max_stale`: older data is no longer published.',
          unit: UNIT.clock,
        },
        rangeQuery(
          scope.withStationName(`topk(20, ${dataAge(scope.deduplicated(LAST_SUCCESS))})`),
          '{{station_label}}',
        ),
      ),
    ),
    MAX_STALE_S,
  );

export const refreshDuration = (scope: Scope) =>
  categories(
    timeseries(
      {
        title: 'Refresh duration',
        description: 'Duration of the latest refresh, including all listings: the 20 longest.',
        unit: UNIT.seconds,
      },
      rangeQuery(
        scope.withStationName(`topk(20, ${scope.deduplicated('telemetry_station_refresh_duration_seconds')})`),
        '{{station_label}}',
      ),
    ),
  );
