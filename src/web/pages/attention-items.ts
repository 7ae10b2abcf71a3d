import { FAILURE_ADVICE, failureAdvice, type Silence } from '../../model/failure.ts';
import { INCOMPLETE_ADVICE } from '../../model/listing.ts';
import type { ObservedCount } from '../../resources/changes.ts';
import { resourceLabel } from '../../resources/fields.ts';
import { NONE, queryText } from '../../resources/parameters.ts';
import type { Loss } from '../../status/loss.ts';
import {
  failureTone,
  isCritical,
  isOnlyRejecting,
  noDataReason,
  type StationStatus,
  stateOf,
  type UpstreamStatus,
} from '../../status/station-status.ts';
import { hasUnknownStates, isManyFiring, isOverloaded } from '../../status/thresholds.ts';
import { allUnknownStates, unknownStatesAdvice, unknownStatesText } from '../../status/unknown-states.ts';
import { countText, firstOf, numberText } from '../../text/words.ts';
import type { RejectedReload } from '../port.ts';
import { changesPath, ROUTES, stationPath } from '../routes.ts';
import { type Html, html, itemList } from './html.ts';
import { loadNotes } from './load-notes.ts';
import { completeness, shortReason, stationLink } from './station-parts.ts';

/** Longer than the scrape intervals in use. */
const LONG_OVERDUE_MS = 5 * 60_000;

/** Stations that are named. */
const MAX_NAMED_STATIONS = 5;

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
  /** Relative path from the page to the root. */
  readonly root: string;
  readonly stations: readonly StationStatus[];
  readonly upstreams: readonly UpstreamStatus[];
  /** How many changes of which kind the refreshes of a station found. */
  readonly foundOf: (station: string) => readonly ObservedCount[];
  /** The first label of `resource_labels`. */
  readonly ownerLabel: string | undefined;
  readonly rejectedReload?: RejectedReload | undefined;
  readonly rejectedWebReload?: RejectedReload | undefined;
  readonly nowMs: number;
}

