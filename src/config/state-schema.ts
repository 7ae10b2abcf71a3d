import * as z from 'zod';
import { labelText } from '../model/values.ts';
import { SAID_ALERT_STATES, type StateLists } from '../resources/alert-state.ts';
import { formatPath } from '../schema/config-path.ts';
import { type CrossProblem, crossChecked, listOf, mappingOf } from '../schema/cross-check.ts';
import { optionalKey } from '../schema/scalar-schemas.ts';
import { quoted } from '../text/quoted.ts';

const STATE = 'a state: a non-empty string or a number';

/** A gateway sends an enum value whose name it does not know as a number. */
const state = z
  .union([z.string().min(1, { error: STATE }), z.number()], { error: STATE })
  .meta({ title: 'string or number' });

const stateList = z.array(state, { error: 'a list of states' });

export const states = crossChecked(
  z.strictObject({
    firing: optionalKey(stateList, 'States of resources with a firing alert.'),
    pending: optionalKey(stateList, 'States of resources with a pending alert.'),
    inactive: optionalKey(stateList, 'States of resources without an active alert.'),
  }),
  repeatedStates,
);

/** The lists as the states are read: a number, and the text of its digits, are the same state. */
export function stateLists(config: z.output<typeof states>): StateLists {
  return Object.fromEntries(Object.entries(config).map(([meaning, values]) => [meaning, values.map(stateText)]));
}

function stateText(value: string | number): string {
  return labelText(String(value));
}

/** A state has one meaning. */
function* repeatedStates(config: unknown): Iterable<CrossProblem> {
  const seen = new Map<string, string>();
  for (const meaning of SAID_ALERT_STATES) {
    for (const [at, value] of listOf(mappingOf(config)[meaning]).entries()) {
      if (typeof value !== 'string' && typeof value !== 'number') continue;
      const text = stateText(value);
      const path = [meaning, at];
      const before = seen.get(text);
      if (before !== undefined)
        yield { path, message: `expected each state once, got ${quoted(text)}, which is also ${before}` };
      else seen.set(text, formatPath(['states', ...path]));
    }
  }
}
