import { EXPECTED_STATES } from '../resources/alert-state.ts';

/** Words for the expected states: `Firing` for `ALERTSTATE_FIRING`. */
const STATE_WORDS: ReadonlyMap<string, string> = new Map(
  EXPECTED_STATES.map((token) => {
    const [, first = '', rest = ''] = /_(.)(.*)/.exec(token) ?? [];
    return [token, first + rest.toLowerCase()];
  }),
);

/** Replaces the state of resources that have none. */
export const NO_STATE = 'no state';

/** The word for a state; one that is not expected is shown as sent. */
export function stateWord(token: string): string {
  return STATE_WORDS.get(token) ?? (token || NO_STATE);
}

/** Parts of a type key that a short name has at most; a key that is still ambiguous is shown in full. */
const MAX_PARTS = 6;

/** The short name of each type key: as few of its last parts as make it unambiguous among the keys. */
export function shortTypes(keys: Iterable<string>): ReadonlyMap<string, string> {
  const endings = new Map(Array.from(new Set(keys), (key) => [key, endingsOf(key)]));
  const counts = new Map<string, number>();
  for (const ending of [...endings.values()].flat()) counts.set(ending, (counts.get(ending) ?? 0) + 1);
  return new Map(Array.from(endings, ([key, some]) => [key, some.find((ending) => counts.get(ending) === 1) ?? key]));
}

/** The last part of a key, the last two parts, and so on. */
function endingsOf(key: string): readonly string[] {
  const parts = key.split('.').slice(-MAX_PARTS);
  // An ending that begins or ends with a dot would not look like a name.
  return parts
    .map((_part, at) => parts.slice(-1 - at).join('.'))
    .filter((ending) => /^[^.].*[^.]$|^[^.]$/su.test(ending));
}
