import { describe, expect, it } from 'vitest';
import { alertStateBadge } from '../../../src/web/pages/resource-list.ts';
import { parseHtml } from '../html-parser.ts';

describe('alertStateBadge', () => {
  it.each<readonly [token: string, word: string, style: string]>([
    ['ALERTSTATE_FIRING', 'Firing', 'badge firing'],
    ['ALERTSTATE_PENDING', 'Pending', 'badge pending'],
    ['ALERTSTATE_INACTIVE', 'Inactive', 'badge inactive'],
    ['ALERTSTATE_UNSPECIFIED', 'Unspecified', 'badge unspecified'],
    // Tokens that are not known are shown as sent and without a colour.
    ...['ALERTSTATE_', 'FIRING', 'alertstate_firing', '3', 'toString', '<b>"', '告警'].map(
      (token) => [token, token, 'badge unspecified'] as const,
    ),
  ])('shows %s as %s, with the token as a tooltip', (token, word, style) => {
    const { tags, text } = parseHtml(alertStateBadge(token).text);
    expect(text).toBe(word);
    expect(tags[0]).toEqual({ name: 'span', attributes: { class: style, title: token } });
  });
});
