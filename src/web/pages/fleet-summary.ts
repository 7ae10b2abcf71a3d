import { noDataReason, type StationStatus, stateOf, type UpstreamStatus } from '../../inventory/station-status.ts';
import { countText, durationText, numberText } from '../../inventory/words.ts';
import { failureGroups, hasOneReason, shortReason } from './failure-groups.ts';

/** The state of all stations in one sentence. */
export interface FleetSummary {
  readonly text: string;
  /** `good` only when every station has current data. */
  readonly tone: 'good' | 'warning' | 'bad' | 'neutral';
}

/** A shorter wait for capacity is usual: all stations of an upstream may be due at once. */
const LONG_WAIT_MS = 60_000;

/** Longer than the scrape intervals in use. */
const LONG_OVERDUE_MS = 5 * 60_000;

/** Causes of failures that are named. */
const MAX_CAUSES = 3;

/** Failures first, then what makes data old or incomplete. */
export function fleetSummary(
  stations: readonly StationStatus[],
  upstreams: readonly UpstreamStatus[],
  nowMs: number,
): FleetSummary {
  if (stations.length === 0) return { text: 'No stations are configured on this shard.', tone: 'neutral' };
  const kinds = kindsOf(stations);
  const { failing, 'no-data': withoutData, waiting, overdue, 'not-tried': notTried, fresh } = kinds;
  const bad = [...failingPhrases(failing, stations.length, nowMs), ...withoutDataPhrases(withoutData)];
  const warnings = [
    ...subjectPhrases(
      waiting,
      (longest) => `waiting for capacity for ${brief(longest.waitingMs ?? 0)}`,
      ({ waitingMs = 0 }) => waitingMs,
    ),
    ...subjectPhrases(overdue, overdueText, ({ dueInMs }) => -dueInMs),
    ...incompletePhrases(
      stations.filter((station) => stateOf(station) === 'up' && station.snapshot?.complete === false),
    ),
    ...upstreams.flatMap((upstream) => throttledPhrases(upstream, failing)),
  ];
  const neutral =
    notTried.length === stations.length
      ? []
      : subjectPhrases(
          notTried,
          () => 'not tried yet',
          () => 0,
        );
  const phrases = [...bad, ...warnings, ...neutral];
  const lead = leadText(kinds, stations);
  // Several failures matter more than the number of fresh stations.
  const parts =
    failing.length > 1
      ? [...phrases, ...(fresh.length > 0 ? [`${numberText(fresh.length)} fresh`] : [])]
      : [...lead, ...phrases];
  return { text: `${parts.join('; ')}.`, tone: toneOf(bad.length, warnings.length, notTried.length) };
}

function toneOf(bad: number, warnings: number, notTried: number): FleetSummary['tone'] {
  if (bad > 0) return 'bad';
  if (warnings > 0) return 'warning';
  return notTried > 0 ? 'neutral' : 'good';
}

/** The stations of each kind; each is of one. */
type Kinds = Readonly<Record<ReturnType<typeof kindOf>, readonly StationStatus[]>>;

function kindsOf(stations: readonly StationStatus[]): Kinds {
  const kinds = { failing: [], 'no-data': [], 'not-tried': [], waiting: [], overdue: [], fresh: [] } as Record<
    keyof Kinds,
    StationStatus[]
  >;
  for (const station of stations) kinds[kindOf(station)].push(station);
  return kinds;
}

function kindOf(station: StationStatus): Exclude<ReturnType<typeof stateOf>, 'up'> | 'waiting' | 'overdue' | 'fresh' {
  const state = stateOf(station);
  if (state !== 'up') return state;
  if ((station.waitingMs ?? 0) >= LONG_WAIT_MS) return 'waiting';
  return -station.dueInMs >= LONG_OVERDUE_MS && !station.isRefreshing ? 'overdue' : 'fresh';
}

