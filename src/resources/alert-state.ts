/** What the state of a resource means. */
export const ALERT_STATES = ['firing', 'pending', 'inactive', 'unknown'] as const;

export type AlertState = (typeof ALERT_STATES)[number];

/** The meanings that states can be configured to have, and that the words of a state can say: of several, the first one. */
export const SAID_ALERT_STATES = ['firing', 'pending', 'inactive'] as const satisfies readonly AlertState[];

/** The states of each meaning, as the service sends them. */
export type StateLists = { readonly [Meaning in (typeof SAID_ALERT_STATES)[number]]?: readonly string[] };

/** The states that the service probably has: one is documented. */
export const EXPECTED_STATES = [
  'ALERTSTATE_FIRING',
  'ALERTSTATE_PENDING',
  'ALERTSTATE_INACTIVE',
  'ALERTSTATE_UNSPECIFIED',
] as const;

/**
 * Decides what a state means: the list that has it, else what its words say, as `firing` in `ALERTSTATE_FIRING`. Where they say nothing,
 * and without a state, the meaning is unknown.
 */
export class StateMeanings {
  /** As configured: two instances with the same lists are equal. */
  readonly lists: StateLists;
  readonly #configured = new Map<string, AlertState>();

  constructor(lists: StateLists = {}) {
    this.lists = lists;
    for (const meaning of SAID_ALERT_STATES)
      for (const state of lists[meaning] ?? []) this.#configured.set(state, meaning);
  }

  alertStateOf(state: string): AlertState {
    return this.#configured.get(state) ?? saidBy(state);
  }
}

function saidBy(state: string): AlertState {
  const words = state.toLowerCase();
  return SAID_ALERT_STATES.find((word) => words.includes(word)) ?? 'unknown';
}
