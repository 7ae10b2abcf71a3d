import type { Count } from '../../inventory/resource-counts.ts';
import { resourceSearch } from '../../inventory/resource-query.ts';
import { labelOf, type ValueFilter } from '../../inventory/selection.ts';
import { numberText, shareText } from '../../inventory/words.ts';
import { OTHER } from '../../refresh/label-values.ts';
import { breakable, type Html, html, more } from './html.ts';

/** Values of a kind that a page lists at most: the service may have as many as `limits.label_values`, each of them long. */
export const MAX_LISTED = 200;

/** The number of bars shown without expanding the list. */
const MAX_BARS = 12;

/** Resource counts by kind as text and bars, each with a link to the resources. */
export function countBars(filter: ValueFilter, counts: readonly Count[]): Html {
  const kind = labelOf(filter) ?? filter;
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const list = (some: readonly Count[]) =>
    html`<ol>
${some.map((count) => countBar(filter, count, total))}</ol>
`;
  const further = counts.slice(MAX_BARS, MAX_LISTED);
  const omitted = counts.length - MAX_LISTED;
  const rest = omitted > 0 ? html`<p class="quiet">${numberText(omitted)} more are not listed</p>` : [];
  return html`<section aria-labelledby="by-${filter}">
<h3 id="by-${filter}">By ${kind}</h3>
${list(counts.slice(0, MAX_BARS))}${more(counts.length - MAX_BARS, html`${list(further)}${rest}`)}</section>
`;
}

/** The width of the bar is the share of the total; the least of them can still be seen. */
function countBar(filter: ValueFilter, { key, name, label, count }: Count, total: number): Html {
  const href = `${resourceSearch({ selection: { [filter]: key }, order: undefined, page: 1 })}#resources`;
  const words = label === '' ? [] : html` <span class="sub">${label}</span>`;
  const width = Math.max(0.5, Math.round((count / total) * 1000) / 10);
  const title = name === key || key === '' ? [] : html` title="${key}"`;
  const link = key === OTHER ? breakable(name) : html`<a href="${href}"${title}>${breakable(name)}</a>`;
  return html`<li><span>${link}${words}</span> <span class="amount">${numberText(count)} <span class="quiet">(${shareText(count, total)})</span></span> <svg class="bar" aria-hidden="true"><rect width="${width}%" height="100%"/></svg></li>
`;
}
