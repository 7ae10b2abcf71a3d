import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Html, html } from '../../../src/web/pages/html.ts';
import { parseHtml } from '../html-parser.ts';

describe('html', () => {
  it('escapes what would end text or an attribute', () => {
    expect(html`<a title="${`"'`}">${'<b>&'}</a>`.text).toBe('<a title="&#34;&#39;">&#60;b&#62;&#38;</a>');
  });

  it('takes numbers, markup and lists of markup as they are', () => {
    expect(html`<p>${1}${html`<b>${'<'}</b>`}${[html`<i>`, new Html('</i>')]}</p>`.text).toBe('<p>1<b>&#60;</b><i></i></p>');
  });

  it('leaves backslashes of values alone', () => {
    expect(html`<p>${'\\n\\u0041'}</p>`.text).toBe('<p>\\n\\u0041</p>');
  });

  it('replaces characters that no page can hold', () => {
    expect(html`${'a\0b\uD800c'}`.text).toBe('a\uFFFDb\uFFFDc');
  });

  it('gives any text back to whoever parses the page, in text and in attributes', () => {
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
