import type { Aggregates } from '../metrics/aggregates.ts';
import { OTHER } from '../refresh/label-values.ts';
import { breakable, type Html, html, numberText, shareText } from '../web/pages/html.ts';
import { NONE, resourceSearch } from './resource-query.ts';
import { shortTypes, stateWord } from './resource-words.ts';

/** Resource counts in descending order; the key is '' for resources without a value. */
export interface ResourceCounts {
  readonly types: readonly Count[];
  readonly states: readonly Count[];
  readonly products: readonly Count[];
}

export interface Count {
  readonly key: string;
  /** The key as the page shows it. */
  readonly name: string;
  /** The service's label of the key, if reported. */
  readonly label: string;
  readonly count: number;
}

export function countResources({ groups, typeLabels }: Pick<Aggregates, 'groups' | 'typeLabels'>): ResourceCounts {
  const types = new Map<string, number>();
  const states = new Map<string, number>();
  const products = new Map<string, number>();
  for (const group of groups) {
    for (const [state, count] of group.states) {
      add(types, group.type, count);
      add(states, state, count);
      add(products, group.product, count);
    }
  }
  const names = shortTypes(types.keys());
  return {
    types: ranked(types, (key) => names.get(key) ?? key, typeLabels),
    states: ranked(states, stateWord),
    products: ranked(products, (key) => key),
  };
}

function add(counts: Map<string, number>, key: string, by: number): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

function ranked(
  counts: ReadonlyMap<string, number>,
  nameOf: (key: string) => string,
  labels?: ReadonlyMap<string, string>,
): Count[] {
  return Array.from(counts, ([key, count]) => ({
    key,
    name: key === '' ? NONE : nameOf(key),
    label: (key !== OTHER && labels?.get(key)) || '',
    count,
  })).sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
}

/** Values of a kind that a page lists at most: the service may have as many as `limits.label_values`, each of them long. */
export const MAX_LISTED = 200;

/** The number of bars shown without expanding the list. */
const MAX_BARS = 12;

/** Resource counts by kind as text and bars, each with a link to the resources. */
export function countBars(kind: 'type' | 'state' | 'product', counts: readonly Count[]): Html {
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const list = (some: readonly Count[]) =>
    html`<ol>
${some.map((count) => countBar(kind, count, total))}</ol>
`;
  const further = counts.slice(MAX_BARS, MAX_LISTED);
  const omitted = counts.length - MAX_LISTED;
  const rest = omitted > 0 ? html`<p class="quiet">${numberText(omitted)} more are not listed</p>` : [];
  const more =
    further.length === 0
      ? []
      : html`<details><summary>${numberText(counts.length - MAX_BARS)} more</summary>${list(further)}${rest}</details>`;
  return html`<section aria-labelledby="by-${kind}">
<h3 id="by-${kind}">By ${kind}</h3>
${list(counts.slice(0, MAX_BARS))}${more}</section>
`;
}

/** The width of the bar is the share of the total; the least of them can still be seen. */
function countBar(kind: 'type' | 'state' | 'product', { key, name, label, count }: Count, total: number): Html {
  const href = `${resourceSearch({ selection: { [kind]: key }, order: undefined, page: 1 })}#resources`;
  const words = label === '' ? [] : html` <span class="sub">${label}</span>`;
  const width = Math.max(0.5, Math.round((count / total) * 1000) / 10);
  const title = name === key || key === '' ? [] : html` title="${key}"`;
  const link = key === OTHER ? breakable(name) : html`<a href="${href}"${title}>${breakable(name)}</a>`;
  return html`<li><span>${link}${words}</span> <span class="amount">${numberText(count)} <span class="quiet">(${shareText(count, total)})</span></span> <svg class="bar" aria-hidden="true"><rect width="${width}%" height="100%"/></svg></li>
`;
}
