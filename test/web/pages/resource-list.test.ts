import { describe, expect, it } from 'vitest';
import { StateMeanings } from '../../../src/resources/alert-state.ts';
import { alertStateBadge } from '../../../src/web/pages/resource-list.ts';
import { parseHtml } from '../html-parser.ts';

describe('alertStateBadge', () => {
  const states = new StateMeanings({ firing: ['3'], inactive: ['ALERTSTATE_PENDING'] });

  it.each<readonly [state: string, words: string, style: string]>([
    ['ALERTSTATE_FIRING', 'Firing', 'badge firing'],
    ['FIRING', 'FIRING', 'badge firing'],
    ['alertstate_pending', 'alertstate_pending (pending)', 'badge pending'],
    ['ALERTSTATE_INACTIVE', 'Inactive', 'badge inactive'],
    ['ALERTSTATE_PENDING', 'Pending (inactive)', 'badge inactive'],
    ['3', '3 (firing)', 'badge firing'],
    // A state of unknown meaning has no colour.
    ['ALERTSTATE_UNSPECIFIED', 'Unspecified (unknown)', 'badge unknown'],
    ['ALERTSTATE_', 'ALERTSTATE_ (unknown)', 'badge unknown'],
    ['toString', 'toString (unknown)', 'badge unknown'],
    ['<b>"', '<b>" (unknown)', 'badge unknown'],
  ])('shows %s as %s in the colour of its meaning, with the token as a tooltip', (state, words, style) => {
    const { tags, text } = parseHtml(alertStateBadge({ state, alertState: states.alertStateOf(state) }).text);
    expect(text).toBe(words);
    expect(tags[0]).toEqual({ name: 'span', attributes: { class: style, title: state } });
  });
});