/** How many stations are fresh; none when a sentence about the only station follows. */
function leadText({ fresh, 'not-tried': notTried }: Kinds, stations: readonly StationStatus[]): readonly string[] {
  if (notTried.length === stations.length)
    return [stations.length === 1 ? `${stations[0]?.name} not tried yet` : 'No station has been tried yet'];
  if (stations.length === 1) return fresh.length === 1 ? [`${fresh[0]?.name} is fresh`] : [];
  if (fresh.length === stations.length) return [`All ${countText(stations.length, 'station')} fresh`];
  return [`${numberText(fresh.length)} of ${countText(stations.length, 'station')} fresh`];
}

function failingPhrases(failing: readonly StationStatus[], total: number, nowMs: number): readonly string[] {
  const [only] = failing;
  if (only === undefined) return [];
  const groups = failureGroups(failing);
  if (failing.length === 1) {
    const { name, lastSuccessMs, snapshot } = only;
    const since = lastSuccessMs === undefined ? 'since the first refresh' : `for ${brief(nowMs - lastSuccessMs)}`;
    return [
      `${name} failing ${since}${snapshot === undefined ? ', without data' : ''}: ${groups.map(shortReason).join('')}`,
    ];
  }
  const withoutData = failing.filter(({ snapshot }) => snapshot === undefined).length;
  const causes = groups.slice(0, MAX_CAUSES).map((group) => {
    const { stations, upstream } = group;
    const subject =
      stations.length === 1 ? stations[0]?.name : `${numberText(stations.length)} of upstream ${upstream}`;
    return `${subject} (${hasOneReason(group) ? '' : 'mostly '}${shortReason(group)})`;
  });
  const more = groups.length > MAX_CAUSES ? `, ${countText(groups.length - MAX_CAUSES, 'more cause')}` : '';
  const amount =
    failing.length === total ? `All ${numberText(total)}` : `${numberText(failing.length)} of ${numberText(total)}`;
  const data =
    withoutData === 0 ? '' : `, ${withoutData === failing.length ? 'all' : numberText(withoutData)} without data`;
  return [`${amount} stations failing${data}: ${causes.join(', ')}${more}`];
}

function withoutDataPhrases(stations: readonly StationStatus[]): readonly string[] {
  return subjectPhrases(
    stations,
    (longest) => `without data: ${noDataReason(longest)}`,
    ({ dueInMs }) => -dueInMs,
  );
}

/** The name of the only station or the number of stations, and the text of the one with the largest value. */
function subjectPhrases(
  stations: readonly StationStatus[],
  text: (longest: StationStatus) => string,
  sizeOf: (station: StationStatus) => number,
): readonly string[] {
  if (stations.length === 0) return [];
  const longest = stations.reduce((most, station) => (sizeOf(station) > sizeOf(most) ? station : most));
  return [`${stations.length === 1 ? longest.name : numberText(stations.length)} ${text(longest)}`];
}

function overdueText({ refresh, dueInMs }: StationStatus): string {
  return refresh === 'scrape' ? `not scraped for ${brief(-dueInMs)}` : `overdue by ${brief(-dueInMs)}`;
}

function incompletePhrases(stations: readonly StationStatus[]): readonly string[] {
  if (stations.length === 0) return [];
  return [
    stations.length === 1
      ? `listing of ${stations[0]?.name} incomplete`
      : `${numberText(stations.length)} listings incomplete`,
  ];
}

/** Only what the failures do not say. */
function throttledPhrases({ name, load }: UpstreamStatus, failing: readonly StationStatus[]): readonly string[] {
  if (load.recentThrottled === 0 && load.holdMs <= 0) return [];
  if (failing.some(({ upstream, failure }) => upstream === name && failure?.reason === 'rate_limited')) return [];
  return [`upstream ${name} throttled (429)${load.holdMs > 0 ? `, next requests in ${brief(load.holdMs)}` : ''}`];
}

/** In the largest unit alone. */
function brief(ms: number): string {
  return durationText(Math.max(ms, 1000)).split(' ').slice(0, 2).join(' ');
}
