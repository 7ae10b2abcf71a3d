import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { breakable, Html, html, momentText } from '../../../src/web/pages/html.ts';
import { parseHtml } from '../html-parser.ts';

describe('html', () => {
  it('inserts numbers, markup and lists of markup unescaped', () => {
    expect(html`<p>${1}${html`<b>${'<'}</b>`}${[html`<i>`, new Html('</i>')]}</p>`.text).toBe(
      '<p>1<b>&#60;</b><i></i></p>',
    );
  });

  it('round-trips any text through a parser, in elements and attributes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary-ascii' }), (text, title) => {
        const parsed = parseHtml(html`<p title="${title}">${text}</p>`.text);
        expect(parsed).toEqual({
          tags: [{ name: 'p', attributes: { title: title.replaceAll('\0', '\uFFFD') } }],
          text: text.replaceAll('\0', '\uFFFD'),
        });
      }),
    );
  });
});

describe('breakable', () => {
  it('can be broken between the parts of a token, and escapes it', () => {
    expect(breakable('a_b.<i>"-&').text).toBe('a_<wbr>b.&#60;i&#62;&#34;-&#38;');
  });

  it('can be broken anywhere if a word is too long for a table', () => {
    expect(breakable('databaseInstance').text).toBe('databaseInstance');
    const long = 'x'.repeat(25);
    expect(breakable(`a ${long}`).text).toBe(`<span class="long">a ${long}</span>`);
  });
});

const S = 1000;
const H = 3600 * S;

describe('momentText', () => {
  const at = Date.UTC(2026, 0, 2, 3, 4, 5);
  it.each([
    [12 * S, '12 s ago'],
    [-3 * H, 'in 3 h'],
    [400, 'just now'],
    [-999, 'just now'],
  ])('shows an age of %d ms as %s, with the exact time as a tooltip', (age, text) => {
    const iso = '2026-01-02T03:04:05.000Z';
    expect(momentText(at, at + age).text).toBe(`<time datetime="${iso}" title="${iso}">${text}</time>`);
  });
});
