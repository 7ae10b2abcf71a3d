import { clockDifferenceText, DAY_MS, isNotableClockDifference } from '../model/clock.ts';
import { failureOf } from '../model/failure.ts';
import { type ConnectionProbe, type Explanation, explain, isoDate } from '../status/advice.ts';
import { affected, byUrgency, currentProblems, type FleetProblem, groupsBy } from '../status/problems.ts';
import { firstOf, numberText } from '../text/words.ts';
import type { Facts, Listed, StationFacts, UpstreamFacts } from './facts.ts';

/** The problems that the status page has too, and those that only a check finds. `scrapeTimeoutMs`: of scrapes that send none. */
export function checkProblems(facts: Facts, scrapeTimeoutMs: number): readonly FleetProblem[] {
  const { nowMs, upstreams, stations } = facts;
  const probes = new Map(upstreams.map((upstream) => [upstream.name, probeOf(upstream)]));
  const common = currentProblems({ stations: stations.map(({ status }) => status), upstreams, probes, nowMs });
  return byUrgency([
    ...common,
    ...upstreams.flatMap((upstream) => upstreamProblems(upstream, nowMs)),
    ...stationProblems(stations, scrapeTimeoutMs),
    ...labelProblem(facts),
  ]);
}

/** Why the connection failed; undefined when it did not. */
export function explainConnection(upstream: UpstreamFacts): Explanation | undefined {
  const { connection, access, failures, replies } = upstream;
  const silence = replies.length === 0 ? ('service' as const) : undefined;
  const circumstances = { access, silence, probe: probeOf(upstream) };
  if (connection.error !== undefined) return explain(failureOf(connection.error), circumstances);
  // With TLS 1.3 some failures appear only after the first request.
  return failures.map((failure) => explain(failure, circumstances)).find(({ isTls }) => isTls);
}

export function probeOf({ connection, isTlsPort }: UpstreamFacts): ConnectionProbe {
  return { session: connection.session, isTlsPort };
}

