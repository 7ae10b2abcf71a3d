import { DAY_MS } from '../model/clock.ts';
import { isoDate } from '../status/advice.ts';
import { isExceeded } from '../status/capacity.ts';
import { affected, byUrgency, currentProblems, type FleetProblem } from '../status/problems.ts';
import { cacheNote } from '../status/station-status.ts';
import { countText, durationText, firstOf, numberText } from '../text/words.ts';
import type { Facts, Listed, StationFacts, UpstreamFacts } from './facts.ts';

/** The problems that the status page has too, and those that only a check finds. `scrapeTimeoutMs`: of scrapes that send none. */
export function checkProblems(facts: Facts, scrapeTimeoutMs: number): readonly FleetProblem[] {
  const { nowMs, upstreams, stations } = facts;
  return byUrgency([
    ...currentProblems({ stations: stations.map(({ status }) => status), upstreams, nowMs }),
    ...upstreams.flatMap((upstream) => certificateProblems(upstream, nowMs)),
    ...upstreams.flatMap((upstream) => scrapeProblems(upstream, stations, scrapeTimeoutMs)),
    ...stationProblems(stations, scrapeTimeoutMs),
    ...labelProblem(facts),
  ]);
}

interface Finding {
  readonly problem: string;
  readonly what: string;
  readonly advice: string;
}

function warning(who: ReturnType<typeof affected>, finding: Finding): FleetProblem {
  return { kind: 'check', key: `${who.who}: ${finding.problem}`, tone: 'warning', ...who, ...finding };
}

/** Leaves time to renew a certificate. */
const EXPIRY_NOTICE_MS = 14 * DAY_MS;

/** A certificate that is not verified, or expires soon. */
function certificateProblems({ name, options, error, session }: UpstreamFacts, nowMs: number): readonly FleetProblem[] {
  if (error !== undefined || session === undefined) return [];
  const { baseUrl, tls } = options;
  const found: Finding[] = [];
  if (tls?.insecure_skip_verify)
    found.push({
      problem: 'certificate not verified',
      what: `The certificate of ${baseUrl.host} is not verified, because insecure_skip_verify is set: an attacker on the network can read the credentials.`,
      advice: 'Set tls_config.ca_file to the certificate of its issuer instead.',
    });
  if (session.validToMs - nowMs < EXPIRY_NOTICE_MS)
    found.push({
      problem: 'certificate expires soon',
      what: `The certificate of ${baseUrl.host} expires on ${isoDate(session.validToMs)}.`,
      advice: 'Have the operators of the service renew it: after that day every refresh fails.',
    });
  return found.map((finding) => warning({ who: `upstream ${name}`, stations: [], upstream: name }, finding));
}

/** Refreshes that are possible, but not within a scrape. */
function scrapeProblems(
  { name, capacity }: UpstreamFacts,
  stations: readonly StationFacts[],
  scrapeTimeoutMs: number,
): readonly FleetProblem[] {
  if (capacity === undefined || isExceeded(capacity) || capacity.roundMs <= scrapeTimeoutMs) return [];
  const waiting = stations.filter(({ spec, status }) => spec.upstream === name && status.refresh === 'scrape');
  // A single station that takes as long is a finding of its own.
  if (waiting.length < 2) return [];
  const finding = {
    problem: 'scrapes wait until their deadline',
    what: `To refresh ${countText(waiting.length, 'station')} takes ${durationText(capacity.roundMs)}, longer than the scrape timeout of ${scrapeTimeoutMs / 1000} s: a scrape waits until its deadline each time, and serves older data of the rest.`,
    advice:
      'Set cache.refresh to background: a scrape then waits for no refresh. Or raise concurrency, if the service allows it.',
  };
  return [warning({ who: `upstream ${name}`, stations: [], upstream: name }, finding)];
}

