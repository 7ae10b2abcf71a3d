import type { ObservedCount } from '../../inventory/changes.ts';
import { firstMsOf } from '../../inventory/history.ts';
import { NONE, queryText } from '../../inventory/parameters.ts';
import type { Loss, RecentChanges } from '../../inventory/recent-changes.ts';
import {
  dataProblems,
  isCritical,
  isOnlyRejecting,
  noDataReason,
  STATION_STATES,
  type StationStatus,
  stateOf,
  type UpstreamStatus,
} from '../../inventory/station-status.ts';
import { allUnknownStates, unknownStatesAdvice, unknownStatesText } from '../../inventory/unknown-states.ts';
import { countText, firstOf, numberText } from '../../inventory/words.ts';
import { FAILURE_ADVICE, failureAdvice, type Silence } from '../../model/failure.ts';
import { INCOMPLETE_ADVICE } from '../../model/listing.ts';
import { resourceLabel } from '../../model/resource.ts';
import type { RejectedReload } from '../port.ts';
import { changesPath, ROUTES, stationPath } from '../routes.ts';
import { type Html, html, itemList, more, rowId, sinceText } from './html.ts';
import {
  adviceText,
  failingSinceMs,
  incompleteAdvice,
  loadNotes,
  shortReason,
  silenceOf,
  stationLink,
} from './station-parts.ts';

/** A refresh that has waited this long is not only one of many that became due together: the upstream lacks capacity. */
const LONG_WAIT_MS = 60_000;

/** Longer than the scrape intervals in use. */
const LONG_OVERDUE_MS = 5 * 60_000;

/** Stations that are named. */
const MAX_NAMED_STATIONS = 5;

/** Items that are shown without opening the list, and at most. */
const SHOWN_ITEMS = 8;
const MAX_ITEMS = 60;

/** The urgency, as the severity of the alert on the same problem; states of unknown meaning have their own look on all pages. */
type Tone = 'bad' | 'warning' | 'unknown';

/** The most urgent first. */
const TONES: readonly Tone[] = ['bad', 'warning', 'unknown'];

/** Something that a person should look at. */
export interface AttentionItem {
  /** The same in every update of the page. */
  readonly key: string;
  readonly tone: Tone;
  /** The names of the stations that are affected. */
  readonly stations: readonly string[];
  /** Who is affected, in a few words for a headline. */
  readonly who: string;
  readonly problem: string;
  readonly subject: Html | string;
  readonly what: Html | string;
  /** What the service or the configuration says, in its own words. */
  readonly said?: Html | string;
  /** What to do. */
  readonly advice: string;
  /** Where to see more. */
  readonly see?: Html;
  /** undefined: unknown. */
  readonly sinceMs: number | undefined;
}

/** What the items are about. */
export interface FleetFacts {
  /** Whether other exporters have further stations. */
  readonly isSharded: boolean;
  readonly stations: readonly StationStatus[];
  readonly upstreams: readonly UpstreamStatus[];
  /** The changes of the last hour by station. */
  readonly changes: ReadonlyMap<string, RecentChanges>;
  readonly rejectedReload: RejectedReload | undefined;
  readonly rejectedWebReload: RejectedReload | undefined;
  /** Removed resources of a station since a time, by the first label of `resource_labels`, in words; '' without labels. */
  readonly ownersOf: (station: string, sinceMs: number) => string;
  readonly nowMs: number;
}

