import { add } from '../model/sums.ts';
import type { AggregateGroup } from '../resources/aggregates.ts';
import { OTHER_VALUE } from '../resources/label-values.ts';
import { countText, firstOf, numberText } from '../text/words.ts';
import { NO_STATE } from './resource-words.ts';

/** A state of unknown meaning; '' stands for the resources without a state. */
export interface UnknownState {
  readonly state: string;
  readonly resources: number;
}

/** The most frequent first. */
export function unknownStatesOf(groups: Iterable<AggregateGroup>): readonly UnknownState[] {
  const counts = new Map<string, number>();
  for (const { states } of groups) for (const [state, count] of states.get('unknown') ?? []) add(counts, state, count);
  return rankedStates(counts);
}

/** The states of several stations, with the sums of their resources. */
export function allUnknownStates(stations: Iterable<readonly UnknownState[]>): readonly UnknownState[] {
  const counts = new Map<string, number>();
  for (const states of stations) for (const { state, resources } of states) add(counts, state, resources);
  return rankedStates(counts);
}

function rankedStates(counts: ReadonlyMap<string, number>): readonly UnknownState[] {
  return Array.from(counts, ([state, resources]) => ({ state, resources })).sort(
    (a, b) => b.resources - a.resources || (a.state < b.state ? -1 : 1),
  );
}

/** States that a text names. */
const MAX_NAMED_STATES = 10;

/** `ALERTSTATE_ESCALATED (7), no state (2)`. */
export function unknownStatesText(states: readonly UnknownState[]): string {
  const named = states.map(({ state, resources }) => `${state || NO_STATE} (${numberText(resources)})`);
  return firstOf(named, MAX_NAMED_STATES).join(', ');
}

/** `7 resources are in states of unknown meaning`. */
export function unknownStatesCount(states: readonly UnknownState[]): string {
  return `${countText(resourcesIn(states), 'resource is', 'resources are')} in states of unknown meaning`;
}

export function resourcesIn(states: readonly UnknownState[]): number {
  return states.reduce((sum, { resources }) => sum + resources, 0);
}

/** What to do about them: the exporter does not guess which of the three meanings a state has. */
export function unknownStatesAdvice(states: readonly UnknownState[]): string {
  const sent = states.map(({ state }) => state).filter((state) => state !== '' && state !== OTHER_VALUE);
  const advice: string[] = [];
  if (sent.length > 0) {
    const quoted = firstOf(
      sent.map((state) => JSON.stringify(state)),
      MAX_NAMED_STATES,
    ).join(', ');
    const what = sent.length === 1 ? 'the state' : 'each state';
    advice.push(
      `Add ${what} to the list of its meaning in the configuration, states: { firing: [], pending: [], inactive: [] }: ${quoted}.`,
    );
  }
  if (states.some(({ state }) => state === OTHER_VALUE))
    advice.push('Raise limits.label_values, so that the states published as (other) have their names.');
  if (states.some(({ state }) => state === ''))
    advice.push(
      'If the service leaves out a state, set absent_fields: { state: … } in the upstream to this state; otherwise report resources without a state to the operators of the service.',
    );
  return advice.join(' ');
}
