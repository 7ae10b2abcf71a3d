import { countText } from '../text/words.ts';

/** The urgency, as the severity of the alert on the same problem; states of unknown meaning have their own look on all pages. */
type Tone = 'bad' | 'warning' | 'unknown';

/** The most urgent first. */
const TONES: readonly Tone[] = ['bad', 'warning', 'unknown'];

/** Something that a person should look at: on the status page and in `check --live`. */
export interface FleetProblem {
  readonly category:
    | 'lost'
    | 'failing'
    | 'overdue'
    | 'firing'
    | 'incomplete'
    | 'configuration'
    | 'web configuration'
    | 'upstream'
    | 'unknown states'
    | 'absent fields'
    | 'check';
  /** Unique, and the same while the problem lasts. */
  readonly key: string;
  readonly tone: Tone;
  /** Who is affected, in a few words. */
  readonly who: string;
  readonly stations: readonly AffectedStation[];
  /** That of all stations; undefined: they are of several, or it is not a problem of stations. */
  readonly upstream?: string | undefined;
  /** In a few words, for a headline. */
  readonly problem: string;
  readonly what: string;
  /** What the service or the configuration says, in its own words. */
  readonly quotes?: readonly string[];
  readonly advice: string;
  /** undefined: unknown. */
  readonly sinceMs?: number | undefined;
}

interface AffectedStation {
  readonly name: string;
  /** What is different from station to station. */
  readonly note?: string;
}

/** The order of equally urgent problems stays. */
export function byUrgency(list: readonly FleetProblem[]): readonly FleetProblem[] {
  return list.toSorted((a, b) => TONES.indexOf(a.tone) - TONES.indexOf(b.tone));
}

/** Who has a problem; `note`: what is different from station to station. */
export function affected<Station extends { readonly name: string; readonly upstream: string }>(
  stations: readonly Station[],
  note?: (station: Station) => string,
): Pick<FleetProblem, 'who' | 'stations' | 'upstream'> {
  const [first] = stations as readonly [Station];
  const upstream = stations.every((station) => station.upstream === first.upstream) ? first.upstream : undefined;
  const count = countText(stations.length, 'station');
  const several = upstream === undefined ? count : `${count} of upstream ${upstream}`;
  return {
    who: stations.length === 1 ? first.name : several,
    stations: stations.map((station) => ({ name: station.name, ...(note && { note: note(station) }) })),
    upstream,
  };
}
