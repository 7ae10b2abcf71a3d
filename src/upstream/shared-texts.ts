import type { Quantity } from '../station/resource.ts';

/** Enough for every type, state and sku of a real fleet; more than that are not worth sharing. */
const MAX_TEXTS = 10_000;

/** Keeps one copy of what many resources have in common. */
export class SharedTexts {
  readonly #texts = new Map<string, string>();
  readonly #quantities = new Map<string, Quantity | undefined>();

  one(text: string): string {
    return remembered(this.#texts, text, () => text);
  }

  /** What the sku states, when it has the form `<quantity> <unit>`. */
  quantity(sku: string): Quantity | undefined {
    return remembered(this.#quantities, sku, () => readQuantity(sku));
  }
}

function remembered<Value>(memory: Map<string, Value>, text: string, read: () => Value): Value {
  const known = memory.get(text);
  if (known !== undefined) return known;
  const value = read();
  if (memory.size < MAX_TEXTS) memory.set(text, value);
  return value;
}

function readQuantity(sku: string): Quantity | undefined {
  const [, quantity, unit] = /^\s*(\d+(?:\.\d+)?)\s+(\S+)\s*$/.exec(sku) ?? [];
  if (quantity === undefined || unit === undefined) return undefined;
  const value = Number(quantity);
  return Number.isFinite(value) ? { value, unit } : undefined;
}
