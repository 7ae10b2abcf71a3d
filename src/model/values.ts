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

export const INVALID = Symbol('invalid');

export type Invalid = typeof INVALID;

export function isMissing(value: unknown): value is null | undefined {
  return value === undefined || value === null;
}

/** Whether a parsed JSON or YAML value is an object, not null or an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function readText(value: unknown): string | Invalid {
  return typeof value === 'string' ? labelText(value) : INVALID;
}

/** An enum value: its name, or the number that a gateway prints for a name it does not know. */
export function readToken(value: unknown): string | Invalid {
  return readText(typeof value === 'number' ? String(value) : value);
}

/** A JSON number, or a decimal string as gateways write 64-bit integers; an integer of at least 0. */
export function readWholeNumber(value: unknown): number | Invalid {
  const number = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 ? number : INVALID;
}

const TIMESTAMP =
  /^\d{4}-\d\d-\d\d[Tt ](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** An RFC 3339 timestamp as Unix seconds; invalid for dates that do not exist and for times before 1970. */
export function readTimestamp(value: unknown): number | Invalid {
  if (typeof value !== 'string' || !TIMESTAMP.test(value)) return INVALID;
  // Date.parse takes February 30 for March 1.
  const day = value.slice(8, 10);
  if (day > '28' && new Date(value.slice(0, 10)).getUTCDate() !== Number(day)) return INVALID;
  const seconds = Math.floor(Date.parse(value) / 1000);
  // Date.parse ignores what is shorter than a millisecond.
  const fraction = value.slice(19, /[Zz]$/.test(value) ? -1 : -6);
  return seconds >= 0 ? seconds + Number(fraction) : INVALID;
}
