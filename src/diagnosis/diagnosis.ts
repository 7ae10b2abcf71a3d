import { DAY_MS } from '../model/clock.ts';
import { isoDate } from '../problems/advice.ts';
import { affected, byUrgency, type FleetProblem } from '../problems/problem.ts';
import { currentProblems } from '../problems/problems.ts';
import { capacityText, isExceeded } from '../status/capacity.ts';
import { exceededLimit } from '../status/scrape-size.ts';
import { cacheNote } from '../status/station-status.ts';
import { countText, durationText, firstOf, numberText } from '../text/words.ts';
import type { CheckResult, Listed, StationResult, UpstreamResult } from './check-result.ts';

/** The problems that the status page has too, and those that only a check finds. `scrapeTimeoutMs`: of scrapes that send none. */
export function checkProblems(result: CheckResult, scrapeTimeoutMs: number): readonly FleetProblem[] {
  const { nowMs, upstreams, stations } = result;
  return byUrgency([
    ...currentProblems({ stations: stations.map(({ status }) => status), upstreams, nowMs }),
    ...upstreams.flatMap((upstream) => [
      ...certificateProblems(upstream, nowMs),
      ...throttleProblems(upstream),
      ...scrapeProblems(upstream, stations, scrapeTimeoutMs),
    ]),
    ...stationProblems(stations, scrapeTimeoutMs),
    ...sizeProblems(result),
    ...labelProblems(result),
  ]);
}

interface Finding {
  readonly problem: string;
  readonly what: string;
  readonly advice: string;
}

function warning(who: ReturnType<typeof affected>, finding: Finding): FleetProblem {
  return { category: 'check', key: `${who.who}: ${finding.problem}`, tone: 'warning', ...who, ...finding };
}

/** Leaves time to renew a certificate. */
const EXPIRY_NOTICE_MS = 14 * DAY_MS;

/** A certificate that is not verified, or expires soon. */
function certificateProblems(
  { name, options, error, session }: UpstreamResult,
  nowMs: number,
): readonly FleetProblem[] {
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
  { name, capacity }: UpstreamResult,
  stations: readonly StationResult[],
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

/** Where the requests that connections make possible are enough, but the service accepts fewer: how many is unknown. */
function throttleProblems({ name, load, capacity }: UpstreamResult): readonly FleetProblem[] {
  const { recentThrottled, recentRequests } = load;
  if (recentThrottled === 0 || capacity === undefined || isExceeded(capacity)) return [];
  return [
    warning(
      { who: `upstream ${name}`, stations: [], upstream: name },
      {
        problem: 'throttled',
        what: `The service throttled ${numberText(recentThrottled)} of the ${countText(recentRequests, 'request')} of this check, which sends them as fast as it can. ${capacityText(capacity, 'unlimited')}.`,
        advice:
          'Set requests_per_second to what the service allows: the exporter finds it too, but a little late each time.',
      },
    ),
  ];
}

function sizeProblems({ scrape }: CheckResult): readonly FleetProblem[] {
  const exceeded = exceededLimit(scrape);
  if (exceeded === undefined) return [];
  return [warning({ who: 'scrape', stations: [] }, { problem: 'larger than a limit of scrapers', ...exceeded })];
}

/** Entries that have no effect. What a failed station has is unknown. */
function labelProblems({ labelMatches, stations }: CheckResult): readonly FleetProblem[] {
  if (stations.some(({ listed }) => listed === undefined)) return [];
  const entriesWith = (isAffected: (match: CheckResult['labelMatches'][number]) => boolean) =>
    firstOf(
      labelMatches.filter(isAffected).map(({ entry }) => entry),
      MAX_ENTRIES,
    ).join(', ');
  const unused = entriesWith(({ resources }) => resources === 0);
  const hidden = entriesWith(({ resources, decided }) => resources > 0 && decided === 0);
  const found: Finding[] = [];
  if (unused !== '')
    found.push({
      problem: 'no match',
      what: `No resource matches ${unused}.`,
      advice: 'Check the expressions, each of which must match the whole text: end one with .* if the text goes on.',
    });
  if (hidden !== '')
    found.push({
      problem: 'no effect',
      what: `Earlier entries decide about all resources that match ${hidden}.`,
      advice: 'Move such an entry before those with wider expressions: the first one that has a label decides.',
    });
  return found.map((finding) => warning({ who: 'resource_labels', stations: [] }, finding));
}

const MAX_ENTRIES = 10;

type ListedStation = StationResult & { readonly listed: Listed };

/** One for each cause, with the stations behind it. */
function stationProblems(stations: readonly StationResult[], scrapeTimeoutMs: number): readonly FleetProblem[] {
  const listed = stations.filter((station): station is ListedStation => station.listed !== undefined);
  // In the background nobody waits for a refresh.
  const slow = listed
    .filter((station) => station.status.refresh === 'scrape' && durationOf(station) > scrapeTimeoutMs)
    .sort((a, b) => durationOf(b) - durationOf(a));
  const withholding = listed.filter(({ listed: { withheld } }) => withheld > 0);
  const withheldSeries = withholding.reduce((sum, { listed: { withheld } }) => sum + withheld, 0);
  const empty = listed.filter(({ listed: { snapshot } }) => snapshot.size + snapshot.rejected === 0);
  const withEmptyProduct = listed.filter((station) => emptyProducts(station) !== '');
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
    ...warningOf(withEmptyProduct, emptyProducts, (first) => ({
      problem: 'products without resources',
      what: `No resource is of ${withEmptyProduct.length === 1 ? emptyProducts(first) : 'some of the products'}, unless it is of an earlier one too.`,
      advice: 'Check the keys in products, or remove them: each costs a listing per refresh.',
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

/** Of a listing that lacks nothing, in which the service does not ignore products. */
function emptyProducts({ spec, listed: { snapshot, aggregates } }: ListedStation): string {
  if (!snapshot.complete || snapshot.size === 0) return '';
  const listed = new Set(aggregates.groups.map(({ product }) => product));
  return spec.products.filter((product) => !listed.has(product)).join(', ');
}

function invalidFields({ listed }: ListedStation): string {
  const fields = Object.entries(listed.snapshot.invalidFields).filter(([, count]) => count > 0);
  return fields.map(([field, count]) => `${field} (${count})`).join(', ');
}