/** What a failed station has is unknown. */
function labelProblem({ labelMatches, stations }: Facts): readonly FleetProblem[] {
  const unused = labelMatches.filter(({ resources }) => resources === 0).map(({ entry }) => entry);
  if (unused.length === 0 || stations.some(({ listed }) => listed === undefined)) return [];
  return [
    warning(
      { who: 'resource_labels', stations: [] },
      {
        problem: 'no match',
        what: `No resource matches ${firstOf(unused, MAX_ENTRIES).join(', ')}.`,
        advice: 'Check the expressions, each of which must match the whole text: end one with .* if the text goes on.',
      },
    ),
  ];
}

const MAX_ENTRIES = 10;

type ListedStation = StationFacts & { readonly listed: Listed };

/** One for each cause, with the stations behind it. */
function stationProblems(stations: readonly StationFacts[], scrapeTimeoutMs: number): readonly FleetProblem[] {
  const listed = stations.filter((station): station is ListedStation => station.listed !== undefined);
  // In the background nobody waits for a refresh.
  const slow = listed
    .filter((station) => station.status.refresh === 'scrape' && durationOf(station) > scrapeTimeoutMs)
    .sort((a, b) => durationOf(b) - durationOf(a));
  const withholding = listed.filter(({ listed: { withheld } }) => withheld > 0);
  const withheldSeries = withholding.reduce((sum, { listed: { withheld } }) => sum + withheld, 0);
  const empty = listed.filter(({ listed: { snapshot } }) => snapshot.size + snapshot.rejected === 0);
  const invalid = listed.filter((station) => invalidFields(station) !== '');
  const cached = listed.filter(({ status }) => status.cached !== undefined);
  return [
    ...warningOf(slow, secondsText, (slowest) => ({
      problem: 'slower than scrapes',
      what: `A refresh takes up to ${secondsText(slowest)}, longer than the scrape timeout of ${scrapeTimeoutMs / 1000} s: scrapes serve the previous snapshot.`,
      advice: 'Set cache.refresh to background, or raise scrape_timeout in Prometheus.',
    })),
    ...warningOf(
      cached,
      ({ status }) => `${status.cached?.header}`,
      ({ status }) => ({
        problem: 'cached replies',
        what: `${cacheNote(status)}`,
        advice: 'Exclude the service from the cache, which ignores the Cache-Control: no-cache of the requests.',
      }),
    ),
    ...warningOf(
      withholding,
      ({ listed: { withheld } }) => numberText(withheld),
      () => ({
        problem: 'series withheld',
        what: `There are more resources than metrics.max_resources: ${numberText(withheldSeries)} per-resource series are withheld. Aggregates stay exact.`,
        advice:
          'Raise metrics.max_resources if Prometheus can store that many series, or narrow the station with filters.',
      }),
    ),
    ...warningOf(empty, undefined, () => ({
      problem: 'no resources',
      what: 'The listing is empty.',
      advice: 'If resources are expected, check the filters and the path of the station.',
    })),
    ...warningOf(invalid, invalidFields, (first) => ({
      problem: 'invalid fields',
      what: `Invalid field values were dropped${invalid.length === 1 ? `: ${invalidFields(first)}` : ''}.`,
      advice:
        'Report it to the operators of the service. The metric telemetry_station_listing_invalid_fields counts these values.',
    })),
  ];
}

/** One for these stations, and what differs from station to station; empty without any. */
function warningOf(
  stations: readonly ListedStation[],
  note: ((station: ListedStation) => string) | undefined,
  finding: (first: ListedStation) => Finding,
): readonly FleetProblem[] {
  const [first] = stations;
  if (first === undefined) return [];
  const named = stations.map((station) => ({ name: station.spec.name, upstream: station.spec.upstream, station }));
  return [warning(affected(named, note && (({ station }) => note(station))), finding(first))];
}

function durationOf({ status }: ListedStation): number {
  return Number(status.durationMs);
}

function secondsText(station: ListedStation): string {
  return `${(durationOf(station) / 1000).toFixed(1)} s`;
}

function invalidFields({ listed }: ListedStation): string {
  const fields = Object.entries(listed.snapshot.invalidFields).filter(([, count]) => count > 0);
  return fields.map(([field, count]) => `${field} (${count})`).join(', ');
}
