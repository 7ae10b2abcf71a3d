import { FAILURE_ADVICE } from '../model/failure.ts';
import { CAPACITY_GUIDE, capacityText, isExceeded } from '../status/capacity.ts';
import { isOnlyRejecting } from '../status/station-status.ts';
import { unknownStatesAdvice, unknownStatesOf, unknownStatesText } from '../status/unknown-states.ts';
import { countText, firstOf } from '../text/words.ts';
import { explainFailure, isoDate } from './explain-failure.ts';
import {
  clockDifferenceText,
  type Facts,
  isNotableClockDifference,
  type Listed,
  type StationFacts,
  type UpstreamFacts,
} from './facts.ts';

/** A failure (the station has no data) or a warning, with the upstream and stations concerned. */
export interface CheckMessage extends Message {
  readonly upstream: string;
  /** Empty: the upstream itself. */
  readonly stations: readonly string[];
}

interface Message {
  readonly severity: 'failure' | 'warning';
  readonly meaning: string;
  /** The error as the service or the system reported it. */
  readonly reported: string | undefined;
  readonly advice: string;
}

/**
 * Failures first; a message that several stations of an upstream share appears once, with what each of them reported.
 * `scrapeTimeoutMs`: of scrapes that send none.
 */
export function checkMessages({ nowMs, upstreams, stations }: Facts, scrapeTimeoutMs: number): readonly CheckMessage[] {
  const groups = new Map<string, MessageGroup>();
  const add = (messages: readonly Message[], upstream: string, station?: string) => {
    for (const { reported, ...message } of messages) {
      // Other failures have other causes.
      const cause = message.severity === 'failure' ? reported : undefined;
      const key = JSON.stringify([upstream, message, cause]);
      const group = groups.get(key) ?? { ...message, upstream, reports: [] };
      group.reports.push({ station, reported });
      groups.set(key, group);
    }
  };
  for (const upstream of upstreams) add(warningsOfUpstream(upstream, nowMs), upstream.name);
  for (const station of stations)
    add(stationMessages(station, scrapeTimeoutMs), station.spec.upstream, station.spec.name);
  return Array.from(groups.values(), checkMessage).sort((a, b) => a.severity.localeCompare(b.severity));
}

/** The same message of several stations. */
interface MessageGroup extends Omit<CheckMessage, 'stations' | 'reported'> {
  readonly reports: { readonly station: string | undefined; readonly reported: string | undefined }[];
}

/** Stations whose reports are shown where they differ. */
const MAX_REPORTS = 5;

function checkMessage({ reports, ...message }: MessageGroup): CheckMessage {
  const texts = new Set(reports.map(({ reported }) => reported));
  const [first] = texts;
  const each = reports.map(({ station, reported }) => `${station}: ${reported ?? 'nothing'}`);
  return {
    ...message,
    stations: reports.flatMap(({ station }) => station ?? []),
    reported: texts.size <= 1 ? first : firstOf(each, MAX_REPORTS).join('; '),
  };
}

function warning(meaning: string, advice: string, reported?: string): Message {
  return { severity: 'warning', meaning, reported, advice };
}

function stationMessages(station: StationFacts, scrapeTimeoutMs: number): readonly Message[] {
  const { result, upstream } = station;
  if (result.ok) return listingWarnings(station, result, scrapeTimeoutMs);
  const { meaning, advice } = explainFailure(result, upstream);
  return [{ severity: 'failure', meaning, reported: result.message, advice }];
}

/** The items except those whose condition is false. */
export function withoutFalse<T>(items: readonly (T | false)[]): readonly T[] {
  return items.filter((item): item is T => item !== false);
}

/** Each product has a listing of its own. */
const MAX_REASONS_PER_STATION = 5;

