/** Bytes by unit, largest first. */
const SIZE_UNITS = {
  GiB: 1024 ** 3,
  GB: 1000 ** 3,
  MiB: 1024 ** 2,
  MB: 1000 ** 2,
  KiB: 1024,
  KB: 1000,
  B: 1,
};

export const SIZE_PATTERN = new RegExp(`^(\\d+(?:\\.\\d+)?)(${Object.keys(SIZE_UNITS).join('|')})$`);

/** Returns bytes; undefined when the text is not a size or not an integer number of bytes. */
export function parseSize(text: string): number | undefined {
  const [, amount, unit] = SIZE_PATTERN.exec(text) ?? [];
  return amount === undefined ? undefined : exactProduct(amount, SIZE_UNITS[unit as keyof typeof SIZE_UNITS]);
}

/** Uses the largest unit that needs no fraction. */
export function formatSize(bytes: number): string {
  const exact = Object.entries(SIZE_UNITS).find(([, size]) => bytes >= size && bytes % size === 0);
  return exact === undefined ? `${bytes}B` : `${bytes / exact[1]}${exact[0]}`;
}

/** Milliseconds by unit, in the order of a duration. */
const DURATION_UNITS = {
  y: 31_536_000_000,
  w: 604_800_000,
  d: 86_400_000,
  h: 3_600_000,
  m: 60_000,
  s: 1_000,
  ms: 1,
};

/** A Prometheus duration that may have decimals: each unit at most once, largest first; or a bare 0. */
export const DURATION_PATTERN = new RegExp(
  `^(?:0|(?=\\d)${Object.keys(DURATION_UNITS)
    .map((unit) => `(?:(\\d+(?:\\.\\d+)?)${unit})?`)
    .join('')})$`,
);

/** Returns milliseconds; undefined when the text is not a duration or not an integer number of milliseconds. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION_PATTERN.exec(text);
  if (match === null) return undefined;
  const parts = Object.values(DURATION_UNITS).map((ms, index) => exactProduct(match[index + 1] ?? '0', ms));
  const total = parts.reduce<number>((sum, part) => sum + (part ?? Number.NaN), 0);
  return Number.isSafeInteger(total) ? total : undefined;
}

/** The inverse of `parseDuration`. As in Prometheus, years and weeks are printed only when they divide the remainder. */
export function formatDuration(ms: number): string {
  let rest = ms;
  let text = '';
  for (const [unit, size] of Object.entries(DURATION_UNITS)) {
    if (rest < size || ('yw'.includes(unit) && rest % size !== 0)) continue;
    text += `${Math.floor(rest / size)}${unit}`;
    rest %= size;
  }
  return text === '' ? '0s' : text;
}

/** The product as an integer; undefined when it is not a safe one. */
function exactProduct(text: string, factor: number): number | undefined {
  const product = Number(text) * factor;
  const value = Math.round(product);
  // The product of a decimal such as 1.1 is not exact. A tiny amount is not 0, which may mean that something is off.
  const isExact = Math.abs(product - value) < 1e-6 && (value !== 0 || product === 0);
  return isExact && Number.isSafeInteger(value) ? value : undefined;
}
