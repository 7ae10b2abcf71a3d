import { wholeProduct } from './decimal.ts';

/** Largest first, the order in which a duration names them; a year and a week are printed only when they divide the rest. */
const UNITS = [
  { unit: 'y', ms: 31_536_000_000, exact: true },
  { unit: 'w', ms: 604_800_000, exact: true },
  { unit: 'd', ms: 86_400_000, exact: false },
  { unit: 'h', ms: 3_600_000, exact: false },
  { unit: 'm', ms: 60_000, exact: false },
  { unit: 's', ms: 1_000, exact: false },
  { unit: 'ms', ms: 1, exact: false },
] as const;

/** Prometheus durations, decimals allowed: each unit at most once, the largest first; or a bare 0. */
export const DURATION_PATTERN = new RegExp(`^(?:0|(?=\\d)${UNITS.map(({ unit }) => `(?:(\\d+(?:\\.\\d+)?)${unit})?`).join('')})$`);

/** In milliseconds; undefined for a text that is no duration or no whole number of milliseconds. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION_PATTERN.exec(text);
  if (match === null) return undefined;
  let total = 0;
  for (const [index, { ms }] of UNITS.entries()) {
    const part = wholeProduct(match[index + 1] ?? '0', ms);
    if (part === undefined) return undefined;
    total += part;
  }
  return Number.isSafeInteger(total) ? total : undefined;
}

/** The shortest text that `parseDuration` reads as these milliseconds. */
export function formatDuration(ms: number): string {
  let rest = ms;
  let text = '';
  for (const { unit, ms: size, exact } of UNITS) {
    if (rest < size || (exact && rest % size !== 0)) continue;
    text += `${Math.floor(rest / size)}${unit}`;
    rest %= size;
  }
  return text === '' ? '0s' : text;
}
