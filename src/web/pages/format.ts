import { type Html, html } from './html.ts';

const NUMBER = new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 });

/** What is shown where nothing is known. */
const UNKNOWN = '–';

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

export function numberText(value: number): string {
  return NUMBER.format(value);
}

/** `1 resource`, `1,200 resources`. */
export function countText(count: number, noun: string): string {
  return `${numberText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Rounded down, so that only all is 100 %. */
export function shareText(part: number, whole: number): string {
  return `${NUMBER.format(Math.floor((part / whole) * 1000) / 10)} %`;
}

/** In its largest unit and the next one below, as far as that says something. */
export function durationText(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const first = UNITS.findIndex(([, length]) => seconds >= length);
  if (first === -1) return '0 s';
  const isLong = seconds >= 7 * 86_400;
  let rest = seconds;
  const amounts = UNITS.slice(first, isLong ? first + 1 : first + 2).map(([unit, length]) => {
    const amount = Math.floor(rest / length);
    rest -= amount * length;
    return { unit, amount };
  });
  return amounts
    .filter(({ amount }) => amount > 0)
    .map(({ unit, amount }) => `${numberText(amount)} ${unit}`)
    .join(' ');
}

/** A moment by how far it is from now, and exactly for whoever points at it. */
export function momentText(atMs: number, nowMs: number): Html {
  const iso = new Date(atMs).toISOString();
  return html`<time datetime="${iso}" title="${iso}">${distance(nowMs - atMs)}</time>`;
}

/** A dash, and in words why there is nothing else to show. */
export function unknown(why: string): Html {
  return html`<span class="unknown" title="${why}">${UNKNOWN}<span class="hidden-text"> ${why}</span></span>`;
}

function distance(ageMs: number): string {
  if (Math.abs(ageMs) < 1000) return 'just now';
  return ageMs > 0 ? `${durationText(ageMs)} ago` : `in ${durationText(-ageMs)}`;
}

/** A few numbers to be seen at a glance. */
export function figures(id: string, entries: readonly (readonly [term: string, value: Html | string])[]): Html {
  return html`<dl class="figures" id="${id}">
${entries.map(([term, value]) => html`<div><dt>${term}</dt><dd>${value}</dd></div>\n`)}</dl>`;
}

/** Terms and what there is to tell of each; what has nothing is left out. */
export function facts(id: string, entries: readonly (readonly [term: string, value: Html | string | undefined])[]): Html {
  const told = entries.flatMap(([term, value]) => (value === undefined ? [] : [html`<dt>${term}</dt><dd>${value}</dd>\n`]));
  return html`<dl class="facts" id="${id}">
${told}</dl>`;
}
