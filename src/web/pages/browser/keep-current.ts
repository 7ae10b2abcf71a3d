/// <reference lib="dom" />

/** Changes the node to equal the next one. */
export type Patch = (node: ChildNode, next: ChildNode) => void;

/** Called with each new version of the page. */
type Update = (fresh: Document, patch: Patch) => void;

export type KeepCurrent = (update: Update) => void;

/**
 * Keeps a page current by fetching it again, until the button `pause` is pressed; `currency` says when the exporter cannot be reached.
 * Inlined by its source text: it must not refer to anything outside of itself.
 */
export function keepCurrent(update: Update): void {
  const PAUSE_MS = 5000;
  const TIMEOUT_MS = 30_000;
  const pause = document.getElementById('pause');
  const currency = document.getElementById('currency');
  let current = new Date();
  let timer: number | undefined;
  let isFetching = false;
  let isPaused = false;

  const keyOf = (node: Node): string => (node instanceof HTMLElement ? node.id || (node.dataset['key'] ?? '') : '');

  /**
   * Changes as little as possible, so that focus, scroll position and selected text survive. Keeps what the user has opened or typed, and
   * everything in elements with `data-keep`.
   */
  const patch: Patch = (node, next) => {
    if (node.isEqualNode(next) || (node instanceof HTMLElement && 'keep' in node.dataset)) return;
    if (!(node instanceof Element && next instanceof Element) || node.nodeName !== next.nodeName) {
      node.replaceWith(next);
      return;
    }
    if (node instanceof HTMLFormElement && isInUse(node)) return;
    const isKept = (name: string) => name === 'open' && node instanceof HTMLDetailsElement;
    for (const { name } of [...node.attributes])
      if (!next.hasAttribute(name) && !isKept(name)) node.removeAttribute(name);
    for (const { name, value } of next.attributes) if (!isKept(name)) node.setAttribute(name, value);
    patchChildren(node, next);
  };

  const isInUse = (form: HTMLFormElement): boolean => {
    if (form.contains(document.activeElement)) return true;
    return [...form.elements].some((control) => {
      if (control instanceof HTMLSelectElement)
        return [...control.options].some((option) => option.selected !== option.defaultSelected);
      return (
        control instanceof HTMLInputElement &&
        (control.value !== control.defaultValue || control.checked !== control.defaultChecked)
      );
    });
  };

  /** Children with an id or `data-key` keep their element, wherever they are moved. */
  const patchChildren = (node: Element, next: Element) => {
    const children = [...next.childNodes];
    const known = new Map([...node.childNodes].map((child) => [keyOf(child), child]));
    const kept = new Set(children.map(keyOf).filter((key) => known.has(key)));
    kept.delete('');
    let at = node.firstChild;
    const remove = (child: ChildNode) => {
      at = child.nextSibling;
      child.remove();
    };
    for (const child of children) {
      const same = kept.has(keyOf(child)) ? known.get(keyOf(child)) : undefined;
      // A removal moves no other child, and so keeps the focus.
      while (same && at && at !== same && !kept.has(keyOf(at))) remove(at);
      const match = same ?? (at && !kept.has(keyOf(at)) && at.nodeName === child.nodeName ? at : undefined);
      if (match === undefined) {
        node.insertBefore(child, at);
      } else {
        if (match === at) at = match.nextSibling;
        else node.insertBefore(match, at);
        patch(match, child);
      }
    }
    while (at) remove(at);
  };

  const refresh = async () => {
    isFetching = true;
    const startMs = performance.now();
    let problem = 'has not responded';
    try {
      const response = await fetch(location.href, {
        headers: { Accept: 'text/html' },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (!response.ok) {
        problem = `has responded with status ${response.status}`;
        throw new Error(problem);
      }
      const focused = document.activeElement;
      update(new DOMParser().parseFromString(await response.text(), 'text/html'), patch);
      if (document.activeElement !== focused && focused instanceof HTMLElement) focused.focus({ preventScroll: true });
      current = new Date();
      setNotice('');
    } catch {
      setNotice(`This page is no longer current: the exporter ${problem} since ${current.toLocaleTimeString()}.`);
    }
    isFetching = false;
    // A page that is slow to fetch is fetched less often.
    schedule(Math.max(PAUSE_MS, 10 * (performance.now() - startMs)));
  };

  /** Screen readers announce every change of a status element, also to the same text. */
  const setNotice = (text: string) => {
    if (currency && currency.textContent !== text) currency.textContent = text;
  };

  const schedule = (delayMs: number) => {
    window.clearTimeout(timer);
    if (!isPaused && !isFetching && !document.hidden) timer = window.setTimeout(refresh, delayMs);
  };

  pause?.addEventListener('click', () => {
    isPaused = !isPaused;
    pause.setAttribute('aria-pressed', String(isPaused));
    schedule(0);
  });
  document.addEventListener('visibilitychange', () => schedule(0));
  schedule(PAUSE_MS);
}
