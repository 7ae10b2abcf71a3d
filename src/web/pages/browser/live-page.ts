/// <reference lib="dom" />

import type { Morph } from 'idiomorph';

/**
 * Keeps the content of the page current by fetching it again, until the button `pause` is pressed.
 * Inlined by its source text: it must not refer to anything outside of itself.
 */
export function livePage(idiomorph: { readonly morph: Morph }): void {
  const PAUSE_MS = 5000;
  const TIMEOUT_MS = 30_000;

  const byId = (id: string, root = document): HTMLElement => {
    const element = root.getElementById(id);
    if (!element) throw new Error(`expected #${id}`);
    return element;
  };

  const pause = byId('pause');
  let current = new Date();
  let timer: number | undefined;
  let isFetching = false;
  let isPaused = false;

  /** Whether the user has typed or chosen something that is not submitted. */
  const isInUse = (form: HTMLFormElement): boolean =>
    form.contains(document.activeElement) ||
    [...form.querySelectorAll('option')].some((option) => option.selected !== option.defaultSelected) ||
    [...form.querySelectorAll('input')].some(
      (input) => input.value !== input.defaultValue || input.checked !== input.defaultChecked,
    );

  const isKept = (node: Node): boolean =>
    node instanceof HTMLElement && ('keep' in node.dataset || (node instanceof HTMLFormElement && isInUse(node)));

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
    isFetching = true;
    const request = new AbortController();
    const startMs = performance.now();
    const limit = window.setTimeout(() => request.abort(), TIMEOUT_MS);
    let problem = 'has not responded';
    try {
      const response = await fetch(location.href, { headers: { Accept: 'text/html' }, signal: request.signal });
      if (!response.ok) {
        problem = `has responded with status ${response.status}`;
        throw new Error(problem);
      }
      update(new DOMParser().parseFromString(await response.text(), 'text/html'));
      current = new Date();
      setText('currency', '');
    } catch {
      setText(
        'currency',
        `This page is no longer current: the exporter ${problem} since ${current.toISOString().slice(11, 19)} UTC.`,
      );
    } finally {
      window.clearTimeout(limit);
    }
    isFetching = false;
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
    if (!isPaused && !isFetching && !document.hidden) timer = window.setTimeout(refresh, delayMs);
  };

  pause.addEventListener('click', () => {
    isPaused = !isPaused;
    pause.textContent = isPaused ? 'Resume updates' : 'Pause updates';
    pause.classList.toggle('paused', isPaused);
    schedule(0);
  });
  document.addEventListener('visibilitychange', () => schedule(0));
  byId('live').hidden = false;
  schedule(PAUSE_MS);
}
