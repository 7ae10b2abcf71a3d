export interface Quantity {
  readonly value: number;
  readonly unit: string;
}

/** The quantity in a sku of the form `<quantity> <unit>`; undefined for others. */
export function skuQuantity(sku: string): Quantity | undefined {
  const [, amount, unit] = /^\s*(\d+(?:\.\d+)?)\s+(\S+)\s*$/.exec(sku) ?? [];
  if (amount === undefined || unit === undefined) return undefined;
  const value = Number(amount);
  return Number.isFinite(value) ? { value, unit } : undefined;
}

/** Sizes in decimal and binary multiples; `kB` is the usual spelling of `KB`. */
const SIZE_UNIT = /^(?:([kKMGTP])(i)?B|B|[Bb]ytes?)$/;

const SIZE_PREFIXES = ['K', 'M', 'G', 'T', 'P'];

/** The quantity in a sku as metrics have it: sizes in bytes, all other units as sent. */
export function baseQuantity(sku: string): Quantity | undefined {
  const quantity = skuQuantity(sku);
  if (quantity === undefined) return undefined;
  const size = SIZE_UNIT.exec(quantity.unit);
  if (size === null) return quantity;
  const [, prefix = '', binary] = size;
  const exponent = SIZE_PREFIXES.indexOf(prefix.toUpperCase()) + 1;
  const multiple = binary === undefined ? 1000 : 1024;
  return { value: quantity.value * multiple ** exponent, unit: 'bytes' };
}

/** Returns a `baseQuantity` for many resources: few skus differ, and parsing one takes longer than finding it. */
export function quantityReader(): typeof baseQuantity {
  const known = new Map<string, Quantity | undefined>();
  return (sku) => {
    if (!known.has(sku)) known.set(sku, baseQuantity(sku));
    return known.get(sku);
  };
}
