/** Created when it is first needed, because it loads the data of locales. */
let numberFormat: Intl.NumberFormat | undefined;

export function numberText(value: number): string {
  numberFormat ??= new Intl.NumberFormat('en-US', { maximumFractionDigits: 6 });
  return numberFormat.format(value);
}

/** `1 resource`, `1,200 resources`. */
export function countText(count: number, noun: string, plural = `${noun}s`): string {
  return `${numberText(count)} ${count === 1 ? noun : plural}`;
}

/** The first ones, and how many more there are. */
export function firstOf(
  texts: readonly string[],
  max: number,
  rest = (more: number) => `and ${numberText(more)} more`,
): readonly string[] {
  const more = texts.length - max;
  return more > 0 ? [...texts.slice(0, max), rest(more)] : texts;
}

/** Enough to recognize what they are. */
const MAX_NAMES = 5;

/** The first ones in a line. */
export function namesText(names: readonly string[]): string {
  return firstOf(names, MAX_NAMES).join(', ');
}

/** In whole percent, rounded down: 85 % is no less than 85 %, 0 % is none, and 100 % is all. */
export function shareText(part: number, total: number): string {
  const percent = Math.floor((100 * part) / total);
  return percent === 0 && part > 0 ? '<1 %' : `${percent} %`;
}

/** `66–100 %`; one share if both look the same. */
export function shareRangeText([least, most]: readonly [number, number], total: number): string {
  const [first, last] = [shareText(least, total), shareText(most, total)];
  return first === last ? first : `${first.replace(' %', '')}–${last}`;
}

/** `914 bytes`, `96 KiB`, `16.4 MiB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1024) return countText(bytes, 'byte');
  const [unit, length] = bytes < 1024 ** 2 ? ['KiB', 1024] : ['MiB', 1024 ** 2];
  const amount = bytes / length;
  return `${numberText(Number(amount.toFixed(amount < 100 ? 1 : 0)))} ${unit}`;
}

const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const;

/** `842 ms`, `3.4 s`, `13 s`, `2 min 5 s`: in at most two units, after a week in days alone. */
export function durationText(ms: number): string {
  if (ms > 0 && ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9950) return `${Math.round(ms / 100) / 10} s`;
  let rest = Math.round(ms / 1000);
  const first = UNITS.findIndex(([, length]) => rest >= length);
  const units = UNITS.slice(first, rest >= 7 * 86_400 ? first + 1 : first + 2);
  return units
    .flatMap(([unit, length]) => {
      const amount = Math.floor(rest / length);
      rest %= length;
      return amount === 0 ? [] : [`${numberText(amount)} ${unit}`];
    })
    .join(' ');
}
