import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { livePage } from './browser/live-page.ts';
import { html } from './html.ts';

const IDIOMORPH = readFileSync(createRequire(import.meta.url).resolve('idiomorph/dist/idiomorph.min.js'), 'utf8');

/** Keeps the page current; the page has the controls and notices below. */
export const LIVE_SCRIPT = `'use strict';
${IDIOMORPH}
(${livePage})(Idiomorph);
`;

/** Hidden until the script runs, which keeps their state in every update. */
export const LIVE_CONTROLS = html`<div id="live" data-keep hidden><button id="pause" type="button" aria-pressed="false">Pause updates</button></div>`;

export const LIVE_NOTICES = html`<p id="currency" class="notice" role="status" data-keep></p>`;

/** The id of an element that stays the same in updates, wherever it is moved. */
export function rowId(key: string): string {
  return `row-${encodeURIComponent(key.toWellFormed())}`;
}
