import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { alertStateBadge, shortTypes, stateWord, typeName } from '../../src/inventory/resource-words.ts';
import { shortFormTest } from '../../src/inventory/selection.ts';
import { parseHtml } from '../web/html-parser.ts';

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

describe('shortTypes', () => {
  const namesOf = (...keys: string[]) => [...shortTypes(keys).values()];

  it('takes the last part of a key', () => {
    expect(namesOf('resource_type.network.eip.v1.eip', 'resource_type.compute.acp.v1.trainingJob')).toEqual([
      'eip',
      'trainingJob',
    ]);
  });

  it('takes as many last parts as distinguish the keys', () => {
    expect(namesOf('x.workspace.v1.instance', 'x.aec2.v1.instance', 'x.eip')).toEqual([
      'workspace.v1.instance',
      'aec2.v1.instance',
      'eip',
    ]);
    expect(namesOf('a.b.c.d.e.f.g', 'h.b.c.d.e.f.g')).toEqual(['a.b.c.d.e.f.g', 'h.b.c.d.e.f.g']);
  });

  it('takes the whole key where it ends another one', () => {
    expect(namesOf('eip', 'network.eip')).toEqual(['eip', 'network.eip']);
  });

  it.each(['', 'plain', '3', '.', '..', 'a.', '.a', 'a..b', 'UPPER', '资源'])('has a name for the key %j', (key) => {
    const [name = expect.unreachable()] = namesOf(key);
    expect(key.endsWith(name) || name === key).toBe(true);
    expect(name === '').toBe(key === '');
  });

  it('counts a repeated key once', () => {
    expect(namesOf('x.eip', 'x.eip')).toEqual(['eip']);
  });

  it('gives each key a name of its own that is a short form of it', () => {
    const part = fc.constantFrom('a', 'b', 'v1', '', 'Instance');
    const key = fc.array(part, { minLength: 1, maxLength: 9 }).map((parts) => parts.join('.'));
    fc.assert(
      fc.property(fc.uniqueArray(key, { maxLength: 12 }), (keys) => {
        const names = shortTypes(keys);
        expect(new Set(names.values()).size).toBe(keys.length);
        for (const [whole, name] of names) expect(name === whole || shortFormTest(name)(whole)).toBe(true);
      }),
    );
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
