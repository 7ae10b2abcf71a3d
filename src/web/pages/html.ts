import { durationText, numberText } from '../../text/words.ts';

/** Markup, as opposed to text that must be escaped. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlValue = Html | readonly Html[] | string | number;

/** Markup with every value escaped, for use in elements and quoted attributes. */
export function html(markup: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  let text = '';
  for (const [at, part] of markup.entries()) text += part + render(values[at] ?? '');
  return new Html(text);
}

function render(value: HtmlValue): string {
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(({ text }) => text).join('');
  return escaped(String(value));
}

/** Includes CR and NUL, which HTML parsers replace. */
function escaped(text: string): string {
  // Most values need no change, and a search costs less than a replacement.
  if (!/[&<>"'\r\0\ud800-\udfff]/.test(text)) return text;
  return text
    .toWellFormed()
    .replace(/[&<>"'\r\0]/g, (character) => (character === '\0' ? '\uFFFD' : `&#${character.charCodeAt(0)};`));
}

/** Words of this length or longer may be broken anywhere: they would widen a table beyond the window. */
const LONG_WORD = /[^\s._:/-]{25}/u;

/** A text that is broken between its words and between the parts of its tokens; an overlong word anywhere. */
export function breakable(text: string): Html {
  const parts = new Html(html`${text}`.text.replace(/[._:/-](?=\w)/g, '$&<wbr>'));
  return LONG_WORD.test(text) ? html`<span class="long">${parts}</span>` : parts;
}

/** A term and its value; without a value it is left out. */
export interface DescribedValue {
  readonly term: string;
  readonly value: Html | string | undefined;
  readonly tone?: 'bad' | 'warning' | 'unclear' | '';
  /** What the value is to be compared with. */
  readonly note?: Html | string | undefined;
  /** A share from 0 to 1, shown as a bar. */
  readonly share?: number | undefined;
}

/** A description list: as boxes with numbers to be read at a glance, or as lines. */
export function descriptionList(look: 'tiles' | 'lines', id: string, entries: readonly DescribedValue[]): Html {
  const rows = entries.map(({ term, value, tone = '', note, share }) => {
    if (value === undefined) return html``;
    const noted = note === undefined ? [] : html`<dd class="note">${note}</dd>`;
    const bar = share === undefined ? [] : html`<dd class="share">${shareBar(share)}</dd>`;
    return html`<div><dt>${term}</dt><dd class="value ${tone}">${value}</dd>${noted}${bar}</div>\n`;
  });
  return html`<dl class="${look}" id="${id}">
${rows}</dl>`;
}

/** At least so wide that it can be seen, unless it is 0. */
function shareBar(share: number): Html {
  const width = share === 0 ? 0 : Math.max(0.5, Math.round(share * 1000) / 10);
  return html`<svg class="bar" aria-hidden="true"><rect width="${width}%" height="100%"/></svg>`;
}

/** A dash in place of a value, with the explanation for mouse and screen reader. */
export function unknown(explanation: string): Html {
  return html`<span class="unknown" title="${explanation}">–<span class="hidden-text"> ${explanation}</span></span>`;
}

/** Relative to now, with the exact time as a tooltip. */
export function momentText(atMs: number, nowMs: number, precision: 'exact' | 'rough' = 'exact'): Html {
  const iso = new Date(atMs).toISOString();
  const duration = precision === 'exact' ? durationText : roughDuration;
  return html`<time datetime="${iso}" title="${iso}">${relativeText(nowMs - atMs, duration)}</time>`;
}

function relativeText(ageMs: number, duration: typeof durationText): string {
  if (Math.abs(ageMs) < 1000) return 'just now';
  return ageMs > 0 ? `${duration(ageMs)} ago` : `in ${duration(-ageMs)}`;
}

/** `since 13:18 UTC`, with the day if it is another one; with its length: `since 13:18 UTC, 12 min`. */
export function sinceText(sinceMs: number, nowMs: number, length?: 'with length'): Html {
  const lengthText = length === undefined ? '' : `, ${roughDuration(nowMs - sinceMs)}`;
  return html`<span class="together">since ${dayText(sinceMs, nowMs)}${timeText(sinceMs)} UTC${lengthText}</span>`;
}

/** In one unit, in two from an hour on: smaller ones would change with every update. */
export function roughDuration(ms: number): string {
  const [amount, unit, ...rest] = durationText(Math.max(ms, 0)).split(' ');
  return [amount, unit, ...(unit === 'd' || unit === 'h' ? rest : [])].join(' ');
}

/** `02 Jan `, if it is another day than that of `otherMs`. */
export function dayText(atMs: number, otherMs: number): string {
  const [day, other] = [atMs, otherMs].map((ms) => new Date(ms).toUTCString().slice(5, 16));
  return day === other ? '' : `${day?.slice(0, 6)} `;
}

export function utcTime(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

export function timeText(atMs: number, precision: 'minutes' | 'seconds' = 'minutes'): Html {
  const iso = new Date(atMs).toISOString();
  return html`<time datetime="${iso}" title="${iso}">${iso.slice(11, precision === 'minutes' ? 16 : 19)}</time>`;
}

/** `a, b and 3 more`. */
export function itemList(items: readonly Html[], max: number): Html {
  const shown = items.slice(0, max).map((item, at) => html`${at === 0 ? '' : ', '}${item}`);
  return html`${shown}${items.length > max ? ` and ${numberText(items.length - max)} more` : ''}`;
}

/** The rest of a list, in a part to open; `count`: of its items, at most 0 if there is none. */
export function more(count: number, rest: Html): Html {
  return count <= 0 ? html`` : html`<details><summary>${numberText(count)} more</summary>${rest}</details>\n`;
}

/** The id of an element that stays the same in updates, wherever it is moved. */
export function rowId(key: string): string {
  return `row-${encodeURIComponent(key.toWellFormed())}`;
}
