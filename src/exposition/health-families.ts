import { DOWN_REASONS, NOT_TRIED_REASON } from '../model/failure.ts';
import type { Health } from '../model/health.ts';
import { INCOMPLETE_REASONS, type Listing } from '../model/listing.ts';
import { labelText } from '../model/values.ts';
import { type HealthSource, optionalSample, stationFamilies } from './family.ts';

/** The families of a station that do not depend on a snapshot. */
export const HEALTH_FAMILIES = stationFamilies<HealthSource>()({
  telemetry_station_info: {
    help: 'Information about the configured telemetry station.',
    labels: ['subscription', 'resource_group', 'zone', 'telemetry_station'],
    exampleTitle: 'Stations by zone and upstream',
    example: 'count by (zone, upstream) (telemetry_station_info)',
    samples: ({ spec: { path } }) => [[1, path.subscription, path.resource_group, path.zone, path.telemetry_station]],
  },
  telemetry_station_up: {
    help: 'Whether the last refresh of the station succeeded; 0 before the first one.',
    exampleTitle: 'Stations whose last refresh failed',
    example: 'telemetry_station_up == 0',
    samples: ({ health }) => [[downReason(health) === undefined ? 1 : 0]],
  },
  telemetry_station_failure: {
    help: 'Whether the station is down for this reason; not_tried before the first refresh.',
    labels: ['reason'],
    exampleTitle: 'Stations that are down, by reason',
    example: 'count by (reason) (telemetry_station_failure == 1)',
    samples: ({ health }) => DOWN_REASONS.map((reason) => [downReason(health) === reason ? 1 : 0, reason]),
  },
  telemetry_station_failure_info: {
    help: 'Why the station is down: the reason, and what the first failure for it said.',
    labels: ['message'],
    exampleTitle: 'Stations that are down, by what their failures say',
    example: 'count by (message) (telemetry_station_failure_info)',
    samples: ({ health }) => {
      const reason = downReason(health);
      return reason === undefined ? [] : [[1, failureText(reason, health.firstMessage)]];
    },
  },
  telemetry_station_last_success_timestamp_seconds: {
    help: 'Timestamp of the last successful refresh, minus the age of replies from a cache; 0 before the first one.',
    exampleTitle: 'Stations without a successful refresh in the last 15 minutes, including those that never had one',
    example: 'time() - telemetry_station_last_success_timestamp_seconds > 900',
    samples: ({ health }) => [[seconds(health.lastSuccessMs) ?? 0]],
  },
  telemetry_station_data_timestamp_seconds: {
    help: 'Timestamp from which the age of the data counts: of the last successful refresh; before the first refresh, when the station was added; 0 if none has succeeded.',
    exampleTitle: 'Age of the data in seconds, by the clock of the exporter',
    example:
      'telemetry_station_exporter_time_seconds - on (job, instance) group_right () telemetry_station_data_timestamp_seconds',
    samples: ({ health: { addedMs, lastAttemptMs, lastSuccessMs } }) => [
      [seconds(lastAttemptMs === undefined ? addedMs : lastSuccessMs) ?? 0],
    ],
  },
  telemetry_station_last_attempt_timestamp_seconds: {
    help: 'Timestamp of the last refresh, successful or not.',
    exampleTitle: 'Stations not refreshed for ten minutes',
    example: 'time() - telemetry_station_last_attempt_timestamp_seconds > 600',
    samples: ({ health }) => optionalSample(seconds(health.lastAttemptMs)),
  },
  telemetry_station_refresh_duration_seconds: {
    help: 'Duration of the last refresh in seconds.',
    exampleTitle: 'Ten slowest stations',
    example: 'topk(10, telemetry_station_refresh_duration_seconds)',
    samples: ({ health }) => optionalSample(seconds(health.durationMs)),
  },
  telemetry_station_collector_up: {
    isExperimental: true,
    help: 'Whether the last refresh of this collector of the station succeeded; only where there are several. That of resources is telemetry_station_up.',
    labels: ['collector'],
    exampleTitle: 'Collectors whose last refresh failed while that of the resources succeeded',
    example: 'telemetry_station_collector_up == 0 unless ignoring (collector) telemetry_station_up == 0',
    samples: (source) =>
      severalCollectors(source).map(({ collector, health }) => [downReason(health) === undefined ? 1 : 0, collector]),
  },
  telemetry_station_collector_failure: {
    isExperimental: true,
    help: 'Whether this collector is down for this reason; only where there are several.',
    labels: ['collector', 'reason'],
    exampleTitle: 'Collectors that are down, by reason',
    example: 'count by (collector, reason) (telemetry_station_collector_failure == 1)',
    samples: (source) =>
      severalCollectors(source).flatMap(({ collector, health }) =>
        DOWN_REASONS.map((reason) => [downReason(health) === reason ? 1 : 0, collector, reason] as const),
      ),
  },
  telemetry_station_collector_last_success_timestamp_seconds: {
    isExperimental: true,
    help: 'Timestamp of the last successful refresh of this collector, which is that of its data; 0 before the first one. Only where there are several.',
    labels: ['collector'],
    exampleTitle: 'Age of what each collector publishes',
    example: 'time() - telemetry_station_collector_last_success_timestamp_seconds',
    samples: (source) =>
      severalCollectors(source).map(({ collector, health }) => [seconds(health.lastSuccessMs) ?? 0, collector]),
  },
});

/** All collectors of a station, or none of a station with one, whose health says the same. */
function severalCollectors(source: HealthSource): HealthSource['further'] {
  return source.further.length === 0 ? [] : [source, ...source.further];
}

/** The rows that say whether a listing was verified complete, for the names `PREFIX_complete` and `PREFIX_incomplete`. */
export function completenessRows(prefix: string) {
  return {
    complete: {
      help: 'Whether the listing was verified complete, without rejected records.',
      exampleTitle: 'Stations that may be missing resources',
      example: `${prefix}_complete == 0`,
      samples: ({ listing }: { readonly listing: Completeness }) => [[listing.complete ? 1 : 0] as const],
    },
    incomplete: {
      help: 'Whether the listing was not verified complete for this reason.',
      labels: ['reason'] as const,
      exampleTitle: 'Why listings are not verified complete',
      example: `${prefix}_incomplete == 1`,
      samples: ({ listing }: { readonly listing: Completeness }) =>
        INCOMPLETE_REASONS.map(
          (known) => [listing.incompleteReasons.some(({ reason }) => reason === known) ? 1 : 0, known] as const,
        ),
    },
  };
}

type Completeness = Pick<Listing<unknown>, 'complete' | 'incompleteReasons'>;

/** Why a station is not up; undefined while it is. */
function downReason({ lastAttemptMs, failure }: Health): (typeof DOWN_REASONS)[number] | undefined {
  return lastAttemptMs === undefined ? NOT_TRIED_REASON : failure?.reason;
}

const MAX_MESSAGE = 200;

/** On one line: texts of alerts have it. */
function failureText(reason: string, message = ''): string {
  const said = labelText(message.slice(0, MAX_MESSAGE).replace(/\s+/g, ' '));
  return said === '' ? reason : `${reason}: ${said}`;
}

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1000;
}
