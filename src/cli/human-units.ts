const SIZE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;

/** `842 KB`, `3.4 MB`: three significant digits in decimal units. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = 0;
  // A value that would be rounded to 1000 belongs to the next unit.
  while (value >= 999.5 && unit < SIZE_UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? value : significant(value)} ${SIZE_UNITS[unit]}`;
}

/** `842 ms`, `13.5 s`, `2 min 5 s`. */
export function spanText(ms: number): string {
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 119_950) return `${ms < 9950 ? (ms / 1000).toFixed(1) : significant(ms / 1000)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min${seconds % 60 === 0 ? '' : ` ${seconds % 60} s`}`;
}

function significant(value: number): string {
  return value < 99.95 ? value.toFixed(1) : String(Math.round(value));
}
