import { breakable } from './breakable.ts';
import { type Html, html } from './html.ts';
import type { Count } from './resource-counts.ts';
import { NONE, resourceSearch } from './resource-query.ts';
import { numberText, shareText } from './words.ts';

/** So many are seen at a glance; the rest is there for whoever opens it. */
const SEEN_AT_ONCE = 12;

/** How many resources there are of each kind, as text and as bars; each leads to its resources. */
export function countBars(kind: 'type' | 'state' | 'product', counts: readonly Count[]): Html {
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const most = Math.max(...counts.map(({ count }) => count));
  const list = (some: readonly Count[]) =>
    html`<ol>
${some.map((count) => countBar(kind, count, total, most))}</ol>
`;
  const further = counts.slice(SEEN_AT_ONCE);
  const more = further.length === 0 ? [] : html`<details><summary>${further.length} more</summary>${list(further)}</details>`;
  return html`<section aria-labelledby="by-${kind}">
<h3 id="by-${kind}">By ${kind}</h3>
${list(counts.slice(0, SEEN_AT_ONCE))}${more}</section>
`;
}

function countBar(kind: 'type' | 'state' | 'product', { key, label, count }: Count, total: number, most: number): Html {
  const href = `${resourceSearch({ selection: { [kind]: key }, order: undefined, page: 1 })}#resources`;
  const words = label === '' ? [] : html` <span class="sub">${label}</span>`;
  const width = Math.max(1, Math.round((count / most) * 1000) / 10);
  return html`<li><span><a href="${href}">${breakable(key === '' ? NONE : key)}</a>${words}</span> <span class="amount">${numberText(count)} <span class="quiet">(${shareText(count, total)})</span></span> <svg class="bar" aria-hidden="true"><rect width="${width}%" height="100%"/></svg></li>
`;
}
