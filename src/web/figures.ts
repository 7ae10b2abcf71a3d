import { type Html, html } from './html.ts';

/** A few numbers to be seen at a glance. */
export function figures(id: string, entries: readonly (readonly [term: string, value: Html | string])[]): Html {
  return html`<dl class="figures" id="${id}">
${entries.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>\n`)}</dl>`;
}

/** Terms and what there is to tell of each; what has nothing is left out. */
export function facts(id: string, entries: readonly (readonly [term: string, value: Html | string | undefined])[]): Html {
  const told = entries.flatMap(([term, value]) => (value === undefined ? [] : [html`<dt>${term}</dt><dd>${value}</dd>\n`]));
  return html`<dl class="facts" id="${id}">
${told}</dl>`;
}