/** The most urgent first, in the order of the severities of alerts; equal problems of several stations are one item. */
export function attentionItems(facts: FleetFacts): readonly AttentionItem[] {
  const { stations, upstreams, rejectedReload, rejectedWebReload, nowMs } = facts;
  const failures = failureGroups(stations);
  const incomplete = stations.filter((station) => dataProblems(station).length > 0);
  const isRejecting = ({ snapshot }: StationStatus) => snapshot !== undefined && isOnlyRejecting(snapshot);
  const items = [
    ...lossItems(facts),
    ...failures.map((group) => failureItem(group, nowMs)),
    ...overdueItems(
      stations.filter((station) => stateOf(station) === 'no-data'),
      nowMs,
    ),
    ...manyFiringItems(stations),
    ...groupsBy(
      incomplete.filter((station) => !isRejecting(station)),
      reasonKey,
    ).map(incompleteItem),
    ...groupsBy(incomplete.filter(isRejecting), upstreamKey).map(rejectingItem),
    ...reloadItems('Configuration', rejectedReload),
    ...reloadItems('Web configuration', rejectedWebReload),
    ...upstreams.flatMap((upstream) => upstreamItems(upstream, failures, nowMs)),
    ...overdueItems(stations.filter(isOverdue), nowMs),
    ...unknownStateItems(stations),
  ];
  return items.sort((a, b) => TONES.indexOf(a.tone) - TONES.indexOf(b.tone));
}

/**
 * The state of all stations in one line: how many are up, which fail, and the most urgent problem with its since.
 * The tone is `good` only when every station has current and complete data, whose states all have a meaning.
 */
export function headline({ stations, isSharded, nowMs }: FleetFacts, [worst]: readonly AttentionItem[]) {
  if (stations.length === 0)
    return { text: html`No stations are configured${isSharded ? ' on this shard' : ''}`, tone: 'neutral' };
  const of = (state: ReturnType<typeof stateOf>) => stations.filter((station) => stateOf(station) === state);
  const untried = of('not-tried').length === 0 ? '' : `, ${numberText(of('not-tried').length)} not tried yet`;
  const lead = `${numberText(of('up').length)} of ${countText(stations.length, 'station')} up${untried}`;
  if (worst === undefined) return { text: html`${lead}`, tone: untried === '' ? 'good' : 'neutral' };
  const since = worst.sinceMs === undefined ? [] : html` ${sinceText(worst.sinceMs, nowMs)}`;
  const failing = failingText(of('failing'), worst);
  return { text: html`${lead}${failing}; ${worst.who}: ${worst.problem}${since}`, tone: worst.tone };
}

/** Failing stations that a headline names; of more it has the number. */
const MAX_NAMED_IN_HEADLINE = 3;

/** ` (failing: a, b)`; empty if the problem that follows names them all. */
function failingText(failing: readonly StationStatus[], { stations }: AttentionItem): string {
  if (failing.every(({ name }) => stations.includes(name))) return '';
  return failing.length > MAX_NAMED_IN_HEADLINE
    ? ` (${numberText(failing.length)} failing)`
    : ` (failing: ${failing.map(({ name }) => name).join(', ')})`;
}

/** The state of one station in one line, with its worst problem. */
export function stationHeadline(status: StationStatus, changes: RecentChanges, nowMs: number) {
  const [worst] = attentionItems({
    isSharded: false,
    stations: [status],
    upstreams: [],
    rejectedReload: undefined,
    rejectedWebReload: undefined,
    changes: new Map([[status.name, changes]]),
    ownersOf: () => '',
    nowMs,
  });
  const state = stateOf(status);
  if (worst === undefined) return { text: html`${STATION_STATES[state]}`, tone: state === 'up' ? 'good' : 'neutral' };
  const since = worst.sinceMs === undefined ? [] : html` ${sinceText(worst.sinceMs, nowMs)}`;
  return { text: html`${STATION_STATES[state]}; ${worst.problem}${since}`, tone: worst.tone };
}

