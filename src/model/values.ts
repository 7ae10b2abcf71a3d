const MAX_BYTES = 1024;

/** The text as a valid label value: well-formed Unicode of at most 1,024 bytes, cut on a character boundary. */
export function labelText(text: string): string {
  const wellFormed = text.toWellFormed();
  if (wellFormed.length * 3 <= MAX_BYTES || Buffer.byteLength(wellFormed) <= MAX_BYTES) return wellFormed;
  const bytes = Buffer.from(wellFormed.slice(0, MAX_BYTES));
  let end = MAX_BYTES;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** Stands for a value that could not be read. */
export const INVALID = Symbol('invalid');

export type Invalid = typeof INVALID;

/** A JSON number, or a decimal string as gateways write 64-bit integers; an integer of at least 0. */
export function wholeNumber(value: unknown): number | Invalid {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 ? number : INVALID;
}

/** Gateways write null for a field that has no value. */
export function isMissing(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** Whether a parsed JSON or YAML value is an object, not null or an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
