import { describe, expect, it } from 'vitest';
import { shortTypes, stateWord } from '../../../src/inventory/resource-words.ts';
import { alertStateBadge, typeName } from '../../../src/web/pages/resource-parts.ts';
import { parseHtml } from '../html-parser.ts';

describe('alertStateBadge', () => {
  it.each([
    ['ALERTSTATE_FIRING', 'Firing', 'badge firing'],
    ['ALERTSTATE_PENDING', 'Pending', 'badge pending'],
    ['ALERTSTATE_INACTIVE', 'Inactive', 'badge inactive'],
    ['ALERTSTATE_UNSPECIFIED', 'Unspecified', 'badge unspecified'],
  ])('shows %s as %s, with the token as a tooltip', (token, word, style) => {
    const { tags, text } = parseHtml(alertStateBadge(token).text);
    expect(text).toBe(word);
    expect(tags).toEqual([{ name: 'span', attributes: { class: style, title: token } }]);
    expect(stateWord(token)).toBe(word);
  });

  it.each([
    'ALERTSTATE_SILENCED',
    'ALERTSTATE_',
    'FIRING',
    'firing',
    'alertstate_firing',
    'STATE_FIRING',
    '3',
    '0',
    'toString',
    '<b>"',
    '告警',
  ])('shows the token %s, which is not known, as sent and without a colour', (token) => {
    const { tags, text } = parseHtml(alertStateBadge(token).text);
    expect(text).toBe(token);
    expect(tags[0]?.attributes).toEqual({ class: 'badge unspecified', title: token });
  });

  it('shows that no state is reported', () => {
    expect(parseHtml(alertStateBadge('').text).text).toBe('– not reported');
  });
});

describe('typeName', () => {
  it('shows the short name with the key as a tooltip, and escapes both', () => {
    const key = 'x.<b>"';
    const { tags, text } = parseHtml(typeName(key, shortTypes([key])).text);
    expect(text).toBe('<b>"');
    expect(tags[0]?.attributes).toEqual({ title: key });
  });

  it('shows the key where it has no short name, and that none is reported', () => {
    expect(parseHtml(typeName('x.y', new Map()).text).text).toBe('x.y');
    expect(parseHtml(typeName('', new Map()).text).text).toBe('– not reported');
  });
});
