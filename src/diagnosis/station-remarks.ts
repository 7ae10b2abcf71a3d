import type { DiagnosedStation } from './diagnosis.ts';
import type { Listed } from './facts.ts';
import { type Remark, warning } from './remark.ts';

/** Why a station has no data; else what its data lacks. */
export function stationRemarks(station: DiagnosedStation, scrapeTimeoutMs: number): readonly Remark[] {
  const { result } = station;
  if ('snapshot' in result) return [...listingRemarks(result), ...pageRemarks(station), ...speedRemarks(station, scrapeTimeoutMs)];
  const { what, message: said, advice } = result;
  return [{ severity: 'failure', what, said, advice }];
}

function listingRemarks({ snapshot, withheld }: Listed): readonly Remark[] {
  const { complete, doubts, size, rejected, invalidFields } = snapshot;
  const remarks: Remark[] = [];
  if (!complete) {
    remarks.push(
      warning(
        'The listing is incomplete: it may miss resources, or hold some that are gone.',
        'It is published with telemetry_station_listing_complete 0. If it stays so, ask those who run the service why its pages do not add up.',
        doubts.join('; '),
      ),
    );
  }
  if (size + rejected === 0) {
    remarks.push(
      warning('The listing is empty.', 'If there should be resources, compare filters and the path of the station with the service.'),
    );
  }
  if (rejected > 0) {
    remarks.push(
      warning(
        `Records without a usable resource_id are left out: ${rejected}.`,
        'Tell those who run the service. They are counted as telemetry_station_listing_rejected_resources.',
      ),
    );
  }
  const invalid = Object.entries(invalidFields).filter(([, count]) => count > 0);
  if (invalid.length > 0) {
    remarks.push(
      warning(
        `Values that could not be read are left out: ${invalid.map(([field, count]) => `${field} (${count})`).join(', ')}.`,
        'Tell those who run the service. They are counted as telemetry_station_listing_invalid_fields.',
      ),
    );
  }
  if (withheld > 0) {
    remarks.push(
      warning(
        `There are more resources than metrics.max_resources, so ${withheld} series of single resources are withheld; aggregates stay exact.`,
        'If Prometheus can take that many series, raise metrics.max_resources; else narrow the station by filters.',
      ),
    );
  }
  return remarks;
}

function pageRemarks({ reducedPageSize }: DiagnosedStation): readonly Remark[] {
  if (reducedPageSize === undefined) return [];
  return [
    warning(
      `The service found the pages too large: the refresh went on with ${reducedPageSize} resources per page.`,
      `Set page_size to ${reducedPageSize}, so that each refresh need not find that out again.`,
    ),
  ];
}

function speedRemarks({ spec, durationMs }: DiagnosedStation, scrapeTimeoutMs: number): readonly Remark[] {
  if (spec.cache.refresh === 'background' || durationMs <= scrapeTimeoutMs) return [];
  return [
    warning(
      `A refresh takes ${(durationMs / 1000).toFixed(1)} s, longer than the ${scrapeTimeoutMs / 1000} s that a scrape waits: scrapes will serve the snapshot before.`,
      'Set cache.refresh to background, or give scrapes more time by scrape_timeout in Prometheus.',
    ),
  ];
}