/** The list of the page; empty without items. */
export function attentionSection(items: readonly AttentionItem[], nowMs: number): Html {
  if (items.length === 0) return html``;
  const list = (some: readonly AttentionItem[]) =>
    html`<ul class="attention">\n${some.map((item) => attentionRow(item, nowMs))}</ul>\n`;
  const omitted = items.length - MAX_ITEMS;
  const rest =
    omitted > 0 ? html`<p class="quiet">${numberText(omitted)} more are not listed: see the stations.</p>` : [];
  return html`<section aria-labelledby="attention-title">
<h2 id="attention-title">Needs attention <span class="quiet">${numberText(items.length)}</span></h2>
${list(items.slice(0, SHOWN_ITEMS))}${more(items.length - SHOWN_ITEMS, html`${list(items.slice(SHOWN_ITEMS, MAX_ITEMS))}${rest}`)}</section>`;
}

function attentionRow({ key, tone, subject, what, said, advice, see, sinceMs }: AttentionItem, nowMs: number): Html {
  const since = sinceMs === undefined ? [] : html`<p class="since">${sinceText(sinceMs, nowMs, 'with length')}</p>\n`;
  return html`<li id="${rowId(`attention ${key}`)}" class="${tone}">
<p class="subject">${subject}</p>
${since}<div class="what"><p>${what}</p>
${adviceText(advice, see)}
${said === undefined ? [] : html`<p class="said">${said}</p>\n`}</div>
</li>
`;
}

/** Stations of one upstream with the same problem, which usually has one cause and one resolution. */
interface StationGroup {
  readonly key: string;
  readonly upstream: string;
  readonly stations: StationStatus[];
}

/** The largest group first. */
function groupsBy(
  stations: readonly StationStatus[],
  keyOf: (station: StationStatus) => string,
): readonly StationGroup[] {
  const groups = new Map<string, StationGroup>();
  for (const station of stations) {
    const key = keyOf(station);
    const group = groups.get(key) ?? { key, upstream: station.upstream, stations: [] };
    group.stations.push(station);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => b.stations.length - a.stations.length);
}

function namesOf(stations: readonly StationStatus[]): readonly string[] {
  return stations.map(({ name }) => name);
}

function upstreamKey({ upstream }: StationStatus): string {
  return upstream;
}

function reasonKey({ upstream, snapshot }: StationStatus): string {
  return JSON.stringify([upstream, ...new Set(snapshot?.incompleteReasons.map(({ reason }) => reason))]);
}

/** The name of the only station, or how many of which upstream. */
function groupName({ upstream, stations }: StationGroup): string {
  const [only] = stations;
  return stations.length === 1 && only ? only.name : `${countText(stations.length, 'station')} of upstream ${upstream}`;
}

/** With a link to the station or to the rows of the table, if a query selects them. */
function groupSubject({ upstream, stations }: StationGroup, query?: Readonly<Record<string, string>>): Html {
  const [only] = stations;
  if (stations.length === 1 && only) return html`${stationLink(only.name)} <span class="sub">${upstream}</span>`;
  const words = countText(stations.length, 'station');
  const link = query ? html`<a href="${queryText({ ...query, upstream })}#stations">${words}</a>` : words;
  return html`${link} <span class="sub">${upstream}</span>`;
}

/** Each with a link, and what is said of it. */
function namedStations(stations: readonly StationStatus[], text: (station: StationStatus) => string): Html {
  const items = stations.map((station) => html`${stationLink(station.name)} (${text(station)})`);
  return itemList(items, MAX_NAMED_STATIONS);
}

/** The earliest of the times that are known. */
function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

type ShownFailure = NonNullable<StationStatus['failure']>;
type ShownSnapshot = NonNullable<StationStatus['snapshot']>;

interface FailureGroup extends StationGroup {
  readonly failure: ShownFailure;
  /** The problem in a few words. */
  readonly short: string;
}

/** By upstream, reason and status. Of equally large groups, the one with more stations without data first. */
function failureGroups(stations: readonly StationStatus[]): readonly FailureGroup[] {
  const failing = stations.filter(({ failure }) => failure !== undefined);
  const shortOf = ({ failure }: StationStatus) => shortReason(failure as ShownFailure);
  const groups = groupsBy(failing, (station) =>
    JSON.stringify([station.upstream, station.failure?.reason, shortOf(station)]),
  ).map((group) => {
    const [first] = group.stations as [StationStatus];
    return { ...group, failure: first.failure as ShownFailure, short: shortOf(first) };
  });
  return groups.sort((a, b) => b.stations.length - a.stations.length || withoutData(b) - withoutData(a));
}

