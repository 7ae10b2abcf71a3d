import type { Selection } from '../../query/selection.ts';
import type { Column } from '../../text/records.ts';
import { numberText } from '../../text/words.ts';
import { type Html, html } from './html.ts';

/** A column of a table; the first one is the heading of its row. On a narrow screen rows are cards, with the heading before each value. */
export interface PageColumn<Row> extends Column<Row, Html | string> {
  readonly heading: string;
  /** Left out on a screen that is too narrow for all columns. */
  readonly isDetail?: boolean;
  /** The key by which the table can be sorted. */
  readonly by?: string;
  /** Whether the cell of a row has no value; a column without any is not shown. */
  readonly isEmpty?: (row: Row) => boolean;
}

/** The columns that have a value in one of the rows. */
export function shownColumns<Row>(
  columns: readonly PageColumn<Row>[],
  rows: readonly Row[],
): readonly PageColumn<Row>[] {
  return columns.filter(({ isEmpty }) => isEmpty === undefined || !rows.every(isEmpty));
}

/** How a table is sorted: by the key of a column, after a minus sign in descending order; '' is the order of the rows. */
interface Sorting {
  readonly sort: string;
  /** The attributes of a link to the table in another order. */
  readonly link: (sort: string) => Html;
}

interface TableOptions<Row> {
  readonly id: string;
  readonly columns: readonly PageColumn<Row>[];
  /** For screen readers. */
  readonly caption: string;
  readonly sorting?: Sorting;
}

export function table<Row>({ id, columns, caption, sorting }: TableOptions<Row>, rows: readonly Html[]): Html {
  return html`<table id="${id}" class="cards">
<caption class="hidden-text">${caption}</caption>
<thead>
<tr>${columns.map((column) => heading(column, sorting))}</tr>
</thead>
<tbody>
${rows}</tbody>
</table>`;
}

function classOf({ isNumber, isDetail }: PageColumn<never>): Html {
  const names: string[] = [];
  if (isNumber) names.push('number');
  if (isDetail) names.push('detail');
  return names.length === 0 ? html`` : html` class="${names.join(' ')}"`;
}

/** A heading sorts by its column, numbers from the largest on, and reverses the order when followed again. */
function heading<Row>(column: PageColumn<Row>, sorting: Sorting | undefined): Html {
  const { heading, isNumber, by } = column;
  if (by === undefined || sorting === undefined) return html`<th scope="col"${classOf(column)}>${heading}</th>`;
  const isAscending = sorting.sort === by;
  const isDescending = sorting.sort === `-${by}`;
  const isNextDescending = isNumber ? !isDescending : isAscending;
  const link = html`<a ${sorting.link(isNextDescending ? `-${by}` : by)}>${heading}</a>`;
  const isSorted = isAscending || isDescending;
  const order = html` aria-sort="${isAscending ? 'ascending' : 'descending'}"`;
  return html`<th scope="col"${classOf(column)}${isSorted ? order : []}>${link}</th>`;
}

/** `id`: the same in every update of the page. */
export function tableRow<Row>([first, ...others]: readonly PageColumn<Row>[], row: Row, id?: string): Html {
  const cells = others.map(
    (column) => html`<td${classOf(column)} data-label="${column.heading}"><span>${column.cell(row)}</span></td>\n`,
  );
  return html`<tr${id === undefined ? [] : html` id="${id}"`}>
<th scope="row">${first?.cell(row) ?? []}</th>
${cells}</tr>
`;
}

/** A value and its words; a text is both. */
type Option = string | readonly [value: string, words: string];

/** Values that can be chosen: the service may have as many as `limits.label_values`, each of them long. */
const MAX_OPTIONS = 200;

/**
 * One option has the attribute `selected`, so that a script can compare the choice with it: the first, which chooses nothing, by default.
 * The chosen value is an option even if it is not among the first ones, so that the form matches the query.
 */
export function selectBox(name: string, label: string, options: readonly Option[], chosen = '', any = 'any'): Html {
  const first = options.slice(0, MAX_OPTIONS);
  const pairs = first.map((option) => (typeof option === 'string' ? ([option, option] as const) : option));
  const words = new Map([['', any], ...pairs]);
  if (!words.has(chosen)) words.set(chosen, chosen);
  const items = Array.from(
    words,
    ([value, text]) => html`<option value="${value}"${value === chosen ? html` selected` : []}>${text}</option>`,
  );
  return html`<label for="filter-${name}">${label} <select id="filter-${name}" name="${name}">${items}</select></label>`;
}

/** The field for the text that resources are searched for. */
export function searchField(text = ''): Html {
  return html`<label for="search">ID, name or display name <input id="search" name="search" type="search" value="${text}" autocomplete="off" spellcheck="false"></label>`;
}

const COVERAGE_WORDS = {
  yes: 'Without alert rules',
  no: 'With alert rules',
  unknown: 'Unknown alert coverage',
};

/** Selects the resources without alert rules; where others are selected by their coverage, it keeps that selection. */
export function withoutRulesBox(selected: Selection['without_rules']): Html {
  const value = selected ?? 'yes';
  const words = COVERAGE_WORDS[value];
  return html`<label class="check" for="without-rules"><input id="without-rules" name="without_rules" type="checkbox" value="${value}"${selected === undefined ? [] : html` checked`}> ${words}</label>`;
}

/** On a narrow screen it replaces the headings of the table; elsewhere it is hidden and keeps the order. `unsorted`: the order of the rows. */
export function sortSelect<Row>(columns: readonly PageColumn<Row>[], sort: string, unsorted: string): Html {
  const options = columns.flatMap(({ heading, by }) =>
    by === undefined ? [] : [[by, `${heading}, ascending`] as const, [`-${by}`, `${heading}, descending`] as const],
  );
  return selectBox('sort', 'Sort by', options, sort, unsorted);
}

/** Which rows of a long table are shown; a page beyond the end is the last one. */
export interface ShownRange {
  readonly page: number;
  readonly pages: number;
  /** Index of the first row. */
  readonly from: number;
  /** Index after the last row. */
  readonly to: number;
  readonly total: number;
}

const SHOWN_ROWS = 100;

export function shownRange(total: number, requested: number): ShownRange {
  const pages = Math.max(1, Math.ceil(total / SHOWN_ROWS));
  const page = Math.min(requested, pages);
  const from = (page - 1) * SHOWN_ROWS;
  return { page, pages, from, to: Math.min(from + SHOWN_ROWS, total), total };
}

/** `href`: of a page. */
export function pager(label: string, range: ShownRange, href: (page: number) => string): Html {
  const { page, pages, from, to, total } = range;
  const step = (words: string, target: number) => {
    if (target === page || target < 1 || target > pages) return html`<li><span class="quiet">${words}</span></li>`;
    return html`<li><a href="${href(target)}">${words}</a></li>`;
  };
  const steps = [step('First', 1), step('Previous', page - 1), step('Next', page + 1), step('Last', pages)];
  const shown = html`<span class="amount">${numberText(Math.min(from + 1, total))}–${numberText(to)} of ${numberText(total)}</span>`;
  return html`<nav class="pager" aria-label="${label}">${shown}${pages === 1 ? [] : html`<ul>${steps}</ul>`}</nav>`;
}

/** Links to a list in the formats for programs. `query`: that of the list, with its question mark. */
export function downloads(path: string, query = '?'): Html {
  const href = `${path}${query}${query === '?' ? '' : '&'}format=`;
  return html`<p class="downloads">Download <a href="${href}csv">CSV</a> <a href="${href}json">JSON</a></p>`;
}
