import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  countText,
  durationText,
  Html,
  html,
  momentText,
  numberText,
  shareText,
  unknown,
} from '../../../src/web/pages/html.ts';
import { parseHtml } from '../html-parser.ts';

describe('html', () => {
  it('escapes characters that end text or an attribute', () => {
    expect(html`<a title="${`"'`}">${'<b>&'}</a>`.text).toBe('<a title="&#34;&#39;">&#60;b&#62;&#38;</a>');
  });

  it('inserts numbers, markup and lists of markup unescaped', () => {
    expect(html`<p>${1}${html`<b>${'<'}</b>`}${[html`<i>`, new Html('</i>')]}</p>`.text).toBe(
      '<p>1<b>&#60;</b><i></i></p>',
    );
  });

  it('keeps backslashes in values', () => {
    expect(html`<p>${'\\n\\u0041'}</p>`.text).toBe('<p>\\n\\u0041</p>');
  });

  it('replaces NUL and lone surrogates by U+FFFD', () => {
    expect(html`${'a\0b\uD800c'}`.text).toBe('a\uFFFDb\uFFFDc');
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

const S = 1000;
const MIN = 60 * S;
const H = 60 * MIN;
const D = 24 * H;

describe('numberText', () => {
  it.each([
    [0, '0'],
    [12_345, '12,345'],
    [0.25, '0.25'],
  ])('formats %d as %s', (value, text) => expect(numberText(value)).toBe(text));
});

describe('countText', () => {
  it.each([
    [0, '0 pages'],
    [1, '1 page'],
    [1000, '1,000 pages'],
  ])('formats %d as %s', (count, text) => expect(countText(count, 'page')).toBe(text));
});

describe('shareText', () => {
  it.each([
    [1, 3, '33 %'],
    [2, 3, '67 %'],
    [3, 10_000, '<1 %'],
    [49, 10_000, '<1 %'],
    [50, 10_000, '1 %'],
    [9949, 10_000, '99 %'],
    [9950, 10_000, '>99 %'],
    [999_999, 1_000_000, '>99 %'],
    [5, 5, '100 %'],
    [0, 5, '0 %'],
  ])('formats %d of %d as %s', (part, total, text) => expect(shareText(part, total)).toBe(text));
});

describe('durationText', () => {
  it.each([
    [0, '0 s'],
    [499, '0 s'],
    [12 * S, '12 s'],
    [60 * S, '1 min'],
    [3 * MIN + 20 * S, '3 min 20 s'],
    [H + 59 * MIN + 59 * S, '1 h 59 min'],
    [2 * H + 4 * S, '2 h'],
    [6 * D + 5 * H, '6 d 5 h'],
    [7 * D + 5 * H, '7 d'],
    [1200 * D, '1,200 d'],
  ])('formats %d ms as %s', (ms, text) => expect(durationText(ms)).toBe(text));
});

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

describe('unknown', () => {
  it('explains itself as a tooltip and to screen readers', () => {
    expect(unknown('not <enabled>').text).toBe(
      '<span class="unknown" title="not &#60;enabled&#62;">–<span class="hidden-text"> not &#60;enabled&#62;</span></span>',
    );
  });
});
