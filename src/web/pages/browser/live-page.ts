/// <reference lib="dom" />

import type { Morph } from 'idiomorph';

/**
 * Keeps the content of the page current by fetching it again, until the button `pause` is pressed, and lets its buttons copy the text before
 * them. Forms and links with `data-live` change the query in place.
 * Inlined by its source text: it must not refer to anything outside of itself.
 */
export function livePage(idiomorph: { readonly morph: Morph }): void {
  const PAUSE_MS = 5000;
  const TIMEOUT_MS = 30_000;
  const MAX_ANNOUNCED = 100;

  const byId = (id: string, root = document): HTMLElement => {
    const element = root.getElementById(id);
    if (!element) throw new Error(`expected #${id}`);
    return element;
  };

  const pause = byId('pause');
  let current = new Date();
  let timer: number | undefined;
  let fetching: AbortController | undefined;
  let isPaused = false;

  /** Whether the user has typed or chosen something that is not submitted. */
  const isInUse = (form: HTMLFormElement): boolean =>
    form.contains(document.activeElement) ||
    [...form.querySelectorAll('option')].some((option) => option.selected !== option.defaultSelected) ||
    [...form.querySelectorAll('input')].some(
      (input) => input.value !== input.defaultValue || input.checked !== input.defaultChecked,
    );

  const isKept = (node: Node): boolean =>
    node instanceof HTMLElement &&
    ('keep' in node.dataset || (node instanceof HTMLFormElement && !isLive(node) && isInUse(node)));

  /** Keeps focus and scroll position, what the user has opened or typed, and everything in elements with `data-keep`. */
  const update = (fresh: Document) => {
    const focused = document.activeElement;
    void idiomorph.morph(byId('content'), byId('content', fresh), {
      ignoreActiveValue: true,
      callbacks: {
        beforeNodeMorphed: (node) => !isKept(node),
        beforeAttributeUpdated: (name, element) => name !== 'open' || !(element instanceof HTMLDetailsElement),
      },
    });
    if (document.activeElement !== focused && focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  };

  const refresh = async () => {
    window.clearTimeout(timer);
    fetching?.abort();
    const request = new AbortController();
    fetching = request;
    const startMs = performance.now();
    const limit = window.setTimeout(() => request.abort(), TIMEOUT_MS);
    let problem = 'has not responded';
    try {
      const response = await fetch(location.href, { headers: { Accept: 'text/html' }, signal: request.signal });
      if (!response.ok) problem = `has responded with status ${response.status}`;
      const text = response.ok ? await response.text() : undefined;
      if (fetching !== request) return;
      if (text === undefined) throw new Error(problem);
      update(new DOMParser().parseFromString(text, 'text/html'));
      current = new Date();
      setText('currency', '');
    } catch {
      if (fetching !== request) return;
      setText(
        'currency',
        `This page is no longer current: the exporter ${problem} since ${current.toLocaleTimeString()}.`,
      );
    } finally {
      window.clearTimeout(limit);
    }
    fetching = undefined;
    // A page that is slow to fetch is fetched less often.
    schedule(Math.max(PAUSE_MS, 10 * (performance.now() - startMs)));
  };

  /** Screen readers announce every change of a status element, also to the same text. */
  const setText = (id: string, text: string) => {
    const element = byId(id);
    if (element.textContent !== text) element.textContent = text;
  };

  const schedule = (delayMs: number) => {
    window.clearTimeout(timer);
    if (!isPaused && !fetching && !document.hidden) timer = window.setTimeout(refresh, delayMs);
  };

  /** The query has what the user has chosen, so that it survives a reload and can be shared. */
  const show = (url: string) => {
    history.replaceState(null, '', url);
    void refresh();
  };

  const isLive = (element: EventTarget | null) => element instanceof HTMLElement && 'live' in element.dataset;

  /** Changes one parameter, because the form may not have been updated to the query yet. */
  const choose = ({ target }: Event) => {
    if (!(target instanceof HTMLInputElement || target instanceof HTMLSelectElement) || !isLive(target.form)) return;
    const url = new URL(location.href);
    if (target.value === '') url.searchParams.delete(target.name);
    else url.searchParams.set(target.name, target.value);
    show(url.href);
  };

  /** By an event, because the clipboard API needs HTTPS and a selection would lose spaces. */
  const copy = (element: Element): boolean => {
    const selection = document.getSelection();
    let isCopied = false;
    const setData = (event: ClipboardEvent) => {
      event.preventDefault();
      event.clipboardData?.setData('text/plain', element.textContent);
      isCopied = true;
    };
    // Some browsers copy only when something is selected.
    selection?.selectAllChildren(element);
    document.addEventListener('copy', setData, { once: true });
    const isDone = document.execCommand('copy');
    document.removeEventListener('copy', setData);
    if (isDone && isCopied) selection?.removeAllRanges();
    return isDone && isCopied;
  };

  document.addEventListener('click', (event) => {
    const target = event.target instanceof Element ? event.target : document.body;
    const link = target.closest<HTMLAnchorElement>('a[data-live]');
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      show(link.href);
    }
    const button = target.closest('.copy');
    const source = button?.previousElementSibling;
    if (!button || !source) return;
    const isCopied = copy(source);
    for (const other of document.querySelectorAll('.copy.done')) other.classList.remove('done');
    button.classList.toggle('done', isCopied);
    byId('copied').textContent = isCopied
      ? `Copied ${source.textContent.slice(0, MAX_ANNOUNCED)}`
      : 'The browser did not copy the text, which is now selected.';
  });
  document.addEventListener('input', choose);
  document.addEventListener('submit', (event) => {
    if (isLive(event.target)) event.preventDefault();
  });
  pause.addEventListener('click', () => {
    isPaused = !isPaused;
    pause.setAttribute('aria-pressed', String(isPaused));
    schedule(0);
  });
  document.addEventListener('visibilitychange', () => schedule(0));
  document.documentElement.classList.add('scripted');
  byId('live').hidden = false;
  schedule(PAUSE_MS);
}
