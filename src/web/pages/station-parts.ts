import { HOUR_MS } from '../../model/clock.ts';
import { explainStation } from '../../problems/station-problems.ts';
import {
  failureTone,
  isOnlyRejecting,
  noDataReason,
  STATION_STATES,
  type StationDetail,
  type StationStatus,
  stateOf,
} from '../../status/station-status.ts';
import { type CountedCoverage, coveredRange, leastCoverage, noShareReason, type Totals } from '../../status/totals.ts';
import { countText, numberText, shareRangeText } from '../../text/words.ts';
import type { Link } from '../links.ts';
import { changesPath, stationPath } from '../routes.ts';
import { breakable, type DescribedValue, type Html, html, momentText, sinceText, unknown } from './html.ts';

/** Shown for values of a station without data. */
const NO_DATA_CELL = unknown('no data');

/** The state of a station in words and in the colour of its urgency: that of success only while its data lacks nothing and means something. */
export function stateBadge(station: StationStatus, nowMs: number): Html {
  const state = stateOf(station);
  return html`<span class="state ${state} ${toneOf(station, nowMs)}">${STATION_STATES[state]}</span>`;
}

function toneOf(station: StationStatus, nowMs: number): 'good' | 'warning' | 'bad' | 'unclear' {
  const state = stateOf(station);
  if (state === 'not-tried') return 'unclear';
  if (state !== 'up') return failureTone([station], nowMs);
  if (completeness(station) !== '') return 'warning';
  return station.snapshot?.unknown ? 'unclear' : 'good';
}

/** What is wrong with a station, in a few words: `401 Unauthorized, incomplete (3 rejected)`; '' if nothing is. */
export function stateNote(station: StationStatus): string {
  const { snapshot } = station;
  const notes = [
    explainStation(station)?.short,
    stateOf(station) === 'no-data' ? noDataReason(station) : '',
    completeness(station),
    station.isBeforeReload ? 'listed before the reload' : '',
    snapshot?.unknown ? `${numberText(snapshot.unknown)} unknown` : '',
  ];
  return notes.filter(Boolean).join(', ');
}

/** Why the listing is not verified complete, in a word: `incomplete`, `incomplete (3 rejected)`; '' if it is. */
export function completeness({ snapshot }: StationStatus): string {
  if (snapshot === undefined || snapshot.complete) return '';
  return isOnlyRejecting(snapshot) ? `incomplete (${numberText(snapshot.rejected)} rejected)` : 'incomplete';
}

/** The name of a station with a link. */
export function stationLink(name: string, root = './'): Html {
  return html`<a href="${root}${stationPath(name)}">${breakable(name)}</a>`;
}

/** The way to a page from the stations; `station`: that the page is below. */
export function trail(root: string, here: string, station?: string): Html {
  const above = station === undefined ? [] : html`${stationLink(station, root)} / `;
  return html`<nav class="trail" aria-label="Breadcrumb"><a href="${root}">Stations</a> / ${above}${here}</nav>`;
}

/** The share of resources with alert rules, and of how many it is unknown, for which the share is a range. `href`: of those without rules. */
export function coverageText(coverage: CountedCoverage | undefined, href: string): Html {
  if (coverage === undefined) return NO_DATA_CELL;
  const range = coveredRange(coverage);
  if (range === undefined) return unknown(noShareReason(coverage));
  const { withoutRules, unknownCoverage } = coverage;
  const share = shareRangeText(range.covered, range.all);
  const title = `${countText(withoutRules, 'resource')} without alert rules`;
  const link = withoutRules === 0 ? html`${share}` : html`<a href="${href}" title="${title}">${share}</a>`;
  if (unknownCoverage === 0) return link;
  return html`${link} <span class="sub no">${numberText(unknownCoverage)} unknown</span>`;
}

/** The end of the last refresh that succeeded, also when its data has expired. */
export function lastSuccess(
  { lastSuccessMs }: StationStatus,
  nowMs: number,
  precision: 'exact' | 'rough' = 'exact',
): Html {
  return lastSuccessMs === undefined ? unknown('none yet') : momentText(lastSuccessMs, nowMs, precision);
}

