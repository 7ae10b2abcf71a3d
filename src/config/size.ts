import { wholeProduct } from './decimal.ts';

const UNITS = [
  { unit: 'GiB', bytes: 1024 ** 3 },
  { unit: 'GB', bytes: 1000 ** 3 },
  { unit: 'MiB', bytes: 1024 ** 2 },
  { unit: 'MB', bytes: 1000 ** 2 },
  { unit: 'KiB', bytes: 1024 },
  { unit: 'KB', bytes: 1000 },
  { unit: 'B', bytes: 1 },
] as const;

export const SIZE_PATTERN = new RegExp(`^(\\d+(?:\\.\\d+)?)(${UNITS.map(({ unit }) => unit).join('|')})$`);

/** In bytes; undefined for a text that is no size or no whole number of bytes. */
export function parseSize(text: string): number | undefined {
  const [, amount = '', unit] = SIZE_PATTERN.exec(text) ?? [];
  const found = UNITS.find((candidate) => candidate.unit === unit);
  return found === undefined ? undefined : wholeProduct(amount, found.bytes);
}

/** In the largest unit that needs no fraction. */
export function formatSize(bytes: number): string {
  const whole = UNITS.find((candidate) => bytes >= candidate.bytes && bytes % candidate.bytes === 0);
  return whole === undefined ? `${bytes}B` : `${bytes / whole.bytes}${whole.unit}`;
}
