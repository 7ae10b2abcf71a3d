import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type AlertState, StateMeanings } from '../../src/resources/alert-state.ts';

describe('StateMeanings', () => {
  const states = new StateMeanings({ firing: ['ALERTSTATE_ESCALATED', '3'], inactive: ['PENDING'] });

  it.each<readonly [state: string, meaning: AlertState]>([
    ['ALERTSTATE_ESCALATED', 'firing'],
    ['3', 'firing'],
    // A list says more than the words.
    ['PENDING', 'inactive'],
    ['ALERTSTATE_FIRING', 'firing'],
    ['alertstate_pending', 'pending'],
    ['ALERTSTATE_INACTIVE', 'inactive'],
    ['FIRING_OR_PENDING', 'firing'],
    ['ALERTSTATE_UNSPECIFIED', 'unknown'],
    ['ALERTSTATE_ACTIVE', 'unknown'],
    ['alertstate_escalated', 'unknown'],
    ['30', 'unknown'],
    ['constructor', 'unknown'],
    ['', 'unknown'],
  ])('decides that %j means %s', (state, meaning) => {
    expect(states.alertStateOf(state)).toBe(meaning);
  });

  it('equals another one with the same lists, whatever either was asked', () => {
    const same = new StateMeanings({ ...states.lists });
    same.alertStateOf('another one');
    expect(isDeepStrictEqual(states, same)).toBe(true);
    expect(isDeepStrictEqual(states, new StateMeanings({ firing: ['3'] }))).toBe(false);
  });
});
