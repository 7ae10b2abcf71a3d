/// <reference lib="dom" />

import type { KeepCurrent } from './keep-current.ts';

/**
 * Keeps the content of the page current, and lets its buttons copy the text before them.
 * Inlined by its source text: it must not refer to anything outside of itself.
 */
export function livePageScript(keepCurrent: KeepCurrent): void {
  const byId = (id: string, root: Document = document): HTMLElement => {
    const element = root.getElementById(id);
    if (!element) throw new Error(`expected #${id}`);
    return element;
  };

  const MAX_ANNOUNCED = 100;
  const content = byId('content');
  const announcement = byId('copied');

  /** By an event, because the clipboard API needs HTTPS and a selection would lose spaces. */
  const copy = (element: Element): boolean => {
    const selection = document.getSelection();
    let isCopied = false;
    const setText = (event: ClipboardEvent) => {
      event.preventDefault();
      event.clipboardData?.setData('text/plain', element.textContent);
      isCopied = true;
    };
    // Some browsers copy only when something is selected.
    selection?.selectAllChildren(element);
    document.addEventListener('copy', setText, { once: true });
    const isDone = document.execCommand('copy');
    document.removeEventListener('copy', setText);
    if (isDone && isCopied) selection?.removeAllRanges();
    return isDone && isCopied;
  };

  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest('.copy') : null;
    const source = button?.previousElementSibling;
    if (!button || !source) return;
    const isCopied = copy(source);
    for (const other of document.querySelectorAll('.copy.done')) other.classList.remove('done');
    button.classList.toggle('done', isCopied);
    announcement.textContent = isCopied
      ? `Copied ${source.textContent.slice(0, MAX_ANNOUNCED)}`
      : 'The browser did not copy the text, which is now selected.';
  });
  document.documentElement.classList.add('scripted');
  byId('live').hidden = false;
  keepCurrent((fresh, patch) => patch(content, byId('content', fresh)));
}