/** The most urgent first, in the order of the severities of alerts; equal problems of several stations are one item. */
export function attentionItems(facts: FleetFacts): readonly AttentionItem[] {
  const { root, stations, upstreams, rejectedReload, rejectedWebReload, nowMs } = facts;
  const failures = failureGroups(stations);
  const isRejecting = ({ snapshot }: StationStatus) => snapshot !== undefined && isOnlyRejecting(snapshot);
  const incomplete = stations.filter((station) => completeness(station) !== '');
  const items = [
    ...lossItems(facts),
    ...failures.map((group) => failureItem(group, root, nowMs)),
    ...overdueItems(stations.filter(isOverdue), root, nowMs),
    ...manyFiringItems(stations, root),
    ...groupsBy(
      incomplete.filter((station) => !isRejecting(station)),
      reasonKey,
    ).map((group) => incompleteItem(group, root)),
    ...groupsBy(incomplete.filter(isRejecting), upstreamKey).map((group) => rejectingItem(group, root)),
    ...reloadItems('Configuration', rejectedReload),
    ...reloadItems('Web configuration', rejectedWebReload),
    ...upstreams.flatMap((upstream) => upstreamItems(upstream, failures, nowMs)),
    ...unknownStateItems(stations, root),
  ];
  return items.sort((a, b) => TONES.indexOf(a.tone) - TONES.indexOf(b.tone));
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

function upstreamKey({ upstream }: StationStatus): string {
  return upstream;
}

function reasonKey({ upstream, snapshot }: StationStatus): string {
  return JSON.stringify([upstream, ...new Set(snapshot?.incompleteReasons.map(({ reason }) => reason))]);
}

/** Stations with links to them: `upstream` if all are of one, and the query that selects them in the table of all stations. */
interface SharedProblem {
  readonly upstream?: string;
  readonly query?: Readonly<Record<string, string>>;
}

/** Who is affected by a problem. */
function affected(stations: readonly StationStatus[], root: string, { upstream, query }: SharedProblem = {}) {
  const names = stations.map(({ name }) => name);
  const [only] = stations as [StationStatus];
  if (names.length === 1) {
    const subject = html`${stationLink(only.name, root)} <span class="sub">${only.upstream}</span>`;
    return { stations: names, who: only.name, subject };
  }
  const words = countText(names.length, 'station');
  if (upstream === undefined) return { stations: names, who: words, subject: words };
  const link = query ? html`<a href="${root}${queryText({ ...query, upstream })}#stations">${words}</a>` : words;
  const subject = html`${link} <span class="sub">${upstream}</span>`;
  return { stations: names, who: `${words} of upstream ${upstream}`, subject };
}

/** Each with a link, and what is said of it. */
function namedStations(
  stations: readonly StationStatus[],
  root: string,
  text: (station: StationStatus) => string,
): Html {
  const items = stations.map((station) => html`${stationLink(station.name, root)} (${text(station)})`);
  return itemList(items, MAX_NAMED_STATIONS);
}

/** `: a (12), b (3)`, the largest number first; empty for a single station, whose number is the sum. */
function shares(stations: readonly StationStatus[], root: string, numberOf: (station: StationStatus) => number): Html {
  if (stations.length === 1) return html``;
  const largestFirst = stations.toSorted((a, b) => numberOf(b) - numberOf(a));
  return html`: ${namedStations(largestFirst, root, (station) => numberText(numberOf(station)))}`;
}

function sumOver(stations: readonly StationStatus[], numberOf: (station: StationStatus) => number): number {
  return stations.reduce((sum, station) => sum + numberOf(station), 0);
}

/** A search for the resources of the station, or of all stations if there are several. */
function searchHref(root: string, alertState: string, [first, ...others]: readonly StationStatus[]): string {
  const query = { alert_state: alertState, station: others.length === 0 ? first?.name : undefined };
  return `${root}${ROUTES.search.slice(1)}${queryText(query)}`;
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

/** By upstream, reason and status. */
function failureGroups(stations: readonly StationStatus[]): readonly FailureGroup[] {
  const failing = stations.filter(({ failure }) => failure !== undefined);
  const shortOf = ({ failure }: StationStatus) => shortReason(failure as ShownFailure);
  return groupsBy(failing, (station) =>
    JSON.stringify([station.upstream, station.failure?.reason, shortOf(station)]),
  ).map((group) => {
    const [first] = group.stations as [StationStatus];
    return { ...group, failure: first.failure as ShownFailure, short: shortOf(first) };
  });
}

function withoutData({ stations }: StationGroup): number {
  return stations.filter(({ snapshot }) => snapshot === undefined).length;
}

function failureItem(group: FailureGroup, root: string, nowMs: number): AttentionItem {
  const { key, upstream, stations, failure, short } = group;
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
    ...affected(stations, root, { upstream, query: { state: 'failing', filter: short } }),
    problem: short,
    what: html`${meaning} ${servedText(group)}`,
    said: html`<code>${failure.reason}</code>: ${message}${others.length === 0 ? [] : note}`,
    advice,
    sinceMs: earliest(stations.map(({ outage }) => outage?.reasonFromMs)),
  };
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

/** Who has not replied, as far as is known; undefined: the service replied to the station before. */
function silenceOf({ isHanging, lastSuccessMs, othersAnswered }: StationStatus): Silence | undefined {
  if (!isHanging && lastSuccessMs !== undefined) return undefined;
  return othersAnswered > 0 ? 'station' : 'service';
}

/** Not failing, but without data or with data that was not refreshed for long. */
function isOverdue(station: StationStatus): boolean {
  const { dueInMs, isRefreshing } = station;
  const state = stateOf(station);
  return state === 'no-data' || (state === 'up' && -dueInMs >= LONG_OVERDUE_MS && !isRefreshing);
}

/** Stations that succeed, but not often enough: those of all upstreams together, because scrapes or the exporter are the cause. */
function overdueItems(stations: readonly StationStatus[], root: string, nowMs: number): readonly AttentionItem[] {
  return groupsBy(stations, (station) => `${failureTone(station, nowMs)} ${overdueProblem(station)}`).map((group) => {
    const [longest] = group.stations.toSorted((a, b) => a.dueInMs - b.dueInMs) as [StationStatus];
    const problem = overdueProblem(longest);
    const isOne = group.stations.length === 1;
    const data = longest.snapshot === undefined ? 'The data has expired' : 'The data is old';
    const reason = isOne ? noDataReason(longest) : namedStations(group.stations, root, noDataReason);
    return {
      ...affected(group.stations, root),
      key: group.key,
      tone: failureTone(longest, nowMs),
      problem,
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
function lossItems(facts: FleetFacts): readonly AttentionItem[] {
  const { root, stations, nowMs } = facts;
  const lossOf = (station: StationStatus) => station.lossAt(nowMs) as Loss;
  const losing = stations.filter((station) => station.lossAt(nowMs) !== undefined);
  return groupsBy(losing, upstreamKey).map((group) => {
    const lost = sumOver(group.stations, (station) => lossOf(station).lost);
    const before = sumOver(group.stations, (station) => lossOf(station).before);
    const sinceMs = Math.min(...group.stations.map((station) => lossOf(station).sinceMs));
    const problem = `${numberText(lost)} of ${countText(before, 'resource')} are gone`;
    const lostOf = shares(group.stations, root, (station) => lossOf(station).lost);
    const [first, ...others] = group.stations as [StationStatus];
    return {
      ...affected(group.stations, root, group),
      key: `lost ${group.key}`,
      tone: 'bad',
      problem,
      what: html`${problem}${lostOf}. The listings add up.`,
      advice: 'Compare with the console of the service: were they deleted, or did the account lose access to them?',
      ...(others.length === 0 && { see: removedLink(facts, first.name, sinceMs) }),
      sinceMs,
    };
  });
}

/** To the resources that were removed since then, and whose they were. */
function removedLink({ root, foundOf, ownerLabel }: FleetFacts, station: string, sinceMs: number): Html {
  const path = changesPath(station, { change: 'removed', since: new Date(sinceMs).toISOString() });
  const removed = foundOf(station).filter(({ change, atMs }) => change === 'removed' && atMs >= sinceMs);
  const owners = removed.flatMap((count) => count.owners);
  return html`<a href="${root}${path}">See which</a>${ownersText(ownerLabel, owners)}`;
}

/** Stations of which many resources are firing, which usually has one cause. */
function manyFiringItems(stations: readonly StationStatus[], root: string): readonly AttentionItem[] {
  const many = stations.filter(({ snapshot }) => snapshot && isManyFiring(snapshot.firing, snapshot.resources));
  const firingOf = ({ snapshot }: StationStatus) => (snapshot as ShownSnapshot).firing;
  const resourcesOf = ({ snapshot }: StationStatus) => (snapshot as ShownSnapshot).resources;
  return groupsBy(many, upstreamKey).map((group) => {
    const firing = sumOver(group.stations, firingOf);
    const problem = `${numberText(firing)} of ${countText(sumOver(group.stations, resourcesOf), 'resource')} are firing`;
    return {
      ...affected(group.stations, root, group),
      key: `firing ${group.key}`,
      tone: 'bad',
      problem,
      what: html`${problem}${shares(group.stations, root, firingOf)}.`,
      advice: 'Look for a common cause: their types and owners.',
      see: html`<a href="${searchHref(root, 'firing', group.stations)}">See which</a>`,
      sinceMs: undefined,
    };
  });
}

function incompleteItem({ key, upstream, stations }: StationGroup, root: string): AttentionItem {
  const [first, ...others] = stations as [StationStatus];
  const { incompleteReasons } = first.snapshot as ShownSnapshot;
  const reasons =
    others.length === 0
      ? incompleteReasons.map(({ text }) => text).join('; ')
      : namedStations(stations, root, ({ snapshot }) => `${snapshot?.incompleteReasons[0]?.text}`);
  return {
    ...affected(stations, root, { upstream, query: { filter: 'incomplete' } }),
    key: `incomplete ${key}`,
    tone: 'warning',
    problem: 'listing incomplete',
    what: html`Resources may be missing: ${reasons}.`,
    advice: `${incompleteAdvice(first)}${changesWait(stations)}`,
    sinceMs: earliest(stations.map(({ incompleteSinceMs }) => incompleteSinceMs)),
  };
}

function changesWait(stations: readonly StationStatus[]): string {
  return stations.some(({ snapshot }) => snapshot?.isHeld) ? ' Changes are not counted meanwhile.' : '';
}

/** What to do about a listing that is not verified complete, for each of its reasons. */
function incompleteAdvice({ snapshot }: StationStatus): string {
  const reasons = snapshot?.incompleteReasons.map(({ reason }) => INCOMPLETE_ADVICE[reason]) ?? [];
  return [...new Set(reasons)].join(' ');
}

function rejectingItem({ key, upstream, stations }: StationGroup, root: string): AttentionItem {
  const rejectedOf = ({ snapshot }: StationStatus) => (snapshot as ShownSnapshot).rejected;
  const rejected = sumOver(stations, rejectedOf);
  const [first, ...others] = stations as [StationStatus];
  const records = `${countText(rejected, 'record has', 'records have')} no usable resource_id, and ${rejected === 1 ? 'is' : 'are'} left out`;
  return {
    ...affected(stations, root, { upstream, query: { filter: 'rejected' } }),
    key: `rejected ${key}`,
    tone: 'warning',
    problem: `${countText(rejected, 'record')} rejected`,
    what: html`${records}${shares(stations, root, rejectedOf)}.`,
    advice: `${INCOMPLETE_ADVICE.rejected_records}${changesWait(stations)}`,
    ...(others.length === 0 && { see: html`<a href="${root}${stationPath(first.name)}#rejected">See which</a>` }),
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
  const isSaid = failures.some((group) => group.upstream === name && group.failure.reason === 'rate_limited');
  const notes = loadNotes(upstream, nowMs).filter(
    ({ kind }) => !(kind === 'throttled' && isSaid) && !(kind === 'waiting' && !isOverloaded(load.oldestWaitingMs)),
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
      advice: FAILURE_ADVICE.rate_limited.advice,
      sinceMs: first.sinceMs,
    },
  ];
}

/** Of all stations together, because one line of the configuration is the resolution. */
function unknownStateItems(stations: readonly StationStatus[], root: string): readonly AttentionItem[] {
  const unclear = stations.filter(({ snapshot }) => snapshot && hasUnknownStates(snapshot.unknown));
  const unknownOf = ({ snapshot }: StationStatus) => (snapshot as ShownSnapshot).unknown;
  if (unclear.length === 0) return [];
  const states = allUnknownStates(unclear.map(({ snapshot }) => (snapshot as ShownSnapshot).unknownStates));
  const count = countText(sumOver(unclear, unknownOf), 'resource');
  return [
    {
      ...affected(unclear, root),
      key: 'unknown states',
      tone: 'unknown',
      problem: `${count} in states of unknown meaning`,
      what: html`<a href="${searchHref(root, 'unknown', unclear)}">${count}</a> in states of unknown meaning, neither firing nor inactive: ${unknownStatesText(states)}${shares(unclear, root, unknownOf)}.`,
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