/** A number of resources with a link to them. */
export function linkedCount(count: number | undefined, href: string): Html {
  if (count === undefined) return NO_DATA_CELL;
  return count === 0 ? html`0` : html`<a href="${href}">${numberText(count)}</a>`;
}

/** What is known of resources; `hrefOf`: of those that a query selects. */
export function countTiles(
  counts: (Totals & CountedCoverage) | undefined,
  hrefOf: (query: string) => string,
  noteOf?: (count: 'firing' | 'pending' | 'coverage') => DescribedValue['note'],
): readonly DescribedValue[] {
  return [
    {
      term: 'Firing',
      value: linkedCount(counts?.firing, hrefOf('?alert_state=firing')),
      tone: counts?.firing ? 'bad' : '',
      note: noteOf?.('firing'),
    },
    {
      term: 'Pending',
      value: linkedCount(counts?.pending, hrefOf('?alert_state=pending')),
      tone: counts?.pending ? 'warning' : '',
      note: noteOf?.('pending'),
    },
    {
      term: 'Unknown state',
      value: counts?.unknown ? linkedCount(counts.unknown, hrefOf('?alert_state=unknown')) : undefined,
      tone: 'unclear',
    },
    {
      term: 'Coverage',
      value: coverageText(counts, hrefOf('?without_rules=yes')),
      note: counts && noteOf?.('coverage'),
      share: counts && leastCoverage(counts),
    },
  ];
}

/**
 * Resources that stations found added and removed in the last hour, `−220 +12 since 13:18 UTC`, each number with a link to the changes, and
 * whether that time has a gap; undefined without any.
 */
export function recentChanges(
  stations: readonly StationStatus[],
  nowMs: number,
  root: string,
  station?: string,
): Html | undefined {
  const changes = stations.flatMap(({ numberChanges }) => numberChanges.filter(({ atMs }) => atMs >= nowMs - HOUR_MS));
  if (changes.length === 0) return undefined;
  const added = changes.reduce((sum, change) => sum + change.added, 0);
  const removed = changes.reduce((sum, change) => sum + change.removed, 0);
  const sinceMs = changes.reduce((first, { atMs }) => Math.min(first, atMs), nowMs);
  const since = new Date(sinceMs).toISOString();
  const link = (change: 'added' | 'removed', words: string) =>
    html`<a href="${root}${changesPath(station, { change, since })}">${words}</a> `;
  const isLoss = stations.some((status) => status.lossAt(nowMs) !== undefined);
  const numbers: Html[] = [];
  if (removed > 0) {
    const lost = link('removed', `−${numberText(removed)}`);
    numbers.push(isLoss ? html`<span class="failing">${lost}</span>` : lost);
  }
  if (added > 0) numbers.push(link('added', `+${numberText(added)}`));
  const hasGap = stations.some(({ gapEndMs = 0 }) => gapEndMs >= sinceMs);
  return html`${numbers}${sinceText(sinceMs, nowMs)}${hasGap ? ', with a gap' : ''}`;
}

/** Which series of a station are withheld, on its page and on those of its resources; empty if none are. */
export function withheldNotes(served: StationDetail['served']): Html | readonly Html[] {
  if (served === undefined) return [];
  const { snapshot, withheld, withheldFiring } = served;
  const notes: Html[] = [];
  if (withheld > 0)
    notes.push(
      html`<p class="quiet">All ${numberText(withheld)} per-resource series are withheld: the station has ${countText(snapshot.size, 'resource')}, more than <code>metrics.max_resources</code>.</p>\n`,
    );
  if (withheldFiring > 0)
    notes.push(
      html`<p class="quiet">All series <code>telemetry_station_resource_firing</code> are withheld: the station has ${countText(withheldFiring, 'firing resource')}, more than <code>metrics.max_firing_resources</code>.</p>\n`,
    );
  return notes;
}

/** Links to other tools, as configured. Their servers do not learn the address of the page. */
export function linkList(links: readonly Link[]): Html | readonly Html[] {
  if (links.length === 0) return [];
  const items = links.map(({ name, url }) => html`<li><a href="${url}" rel="noreferrer">${name}</a></li>\n`);
  return html`<nav class="links" aria-label="Links to other tools">
<ul>
${items}</ul>
</nav>
`;
}