function withoutData({ stations }: StationGroup): number {
  return stations.filter(({ snapshot }) => snapshot === undefined).length;
}

function failureItem(group: FailureGroup, nowMs: number): AttentionItem {
  const { key, stations, failure, short } = group;
  const messages = new Map<string, number>();
  for (const { failure: other } of stations) {
    const { message } = other as ShownFailure;
    messages.set(message, (messages.get(message) ?? 0) + 1);
  }
  const [[message, count] = ['', 0], ...others] = [...messages].sort(([, a], [, b]) => b - a);
  const note = html` <span class="quiet">(${numberText(count)} of ${countText(stations.length, 'station')}; ${countText(others.length, 'other message')})</span>`;
  const { meaning, advice } = failureAdvice(failure, groupSilence(stations));
  return {
    key,
    tone: stations.some((station) => isCritical(station, nowMs)) ? 'bad' : 'warning',
    stations: namesOf(stations),
    who: groupName(group),
    problem: short,
    subject: groupSubject(group, { state: 'failing', filter: short }),
    what: html`${meaning} ${servedText(group)}`,
    said: html`<code>${failure.reason}</code>: ${message}${others.length === 0 ? [] : note}`,
    advice,
    sinceMs: earliest(stations.map(problemSinceMs)),
  };
}

/** Since when the station has failed as it does now: what failed before may have had another cause. */
function problemSinceMs(station: StationStatus): number | undefined {
  const sinceMs = failingSinceMs(station);
  const { reasons = [], statuses = [] } = station.outages.at(-1) ?? {};
  if (sinceMs === undefined || (reasons.length < 2 && statuses.length < 2)) return sinceMs;
  const short = shortReason(station.failure as ShownFailure);
  const failed = station.refreshesSince(sinceMs).filter(({ outcome }) => outcome === 'failed');
  const lastOther = failed.findLastIndex(({ failure }) => failure && shortReason(failure) !== short);
  const first = failed[lastOther + 1];
  return first ? Math.max(firstMsOf(first), sinceMs) : sinceMs;
}

/** Only if none of them was answered. */
function groupSilence(stations: readonly StationStatus[]): Silence | undefined {
  const silences = stations.map(silenceOf);
  if (silences.includes(undefined)) return undefined;
  return silences.includes('station') ? 'station' : 'service';
}

/** What is served instead of current data. */
function servedText(group: StationGroup): string {
  const { stations } = group;
  const missing = withoutData(group);
  if (stations.every(({ lastSuccessMs }) => lastSuccessMs === undefined)) return 'No refresh has succeeded yet.';
  if (missing === 0) return 'Older data is served.';
  if (missing === stations.length) return 'No data is served: it has expired.';
  return `${numberText(missing)} of them ${missing === 1 ? 'has' : 'have'} no data.`;
}

function isOverdue(station: StationStatus): boolean {
  const { dueInMs, isRefreshing } = station;
  return stateOf(station) === 'up' && -dueInMs >= LONG_OVERDUE_MS && !isRefreshing;
}

