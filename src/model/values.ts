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

/** Whether a parsed JSON or YAML value is an object, not null or an array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
