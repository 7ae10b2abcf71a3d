/// <reference lib="dom" />

import type { KeepCurrent, Patch } from './keep-current.ts';

/** Filters and sorts the stations. Inlined by its source text: it must not refer to anything outside of itself. */
export function statusScript(keepCurrent: KeepCurrent): void {
  interface Sorting {
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
      const difference = isNumber ? Number(left) - Number(right) : left.localeCompare(right, undefined, { numeric: true });
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
      const name = group.rows[0]?.cells[0]?.textContent ?? '';
      const message = group.querySelector('.said')?.textContent ?? '';
      const text = (name + message).toLowerCase();
      group.hidden = (state.value !== '' && group.dataset['state'] !== state.value) || !words.every((word) => text.includes(word));
    }
    setText(shown, `${groups.filter((group) => !group.hidden).length} of ${groups.length} stations shown`);
    if (document.activeElement !== focused && focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  };

  const sortBy = (heading: HTMLTableCellElement, column: number) => {
    const descending = heading.getAttribute('aria-sort') === 'ascending';
    for (const other of headings) other.removeAttribute('aria-sort');
    heading.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
    sorting = { column, descending, isNumber: heading.dataset['sort'] === 'number' };
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
    for (const id of ['totals', 'load']) patch(byId(HTMLElement, id), byId(HTMLElement, id, fresh));
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

  for (const [column, heading] of headings.entries()) {
    if (!heading.dataset['sort']) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...heading.childNodes);
    button.addEventListener('click', () => sortBy(heading, column));
    heading.append(button);
  }
  filter.addEventListener('input', arrange);
  state.addEventListener('change', arrange);
  numbered(table);
  controls.hidden = false;
  arrange();
  keepCurrent(update);
}
