/// <reference lib="dom" />

import type { KeepCurrent, Patch } from './keep-current.ts';

/** Filters and sorts the stations. Inlined by its source text: it must not refer to anything outside of itself. */
export function statusScript(keepCurrent: KeepCurrent): void {
  interface Sorting {
    /** The value of the parameter `sort`: the key of the column, after a minus sign in descending order. */
    readonly text: string;
    readonly column: number;
    readonly descending: boolean;
    readonly isNumber: boolean;
  }

  const byId = <T extends HTMLElement>(type: new () => T, id: string, root: Document = document): T => {
    const element = root.getElementById(id);
    if (!(element instanceof type)) throw new Error(`expected ${type.name} #${id}`);
    return element;
  };

  const table = byId(HTMLTableElement, 'stations');
  const filter = byId(HTMLInputElement, 'filter');
  const state = byId(HTMLSelectElement, 'state');
  const sort = byId(HTMLSelectElement, 'sort');
  const noMatch = byId(HTMLElement, 'no-match');
  const clear = byId(HTMLButtonElement, 'clear');
  const shown = byId(HTMLElement, 'shown');
  const controls = byId(HTMLElement, 'controls');
  const headings = [...(table.tHead?.rows[0]?.cells ?? [])];
  let sorting: Sorting | undefined;

  /** Unknown values sort last in either direction. */
  const comparison = ({ column, descending, isNumber }: Sorting) => {
    const sortValue = (group: HTMLTableSectionElement) => group.rows[0]?.cells[column]?.dataset['value'];
    return (a: HTMLTableSectionElement, b: HTMLTableSectionElement): number => {
      const left = sortValue(a);
      const right = sortValue(b);
      if (left === undefined || right === undefined) return Number(left === undefined) - Number(right === undefined);
      const difference = isNumber
        ? Number(left) - Number(right)
        : left.localeCompare(right, undefined, { numeric: true });
      return descending ? -difference : difference;
    };
  };

  const arrange = () => {
    const focused = document.activeElement;
    const groups = [...table.tBodies].sort((a, b) => Number(a.dataset['place']) - Number(b.dataset['place']));
    if (sorting) groups.sort(comparison(sorting));
    for (const [place, group] of groups.entries()) {
      const there = table.tBodies[place] ?? null;
      if (there !== group) table.insertBefore(group, there);
    }
    const words = filter.value.toLowerCase().split(/\s+/);
    for (const group of groups) {
      const [name, reason] = group.rows[0]?.cells ?? [];
      const text = `${name?.textContent} ${reason?.textContent}`.toLowerCase();
      group.hidden =
        (state.value !== '' && group.dataset['state'] !== state.value) || !words.every((word) => text.includes(word));
    }
    const matches = groups.filter((group) => !group.hidden).length;
    setText(shown, `${matches} of ${groups.length} stations shown`);
    noMatch.hidden = matches > 0 || groups.length === 0;
    if (document.activeElement !== focused && focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  };

  /** An unknown column leaves the order of the configuration. */
  const sortBy = (text: string) => {
    const descending = text.startsWith('-');
    const column = headings.findIndex(
      ({ dataset }) => dataset['key'] !== undefined && dataset['key'] === text.replace(/^-/, ''),
    );
    for (const heading of headings) heading.removeAttribute('aria-sort');
    headings[column]?.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
    sorting =
      column === -1
        ? undefined
        : { text, column, descending, isNumber: headings[column]?.dataset['sort'] === 'number' };
    sort.value = sorting?.text ?? '';
  };

  /** The query has what the user has chosen, so that it survives a reload and can be shared; other parameters stay. */
  const writeQuery = () => {
    const url = new URL(location.href);
    for (const [name, value] of Object.entries({
      filter: filter.value,
      state: state.value,
      sort: sorting?.text ?? '',
    })) {
      if (value === '') url.searchParams.delete(name);
      else url.searchParams.set(name, value);
    }
    if (url.href !== location.href) history.replaceState(null, '', url);
  };

  const readQuery = () => {
    const query = new URLSearchParams(location.search);
    const wanted = query.get('state') ?? '';
    filter.value = query.get('filter') ?? '';
    state.value = [...state.options].some(({ value }) => value === wanted) ? wanted : '';
    sortBy(query.get('sort') ?? '');
  };

  const change = () => {
    writeQuery();
    arrange();
  };

  const update = (fresh: Document, patch: Patch) => {
    const known = new Map([...table.tBodies].map((group) => [group.dataset['station'], group]));
    for (const group of numbered(byId(HTMLTableElement, 'stations', fresh))) {
      const before = known.get(group.dataset['station']);
      known.delete(group.dataset['station']);
      if (before) patch(before, group);
      else table.append(group);
    }
    for (const removed of known.values()) removed.remove();
    for (const id of ['summary', 'totals', 'failures', 'load'])
      patch(byId(HTMLElement, id), byId(HTMLElement, id, fresh));
    arrange();
  };

  /** Row groups carry the place that the server gave them, to restore its order. */
  const numbered = ({ tBodies }: HTMLTableElement): readonly HTMLTableSectionElement[] => {
    const groups = [...tBodies];
    for (const [place, group] of groups.entries()) group.dataset['place'] = String(place);
    return groups;
  };

  /** Screen readers announce every change of a status element, also to the same text. */
  const setText = (element: HTMLElement, text: string) => {
    if (element.textContent !== text) element.textContent = text;
  };

  for (const heading of headings) {
    const key = heading.dataset['key'];
    if (key === undefined) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...heading.childNodes);
    button.addEventListener('click', () => {
      sortBy(sorting?.text === key ? `-${key}` : key);
      change();
    });
    heading.append(button);
  }
  filter.addEventListener('input', change);
  state.addEventListener('change', change);
  sort.addEventListener('change', () => {
    sortBy(sort.value);
    change();
  });
  clear.addEventListener('click', () => {
    filter.value = '';
    state.value = '';
    change();
    filter.focus();
  });
  window.addEventListener('popstate', () => {
    readQuery();
    arrange();
  });
  numbered(table);
  controls.hidden = false;
  readQuery();
  arrange();
  keepCurrent(update);
}
