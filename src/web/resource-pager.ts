import { type Html, html } from './html.ts';
import { type ResourceQuery, resourceSearch } from './resource-query.ts';
import { numberText } from './words.ts';

/** A page of something that may have shrunk since its address was made: the last page stands for all beyond it. */
export interface Extent {
  readonly page: number;
  readonly pages: number;
  /** Of the first thing shown and of the one after the last. */
  readonly from: number;
  readonly to: number;
  readonly total: number;
}

export function extentOf(total: number, asked: number, pageSize: number): Extent {
  const pages = Math.max(1, Math.ceil(total / pageSize));
  const page = Math.min(asked, pages);
  const from = (page - 1) * pageSize;
  return { page, pages, from, to: Math.min(from + pageSize, total), total };
}

export function resourcePager(label: string, { page, pages, from, to, total }: Extent, query: ResourceQuery): Html {
  const step = (words: string, target: number) => {
    if (target === page || target < 1 || target > pages) return html`<li><span class="quiet">${words}</span></li>`;
    return html`<li><a href="${resourceSearch({ ...query, page: target })}#resources">${words}</a></li>`;
  };
  const steps = [step('First', 1), step('Previous', page - 1), step('Next', page + 1), step('Last', pages)];
  const shown = html`<span class="amount">${numberText(Math.min(from + 1, total))}–${numberText(to)} of ${numberText(total)}</span>`;
  return html`<nav class="pager" aria-label="${label}">${shown}${pages === 1 ? [] : html`<ul>${steps}</ul>`}</nav>`;
}