/** Stations that succeed, but not often enough: those of all upstreams together, because scrapes or the exporter are the cause. */
function overdueItems(stations: readonly StationStatus[], nowMs: number): readonly AttentionItem[] {
  const toneOf = (station: StationStatus): Tone => (isCritical(station, nowMs) ? 'bad' : 'warning');
  return groupsBy(stations, (station) => `${toneOf(station)} ${overdueProblem(station)}`).map((group) => {
    const [longest] = group.stations.toSorted((a, b) => a.dueInMs - b.dueInMs) as [StationStatus];
    const problem = overdueProblem(longest);
    const isOne = group.stations.length === 1;
    const name = isOne ? longest.name : countText(group.stations.length, 'station');
    const data = longest.snapshot === undefined ? 'The data has expired' : 'The data is old';
    const reason = isOne ? noDataReason(longest) : namedStations(group.stations, noDataReason);
    return {
      key: group.key,
      tone: toneOf(longest),
      stations: namesOf(group.stations),
      who: name,
      problem,
      subject: isOne ? groupSubject(group) : name,
      what: html`${data}: ${reason}.`,
      advice:
        problem === 'not scraped'
          ? 'Check that Prometheus scrapes this exporter: a scrape refreshes a station that is due.'
          : 'Check the load of the upstream and of the exporter.',
      sinceMs: nowMs + Math.min(longest.dueInMs, 0),
    };
  });
}

/** Before its since; `noDataReason` says for how long. */
function overdueProblem({ refresh, isRefreshing }: StationStatus): 'not scraped' | 'overdue' {
  return refresh === 'scrape' && !isRefreshing ? 'not scraped' : 'overdue';
}

/** Stations that lost many of their resources. */
function lossItems({ stations, changes, ownersOf }: FleetFacts): readonly AttentionItem[] {
  const lossOf = ({ name }: StationStatus) => changes.get(name)?.loss;
  const losing = stations.filter((station) => lossOf(station) !== undefined);
  const lostBy = (station: StationStatus) => (lossOf(station) as Loss).lost;
  return groupsBy(losing, upstreamKey).map((group) => {
    const losses = group.stations.map((station) => lossOf(station) as Loss);
    const lost = losses.reduce((sum, loss) => sum + loss.lost, 0);
    const before = losses.reduce((sum, loss) => sum + loss.before, 0);
    const sinceMs = Math.min(...losses.map((loss) => loss.sinceMs));
    const gone = `${numberText(lost)} of ${countText(before, 'resource')} ${lost === 1 ? 'is' : 'are'} gone`;
    const [first] = group.stations as [StationStatus];
    const isOne = group.stations.length === 1;
    const largestFirst = group.stations.toSorted((a, b) => lostBy(b) - lostBy(a));
    const which = html`<a href="./${lossPath(first.name, sinceMs)}">See which</a>`;
    return {
      key: `lost ${group.key}`,
      tone: 'bad',
      stations: namesOf(group.stations),
      who: groupName(group),
      problem: gone,
      subject: groupSubject(group),
      what: isOne
        ? `${gone}; the listings are verified complete.`
        : html`${gone}: ${namedStations(largestFirst, (station) => `−${numberText(lostBy(station))}`)}.`,
      advice: LOSS_ADVICE,
      ...(isOne && { see: html`${which}${ownersOf(first.name, sinceMs)}` }),
      sinceMs,
    };
  });
}

export const LOSS_ADVICE =
  'Compare with the console of the service: were they deleted, or did the account lose access to them?';

/** Leads to the resources that were removed since then. */
function lossPath(station: string, sinceMs: number): string {
  const query = { change: 'removed', since: new Date(sinceMs).toISOString() };
  return changesPath(station, query);
}

/** As the alert TelemetryStationManyResourcesFiring. */
const MANY_FIRING = 20;
const MANY_FIRING_SHARE = 0.05;

