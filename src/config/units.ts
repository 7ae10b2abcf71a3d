const SIZE_UNITS = [
  { unit: 'GiB', bytes: 1024 ** 3 },
  { unit: 'GB', bytes: 1000 ** 3 },
  { unit: 'MiB', bytes: 1024 ** 2 },
  { unit: 'MB', bytes: 1000 ** 2 },
  { unit: 'KiB', bytes: 1024 },
  { unit: 'KB', bytes: 1000 },
  { unit: 'B', bytes: 1 },
] as const;

export const SIZE_PATTERN = new RegExp(`^(\\d+(?:\\.\\d+)?)(${SIZE_UNITS.map(({ unit }) => unit).join('|')})$`);

/** Returns bytes; undefined when the text is not a size or not an integer number of bytes. */
export function parseSize(text: string): number | undefined {
  const [, amount = '', unit] = SIZE_PATTERN.exec(text) ?? [];
  const found = SIZE_UNITS.find((candidate) => candidate.unit === unit);
  return found === undefined ? undefined : exactProduct(amount, found.bytes);
}

/** Uses the largest unit that needs no fraction. */
export function formatSize(bytes: number): string {
  const exact = SIZE_UNITS.find((candidate) => bytes >= candidate.bytes && bytes % candidate.bytes === 0);
  return exact === undefined ? `${bytes}B` : `${bytes / exact.bytes}${exact.unit}`;
}

/** In the order of a duration, largest first; years and weeks are printed only when they divide the remainder. */
const DURATION_UNITS = [
  { unit: 'y', ms: 31_536_000_000, exact: true },
  { unit: 'w', ms: 604_800_000, exact: true },
  { unit: 'd', ms: 86_400_000, exact: false },
  { unit: 'h', ms: 3_600_000, exact: false },
  { unit: 'm', ms: 60_000, exact: false },
  { unit: 's', ms: 1_000, exact: false },
  { unit: 'ms', ms: 1, exact: false },
] as const;

/** A Prometheus duration that may have decimals: each unit at most once, largest first; or a bare 0. */
export const DURATION_PATTERN = new RegExp(
  `^(?:0|(?=\\d)${DURATION_UNITS.map(({ unit }) => `(?:(\\d+(?:\\.\\d+)?)${unit})?`).join('')})$`,
);

/** Returns milliseconds; undefined when the text is not a duration or not an integer number of milliseconds. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION_PATTERN.exec(text);
  if (match === null) return undefined;
  let total = 0;
  for (const [index, { ms }] of DURATION_UNITS.entries()) {
    const part = exactProduct(match[index + 1] ?? '0', ms);
    if (part === undefined) return undefined;
    total += part;
  }
  return Number.isSafeInteger(total) ? total : undefined;
}

/** The inverse of `parseDuration`. */
export function formatDuration(ms: number): string {
  let rest = ms;
  let text = '';
  for (const { unit, ms: size, exact } of DURATION_UNITS) {
    if (rest < size || (exact && rest % size !== 0)) continue;
    text += `${Math.floor(rest / size)}${unit}`;
    rest %= size;
  }
  return text === '' ? '0s' : text;
}

/** Multiplies a decimal by `factor` exactly; undefined when the result is not a safe integer. */
function exactProduct(text: string, factor: number): number | undefined {
  const [integer = '', fraction = ''] = text.split('.');
  const divisor = 10n ** BigInt(fraction.length);
  const product = BigInt(integer + fraction) * BigInt(factor);
  const value = Number(product / divisor);
  return product % divisor === 0n && Number.isSafeInteger(value) ? value : undefined;
}
