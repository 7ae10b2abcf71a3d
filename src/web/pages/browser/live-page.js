/// <reference lib="dom" />

// The pages contain this script as it is, after that of idiomorph.
livePage(/** @type {typeof globalThis & { Idiomorph: Idiomorph }} */ (globalThis).Idiomorph);

/** @typedef {{ readonly morph: import('idiomorph').Morph }} Idiomorph */

/**
 * Keeps the content of the page current by fetching it again, until the button `pause` is pressed.
 * @param {Idiomorph} idiomorph
 */
function livePage(idiomorph) {
  const PAUSE_MS = 5000;
  const TIMEOUT_MS = 30_000;

  /** @param {string} id */
  const byId = (id, root = document) => {
    const element = root.getElementById(id);
    if (!element) throw new Error(`expected #${id}`);
    return element;
  };

  const pause = byId('pause');
  let current = new Date();
  /** @type {number | undefined} */
  let timer;
  let isFetching = false;
  let isPaused = false;

  /**
   * Whether the user has typed or chosen something that is not submitted.
   * @param {HTMLFormElement} form
   */
  const isInUse = (form) =>
    form.contains(document.activeElement) ||
    [...form.querySelectorAll('option')].some((option) => option.selected !== option.defaultSelected) ||
    [...form.querySelectorAll('input')].some(
      (input) => input.value !== input.defaultValue || input.checked !== input.defaultChecked,
    );

  /** @param {Node} node */
  const isKept = (node) =>
    node instanceof HTMLElement && ('keep' in node.dataset || (node instanceof HTMLFormElement && isInUse(node)));

  /**
   * Keeps focus and scroll position, what the user has opened or typed, and everything in elements with `data-keep`.
   * @param {Document} fresh
   */
  const update = (fresh) => {
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

  /**
   * Screen readers announce every change of a status element, also to the same text.
   * @param {string} id
   * @param {string} text
   */
  const setText = (id, text) => {
    const element = byId(id);
    if (element.textContent !== text) element.textContent = text;
  };

  /** @param {number} delayMs */
  const schedule = (delayMs) => {
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