function listingWarnings(
  { spec, durationMs, reducedPageSize, replies }: StationFacts,
  { snapshot, withheld, aggregates }: Listed,
  scrapeTimeoutMs: number,
): readonly Message[] {
  const { complete, incompleteReasons, size, rejected, invalidFields } = snapshot;
  const invalid = Object.entries(invalidFields).filter(([, count]) => count > 0);
  const unknown = unknownStatesOf(aggregates.groups);
  return withoutFalse([
    !complete &&
      !isOnlyRejecting(snapshot) &&
      warning(
        'The listing is incomplete: resources may be missing, or may no longer exist.',
        'The exporter publishes it with telemetry_station_listing_complete 0. If it persists, report it to the operators of the service.',
        firstOf(
          incompleteReasons.map(({ text }) => text),
          MAX_REASONS_PER_STATION,
        ).join('; '),
      ),
    size + rejected === 0 &&
      warning('The listing is empty.', 'If resources are expected, check the filters and the path of the station.'),
    rejected > 0 &&
      warning(
        'Records were rejected because they have no usable resource_id.',
        'The exporter publishes the listing with telemetry_station_listing_complete 0. Report it to the operators of the service: the page of the station shows what can be read of the records.',
        countText(rejected, 'record'),
      ),
    invalid.length > 0 &&
      warning(
        'Invalid field values were dropped.',
        'Report it to the operators of the service. The metric telemetry_station_listing_invalid_fields counts these values.',
        invalid.map(([field, count]) => `${field} (${count})`).join(', '),
      ),
    unknown.length > 0 &&
      warning(
        'Resources are in states of unknown meaning, so that they count neither as firing nor as inactive.',
        unknownStatesAdvice(unknown),
        unknownStatesText(unknown),
      ),
    withheld > 0 &&
      warning(
        `The station has more resources than metrics.max_resources: ${withheld} per-resource series are withheld. Aggregates stay exact.`,
        'Raise metrics.max_resources if Prometheus can store that many series, or narrow the station with filters.',
      ),
    // Throttling has its own warning: smaller pages would need more requests.
    reducedPageSize !== undefined &&
      replies.some(({ status }) => status === 413) &&
      warning(
        `The service rejected the page size: the refresh continued with ${reducedPageSize} resources per page.`,
        `Set page_size to ${reducedPageSize}, so that refreshes start with an accepted size.`,
      ),
    spec.cache.refresh !== 'background' &&
      durationMs > scrapeTimeoutMs &&
      warning(
        `A refresh takes ${(durationMs / 1000).toFixed(1)} s, longer than the scrape timeout of ${scrapeTimeoutMs / 1000} s: scrapes serve the previous snapshot.`,
        'Set cache.refresh to background, or raise scrape_timeout in Prometheus.',
      ),
  ]);
}

/** A text as a sentence of its own. */
function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Leaves time to renew a certificate. */
const EXPIRY_NOTICE_MS = 14 * 86_400_000;

function warningsOfUpstream(
  {
    options,
    connection,
    failures,
    clockDifferenceMs = 0,
    replies,
    load: { requestsPerSecond },
    capacity,
  }: UpstreamFacts,
  nowMs: number,
): readonly Message[] {
  const { baseUrl, tls, auth } = options;
  const session = connection.error === undefined ? connection.session : undefined;
  // Where signatures are rejected, the failure already names the clock.
  const isRejected = failures.some(({ reason }) => reason === 'auth');
  const throttled = replies.filter(({ status }) => status === 429);
  const waitMs = throttled.reduce((longest, { retryAfterMs = 0 }) => Math.max(longest, retryAfterMs), 0);
  const wait = waitMs > 0 ? ` and requested a pause of up to ${Math.ceil(waitMs / 1000)} s (Retry-After)` : '';
  const rate = Number.isFinite(requestsPerSecond)
    ? ` The limit is now ${requestsPerSecond.toFixed(1)} requests/s.`
    : '';
  return withoutFalse([
    session !== undefined &&
      tls?.insecure_skip_verify === true &&
      warning(
        `The certificate of ${baseUrl.host} is not verified, because insecure_skip_verify is set: an attacker on the network can read the credentials.`,
        'Set tls_config.ca_file to the certificate of its issuer instead.',
      ),
    session !== undefined &&
      session.validToMs - nowMs < EXPIRY_NOTICE_MS &&
      warning(
        `The certificate of ${baseUrl.host} expires on ${isoDate(session.validToMs)}.`,
        'Have the operators of the service renew it: after that day every refresh fails.',
      ),
    auth?.dependsOnClock === true &&
      !isRejected &&
      isNotableClockDifference(clockDifferenceMs) &&
      warning(
        `The local clock is ${clockDifferenceText(clockDifferenceMs)} that of ${baseUrl.host}.`,
        'Synchronize the clock of this host (NTP): services reject signatures that are some minutes off.',
      ),
    throttled.length > 0 &&
      warning(
        `The service throttled ${throttled.length} of ${replies.length} requests (429)${wait}.${rate}`,
        `The exporter adapts its request rate, and data gets older. ${FAILURE_ADVICE.rate_limited.advice}`,
      ),
    capacity !== undefined &&
      isExceeded(capacity) &&
      warning(sentence(capacityText(capacity)), `See ${CAPACITY_GUIDE}`),
  ]);
}
