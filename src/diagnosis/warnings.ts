import { NOTABLE_CLOCK_DIFFERENCE_MS } from '../upstream/hmac.ts';
import { clockWords } from './clock-difference.ts';
import { type DiagnosedStation, type DiagnosedUpstream, type Diagnosis, failuresOf } from './diagnosis.ts';
import type { Listed } from './facts.ts';
import { daysLeft, isoDay } from './tls-explanation.ts';

/** A remark with whom it concerns. */
export interface PlacedWarning extends Warning {
  readonly upstream: string;
  /** None: the upstream as such. */
  readonly stations: readonly string[];
}

interface Around {
  readonly nowMs: number;
  /** How long a scrape waits for a refresh when it does not say so itself. */
  readonly scrapeTimeoutMs: number;
}

/** All findings, failures first; what several stations of an upstream have in common is told once. */
export function warningsOf({ upstreams }: Diagnosis, { nowMs, scrapeTimeoutMs }: Around): readonly PlacedWarning[] {
  const all = upstreams.flatMap((upstream) => {
    const { name } = upstream.options;
    const ofUpstream = upstreamWarnings(upstream, nowMs).map((remark) => ({ ...remark, upstream: name, stations: [] }));
    const ofStations = upstream.stations.flatMap((station) =>
      stationWarnings(station, scrapeTimeoutMs).map((remark) => ({ ...remark, upstream: name, stations: [station.spec.name] })),
    );
    return [...ofUpstream, ...grouped(ofStations)];
  });
  return [...all.filter(({ severity }) => severity === 'failure'), ...all.filter(({ severity }) => severity === 'warning')];
}

function grouped(findings: readonly PlacedWarning[]): readonly PlacedWarning[] {
  const groups = new Map<string, PlacedWarning>();
  for (const finding of findings) {
    const { stations, ...rest } = finding;
    const key = JSON.stringify(rest);
    groups.set(key, { ...finding, stations: [...(groups.get(key)?.stations ?? []), ...stations] });
  }
  return [...groups.values()];
}

/** Something that an operator has to know; a failure means that there is no data. */
interface Warning {
  readonly severity: 'failure' | 'warning';
  readonly what: string;
  /** The words of the service, or of whatever stood in the way. */
  readonly said?: string;
  readonly advice: string;
}

function warning(what: string, advice: string, said?: string): Warning {
  return { severity: 'warning', what, ...(said !== undefined && { said }), advice };
}

/** Why a station has no data; else what its data lacks. */
function stationWarnings(station: DiagnosedStation, scrapeTimeoutMs: number): readonly Warning[] {
  const { result } = station;
  if ('snapshot' in result) return [...listingRemarks(result), ...pageRemarks(station), ...speedRemarks(station, scrapeTimeoutMs)];
  const { what, message: said, advice } = result;
  return [{ severity: 'failure', what, said, advice }];
}

function listingRemarks({ snapshot, withheld }: Listed): readonly Warning[] {
  const { complete, incompleteReasons: doubts, size, rejected, invalidFields } = snapshot;
  const remarks: Warning[] = [];
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

function pageRemarks({ reducedPageSize }: DiagnosedStation): readonly Warning[] {
  if (reducedPageSize === undefined) return [];
  return [
    warning(
      `The service found the pages too large: the refresh went on with ${reducedPageSize} resources per page.`,
      `Set page_size to ${reducedPageSize}, so that each refresh need not find that out again.`,
    ),
  ];
}

function speedRemarks({ spec, durationMs }: DiagnosedStation, scrapeTimeoutMs: number): readonly Warning[] {
  if (spec.cache.refresh === 'background' || durationMs <= scrapeTimeoutMs) return [];
  return [
    warning(
      `A refresh takes ${(durationMs / 1000).toFixed(1)} s, longer than the ${scrapeTimeoutMs / 1000} s that a scrape waits: scrapes will serve the snapshot before.`,
      'Set cache.refresh to background, or give scrapes more time by scrape_timeout in Prometheus.',
    ),
  ];
}

/** How long a certificate should last at least, so that there is time to renew it. */
const NOTICE_DAYS = 14;

/** What will become a trouble, or is one that nobody notices. */
function upstreamWarnings({ options, connection, stations, clockMs = 0 }: DiagnosedUpstream, nowMs: number): readonly Warning[] {
  const { baseUrl, tls, auth } = options;
  const remarks: Warning[] = [];
  const session = connection.error === undefined ? connection.session : undefined;
  if (session !== undefined && tls?.insecureSkipVerify === true) {
    remarks.push(
      warning(
        `The certificate of ${baseUrl.host} is not verified, because insecure_skip_verify is set: whoever stands in between can read the credentials.`,
        'Name the authority that issued it as tls_config.ca_file instead.',
      ),
    );
  }
  if (session !== undefined && daysLeft(session.validToMs, nowMs) < NOTICE_DAYS) {
    remarks.push(
      warning(
        `The certificate of ${baseUrl.host} ends on ${isoDay(session.validToMs)}.`,
        'See to it that those who run the service renew it in time: with an expired one every refresh fails.',
      ),
    );
  }
  // Where signatures are rejected, the failure tells it.
  const isRefused = stations.flatMap(failuresOf).some(({ reason }) => reason === 'auth');
  if (auth?.scheme === 'hmac' && !isRefused && Math.abs(clockMs) > NOTABLE_CLOCK_DIFFERENCE_MS) {
    remarks.push(
      warning(
        `The clock of this machine is ${clockWords(clockMs)} that of ${baseUrl.host}.`,
        'Set it, best by NTP: services reject signatures whose time is some minutes off.',
      ),
    );
  }
  return remarks;
}