/** Stations of which many resources are firing, which usually has one cause. */
function manyFiringItems(stations: readonly StationStatus[]): readonly AttentionItem[] {
  const many = stations.filter(
    ({ snapshot }) => snapshot && snapshot.firing > Math.max(MANY_FIRING, MANY_FIRING_SHARE * snapshot.resources),
  );
  return groupsBy(many, upstreamKey).map((group) => {
    const firingOf = ({ snapshot }: StationStatus) => (snapshot as ShownSnapshot).firing;
    const firing = group.stations.reduce((sum, station) => sum + firingOf(station), 0);
    const resources = group.stations.reduce((sum, { snapshot }) => sum + (snapshot as ShownSnapshot).resources, 0);
    const problem = `${numberText(firing)} of ${countText(resources, 'resource')} are firing`;
    const [first] = group.stations as [StationStatus];
    const isOne = group.stations.length === 1;
    const largestFirst = group.stations.toSorted((a, b) => firingOf(b) - firingOf(a));
    const named = html`: ${namedStations(largestFirst, (station) => numberText(firingOf(station)))}`;
    const query = `alert_state=firing${isOne ? `&station=${encodeURIComponent(first.name.toWellFormed())}` : ''}`;
    return {
      key: `firing ${group.key}`,
      tone: 'bad',
      stations: namesOf(group.stations),
      who: groupName(group),
      problem,
      subject: groupSubject(group),
      what: html`${problem}${isOne ? [] : named}.`,
      advice: 'Look for a common cause: their types and owners.',
      see: html`<a href=".${ROUTES.search}?${query}">See which</a>`,
      sinceMs: undefined,
    };
  });
}

function incompleteItem(group: StationGroup): AttentionItem {
  const { key, stations } = group;
  const [first] = stations as [StationStatus];
  const { incompleteReasons } = first.snapshot as ShownSnapshot;
  const isOne = stations.length === 1;
  return {
    key: `incomplete ${key}`,
    tone: 'warning',
    stations: namesOf(stations),
    who: groupName(group),
    problem: 'listing incomplete',
    subject: groupSubject(group, { state: 'incomplete' }),
    what: isOne
      ? `Resources may be missing: ${incompleteReasons.map(({ text }) => text).join('; ')}.`
      : html`Resources may be missing: ${namedStations(stations, ({ snapshot }) => `${snapshot?.incompleteReasons[0]?.text}`)}.`,
    advice: `${incompleteAdvice(first)} Changes are not counted meanwhile.`,
    sinceMs: earliest(stations.map(({ incompleteSinceMs }) => incompleteSinceMs)),
  };
}

function rejectingItem(group: StationGroup): AttentionItem {
  const { key, stations } = group;
  const rejectedOf = ({ snapshot }: StationStatus) => (snapshot as ShownSnapshot).rejected;
  const rejected = stations.reduce((sum, station) => sum + rejectedOf(station), 0);
  const [first] = stations as [StationStatus];
  const isOne = stations.length === 1;
  const names = isOne ? [] : html`: ${namedStations(stations, (station) => numberText(rejectedOf(station)))}`;
  return {
    key: `rejected ${key}`,
    tone: 'warning',
    stations: namesOf(stations),
    who: groupName(group),
    problem: `${countText(rejected, 'record')} rejected`,
    subject: groupSubject(group, { state: 'incomplete' }),
    what: html`${countText(rejected, 'record has', 'records have')} no usable resource_id, and ${rejected === 1 ? 'is' : 'are'} left out${names}.`,
    advice: INCOMPLETE_ADVICE.rejected_records,
    ...(isOne && { see: html`<a href="./${stationPath(first.name)}#rejected">See which</a>` }),
    sinceMs: earliest(stations.map(({ incompleteSinceMs }) => incompleteSinceMs)),
  };
}

function reloadItems(
  subject: 'Configuration' | 'Web configuration',
  rejected: RejectedReload | undefined,
): readonly AttentionItem[] {
  if (rejected === undefined) return [];
  const { atMs, problems } = rejected;
  return [
    {
      key: subject,
      tone: 'warning',
      stations: [],
      who: subject.toLowerCase(),
      problem: 'rejected',
      subject: subject === 'Configuration' ? html`<a href=".${ROUTES.config}">${subject}</a>` : subject,
      what: 'The file was rejected: what was in force before remains in use.',
      said: html`${firstOf(problems, MAX_NAMED_STATIONS).map((problem) => html`${problem}<br>`)}`,
      advice:
        subject === 'Configuration'
          ? 'Correct the file, and reload it.'
          : 'Correct the file: it is reread automatically. Some changes require a restart.',
      sinceMs: atMs,
    },
  ];
}

