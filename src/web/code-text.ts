import { type Html, html } from './html.ts';

/** Text in which backquotes mark what is to be typed or found as it is. */
export function codeText(text: string): Html {
  return html`${text.split('`').map((piece, index) => (index % 2 === 0 ? html`${piece}` : html`<code>${piece}</code>`))}`;
}
