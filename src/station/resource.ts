/** The amount a sku states, when it has the form `<quantity> <unit>`. */
export interface Quantity {
  readonly value: number;
  readonly unit: string;
}

/**
 * One resource as far as it could be read. Texts are fit to be label values (see `labelText`), '' when the service gave none;
 * undefined stands for what it did not give or gave unusably.
 */
export interface Resource {
  readonly id: string;
  readonly name: string;
  readonly displayName: string;
  readonly type: string;
  readonly typeLabel: string;
  readonly state: string;
  readonly sku: string;
  readonly quantity: Quantity | undefined;
  readonly gpuModel: string;
  readonly alertRules: number | undefined;
  readonly createdSeconds: number | undefined;
  /** The first configured product whose listing held the resource; '' for none. */
  readonly product: string;
  /** undefined: nobody asked, or the listing of alertable resources was not proven whole. */
  readonly alertable: boolean | undefined;
}

const MAX_BYTES = 1024;

/** The text as a label can carry it: well-formed Unicode of at most 1,024 bytes, cut on a character border. */
export function labelText(text: string): string {
  const wellFormed = text.toWellFormed();
  if (wellFormed.length * 3 <= MAX_BYTES || Buffer.byteLength(wellFormed) <= MAX_BYTES) return wellFormed;
  const bytes = Buffer.from(wellFormed.slice(0, MAX_BYTES));
  let end = MAX_BYTES;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