/** The items except those whose condition is false. */
export function withoutFalse<T>(items: readonly (T | false)[]): readonly T[] {
  return items.filter((item): item is T => item !== false);
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

function upstreamProblems(upstream: UpstreamFacts, nowMs: number): readonly FleetProblem[] {
  const { name, options, connection, failures, clockDifferenceMs = 0 } = upstream;
  const { baseUrl, tls, auth } = options;
  const session = connection.error === undefined ? connection.session : undefined;
  // Where signatures are rejected, the failure already names the clock.
  const isRejected = failures.some(({ reason }) => reason === 'auth');
  const found = withoutFalse<Finding>([
    session !== undefined &&
      tls?.insecure_skip_verify === true && {
        problem: 'certificate not verified',
        what: `The certificate of ${baseUrl.host} is not verified, because insecure_skip_verify is set: an attacker on the network can read the credentials.`,
        advice: 'Set tls_config.ca_file to the certificate of its issuer instead.',
      },
    session !== undefined &&
      session.validToMs - nowMs < EXPIRY_NOTICE_MS && {
        problem: 'certificate expires soon',
        what: `The certificate of ${baseUrl.host} expires on ${isoDate(session.validToMs)}.`,
        advice: 'Have the operators of the service renew it: after that day every refresh fails.',
      },
    auth?.dependsOnClock === true &&
      !isRejected &&
      isNotableClockDifference(clockDifferenceMs) && {
        problem: 'clock difference',
        what: `The local clock is ${clockDifferenceText(clockDifferenceMs)} that of ${baseUrl.host}.`,
        advice: 'Synchronize the clock of this host (NTP): services reject signatures that are some minutes off.',
      },
  ]);
  return found.map((finding) => warning({ who: `upstream ${name}`, stations: [], upstream: name }, finding));
}

type ListedStation = StationFacts & { readonly result: Listed };

/** One for each cause, with the stations behind it. */
function stationProblems(stations: readonly StationFacts[], scrapeTimeoutMs: number): readonly FleetProblem[] {
  const listed = stations.filter((station): station is ListedStation => station.result.ok);
  return [
    ...slowProblem(listed, scrapeTimeoutMs),
    ...pageSizeProblems(listed),
    ...withheldProblem(listed),
    ...emptyProblem(listed),
    ...invalidProblem(listed),
  ];
}

/** What a failed station has is unknown. */
function labelProblem({ labelMatches, stations }: Facts): readonly FleetProblem[] {
  const unused = labelMatches.filter(({ resources }) => resources === 0).map(({ entry }) => entry);
  if (unused.length === 0 || stations.some(({ result }) => !result.ok)) return [];
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

/** Who has a problem, and what differs from station to station. */
function listedBy(stations: readonly ListedStation[], note?: (station: ListedStation) => string) {
  const named = stations.map((station) => ({ name: station.spec.name, upstream: station.spec.upstream, station }));
  return affected(named, note && (({ station }) => note(station)));
}

/** In the background nobody waits for a refresh. */
function slowProblem(stations: readonly ListedStation[], scrapeTimeoutMs: number): readonly FleetProblem[] {
  const slow = stations
    .filter(({ spec, durationMs }) => spec.cache.refresh !== 'background' && durationMs > scrapeTimeoutMs)
    .sort((a, b) => b.durationMs - a.durationMs);
  const [slowest] = slow;
  if (slowest === undefined) return [];
  const secondsOf = ({ durationMs }: ListedStation) => `${(durationMs / 1000).toFixed(1)} s`;
  return [
    warning(listedBy(slow, secondsOf), {
      problem: 'slower than scrapes',
      what: `A refresh takes ${slow.length === 1 ? '' : 'up to '}${secondsOf(slowest)}, longer than the scrape timeout of ${scrapeTimeoutMs / 1000} s: scrapes serve the previous snapshot.`,
      advice: 'Set cache.refresh to background, or raise scrape_timeout in Prometheus.',
    }),
  ];
}

/** Only where a page was too large: throttling has its own problem, and smaller pages would need more requests. */
function pageSizeProblems(stations: readonly ListedStation[]): readonly FleetProblem[] {
  const rejected = stations.filter(
    ({ reducedPageSize, replies }) => reducedPageSize !== undefined && replies.some(({ status }) => status === 413),
  );
  return groupsBy(rejected, ({ spec, reducedPageSize }) => `${spec.upstream} ${reducedPageSize}`).map((group) => {
    const size = group.stations[0]?.reducedPageSize;
    return warning(listedBy(group.stations), {
      problem: 'page size rejected',
      what: `The service rejected the page size: the refresh continued with ${size} resources per page.`,
      advice: `Set page_size to ${size}, so that refreshes start with an accepted size.`,
    });
  });
}

function withheldProblem(stations: readonly ListedStation[]): readonly FleetProblem[] {
  const withholding = stations.filter(({ result }) => result.withheld > 0);
  if (withholding.length === 0) return [];
  const sum = withholding.reduce((total, { result }) => total + result.withheld, 0);
  return [
    warning(
      listedBy(withholding, ({ result }) => numberText(result.withheld)),
      {
        problem: 'series withheld',
        what: `There are more resources than metrics.max_resources: ${numberText(sum)} per-resource series are withheld. Aggregates stay exact.`,
        advice:
          'Raise metrics.max_resources if Prometheus can store that many series, or narrow the station with filters.',
      },
    ),
  ];
}

function emptyProblem(stations: readonly ListedStation[]): readonly FleetProblem[] {
  const empty = stations.filter(({ result: { snapshot } }) => snapshot.size + snapshot.rejected === 0);
  if (empty.length === 0) return [];
  return [
    warning(listedBy(empty), {
      problem: 'no resources',
      what: 'The listing is empty.',
      advice: 'If resources are expected, check the filters and the path of the station.',
    }),
  ];
}

function invalidProblem(stations: readonly ListedStation[]): readonly FleetProblem[] {
  const fieldsOf = ({ result }: ListedStation) =>
    Object.entries(result.snapshot.invalidFields).flatMap(([field, count]) =>
      count > 0 ? [`${field} (${count})`] : [],
    );
  const invalid = stations.filter((station) => fieldsOf(station).length > 0);
  const [first] = invalid;
  if (first === undefined) return [];
  return [
    warning(
      listedBy(invalid, (station) => fieldsOf(station).join(', ')),
      {
        problem: 'invalid fields',
        what: `Invalid field values were dropped${invalid.length === 1 ? `: ${fieldsOf(first).join(', ')}` : ''}.`,
        advice:
          'Report it to the operators of the service. The metric telemetry_station_listing_invalid_fields counts these values.',
      },
    ),
  ];
}