/** Only what the failures do not say. */
function upstreamItems(
  upstream: UpstreamStatus,
  failures: readonly FailureGroup[],
  nowMs: number,
): readonly AttentionItem[] {
  const { name, load } = upstream;
  const fails = (reason: ShownFailure['reason']) =>
    failures.some((group) => group.upstream === name && group.failure.reason === reason);
  const notes = loadNotes(upstream, nowMs).filter(
    ({ kind }) =>
      !(kind === 'throttled' && fails('rate_limited')) &&
      !(kind === 'hanging' && fails('timeout')) &&
      !(kind === 'waiting' && load.oldestWaitingMs < LONG_WAIT_MS),
  );
  const [first] = notes;
  if (first === undefined) return [];
  return [
    {
      key: `upstream ${name}`,
      tone: 'warning',
      stations: [],
      who: `upstream ${name}`,
      problem: first.brief,
      subject: html`<a href="${queryText({ upstream: name })}#stations">${name}</a> <span class="sub">upstream</span>`,
      what: html`${notes.map(({ text }, at) => html`${at === 0 ? '' : '; '}${text}`)}.`,
      advice: first.kind === 'hanging' ? FAILURE_ADVICE.timeout.advice : FAILURE_ADVICE.rate_limited.advice,
      sinceMs: first.sinceMs,
    },
  ];
}

/** Of all stations together, because one line of the configuration is the resolution. */
function unknownStateItems(stations: readonly StationStatus[]): readonly AttentionItem[] {
  const unclear = stations.filter(({ snapshot }) => snapshot?.unknown);
  const unknownOf = ({ snapshot }: StationStatus) => (snapshot as ShownSnapshot).unknown;
  if (unclear.length === 0) return [];
  const states = allUnknownStates(unclear.map(({ snapshot }) => (snapshot as ShownSnapshot).unknownStates));
  const resources = unclear.reduce((sum, station) => sum + unknownOf(station), 0);
  const [first] = unclear as [StationStatus];
  const isOne = unclear.length === 1;
  const count = countText(resources, 'resource');
  const where = isOne ? [] : html` In ${namedStations(unclear, (station) => numberText(unknownOf(station)))}.`;
  return [
    {
      key: 'unknown states',
      tone: 'unknown',
      stations: namesOf(unclear),
      who: isOne ? first.name : countText(unclear.length, 'station'),
      problem: `${count} in states of unknown meaning`,
      subject: isOne
        ? html`${stationLink(first.name)} <span class="sub">${first.upstream}</span>`
        : countText(unclear.length, 'station'),
      what: html`<a href=".${ROUTES.search}?alert_state=unknown">${count}</a> in states of unknown meaning, neither firing nor inactive: ${unknownStatesText(states)}.${where}`,
      advice: unknownStatesAdvice(states),
      sinceMs: earliest(unclear.map(({ unknownSinceMs }) => unknownSinceMs)),
    },
  ];
}

/** `, by team: web 120, data 100`; '' without removed resources or labels. The counts are exact, whatever is kept of the changes. */
export function ownersText(label: string | undefined, owned: ObservedCount['owners']): string {
  if (label === undefined || owned.length === 0) return '';
  const counts = new Map<string, number>();
  for (const { labels, total } of owned) {
    const owner = resourceLabel({ labels }, label) || NONE;
    counts.set(owner, (counts.get(owner) ?? 0) + total);
  }
  const named = [...counts].sort(([, a], [, b]) => b - a).map(([value, count]) => `${value} ${numberText(count)}`);
  return `, by ${label}: ${firstOf(named, MAX_NAMED_STATIONS).join(', ')}`;
}
