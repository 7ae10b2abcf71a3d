/**
 * Filters and sorts the stations, and keeps the page current by fetching it again. Only what differs is changed in place,
 * so that focus, scroll position and selected text stay.
 */
export const STATUS_SCRIPT = `'use strict';
(() => {
  const PAUSE_MS = 5000;
  const [table, filter, state, pause, shown, currency, controls] =
    ['stations', 'filter', 'state', 'pause', 'shown', 'currency', 'controls'].map((id) => document.getElementById(id));
  const headings = [...table.tHead.rows[0].cells];
  let sorting;
  let current = new Date();
  let timer;
  let isFetching = false;
  let isPaused = false;

  /** What is not known comes last in either direction. */
  const comparison = ({ column, descending, isNumber }) => (a, b) => {
    const [left, right] = [a, b].map((row) => row.rows[0].cells[column].dataset.value);
    if (left === undefined || right === undefined) return (left === undefined) - (right === undefined);
    const difference = isNumber ? left - right : left.localeCompare(right, undefined, { numeric: true });
    return descending ? -difference : difference;
  };

  const arrange = () => {
    const focused = document.activeElement;
    const rows = [...table.tBodies].sort((a, b) => a.dataset.place - b.dataset.place);
    if (sorting) rows.sort(comparison(sorting));
    rows.forEach((row, place) => {
      if (table.tBodies[place] !== row) table.insertBefore(row, table.tBodies[place]);
    });
    const words = filter.value.toLowerCase().split(/\\s+/);
    for (const row of rows) {
      const said = row.querySelector('.said');
      const text = (row.rows[0].cells[0].textContent + (said ? said.textContent : '')).toLowerCase();
      row.hidden = (state.value !== '' && row.dataset.state !== state.value) || !words.every((word) => text.includes(word));
    }
    const text = rows.filter((row) => !row.hidden).length + ' of ' + rows.length + ' stations shown';
    if (shown.textContent !== text) shown.textContent = text;
    if (document.activeElement !== focused) focused.focus({ preventScroll: true });
  };

  const sortBy = (column) => {
    const heading = headings[column];
    const descending = heading.getAttribute('aria-sort') === 'ascending';
    for (const other of headings) other.removeAttribute('aria-sort');
    heading.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
    sorting = { column, descending, isNumber: heading.dataset.sort === 'number' };
    arrange();
  };

  /** Makes a node equal to another one by as few changes as that takes. */
  const patch = (node, next) => {
    if (node.isEqualNode(next)) return;
    if (node.nodeName !== next.nodeName || node.childNodes.length !== next.childNodes.length || node.nodeType !== 1) {
      node.replaceWith(next);
      return;
    }
    for (const { name } of [...node.attributes]) if (!next.hasAttribute(name)) node.removeAttribute(name);
    for (const { name, value } of next.attributes) node.setAttribute(name, value);
    const children = [...next.childNodes];
    [...node.childNodes].forEach((child, index) => patch(child, children[index]));
  };

  const update = (fresh) => {
    const known = new Map([...table.tBodies].map((row) => [row.dataset.station, row]));
    for (const row of number(fresh.getElementById('stations').tBodies)) {
      const before = known.get(row.dataset.station);
      known.delete(row.dataset.station);
      if (before) patch(before, row);
      else table.append(row);
    }
    for (const gone of known.values()) gone.remove();
    patch(document.getElementById('totals'), fresh.getElementById('totals'));
    arrange();
  };

  /** Rows remember where the server put them. */
  const number = (rows) => [...rows].map((row, place) => {
    row.dataset.place = place;
    return row;
  });

  const refresh = async () => {
    isFetching = true;
    const began = performance.now();
    try {
      const answer = await fetch(location.href, { signal: AbortSignal.timeout(30000) });
      if (!answer.ok) throw new Error(answer.statusText);
      update(new DOMParser().parseFromString(await answer.text(), 'text/html'));
      current = new Date();
      tell('');
    } catch {
      tell('This page is no longer current: the exporter has not answered since ' + current.toLocaleTimeString() + '.');
    }
    isFetching = false;
    // A page that takes long to fetch is fetched less often.
    schedule(Math.max(PAUSE_MS, 10 * (performance.now() - began)));
  };

  /** Screen readers speak of every change: none is made without need. */
  const tell = (text) => {
    if (currency.textContent !== text) currency.textContent = text;
  };

  const schedule = (delayMs) => {
    clearTimeout(timer);
    if (!isPaused && !isFetching && !document.hidden) timer = setTimeout(refresh, delayMs);
  };

  headings.forEach((heading, column) => {
    if (!heading.dataset.sort) return;
    const button = document.createElement('button');
    button.type = 'button';
    button.append(...heading.childNodes);
    button.addEventListener('click', () => sortBy(column));
    heading.append(button);
  });
  filter.addEventListener('input', arrange);
  state.addEventListener('change', arrange);
  pause.addEventListener('click', () => {
    isPaused = !isPaused;
    pause.setAttribute('aria-pressed', String(isPaused));
    schedule(0);
  });
  document.addEventListener('visibilitychange', () => schedule(0));
  number(table.tBodies);
  controls.hidden = false;
  arrange();
  schedule(PAUSE_MS);
})();
`;
