import type { Quantity } from '../station/resource.ts';

/** Enough for every type, state and sku of a real fleet; more than that are not worth sharing. */
const MAX_TEXTS = 10_000;

/** Keeps one copy of what many resources have in common. */
export class SharedTexts {
  readonly #texts = new Map<string, string>();
  readonly #quantities = new Map<string, Quantity | undefined>();

  one(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    if (this.#texts.size < MAX_TEXTS) this.#texts.set(text, text);
    return text;
  }

  /** What the sku states, when it has the form `<quantity> <unit>`. */
  quantity(sku: string): Quantity | undefined {
    const known = this.#quantities.get(sku);
    if (known !== undefined || sku === '') return known;
    const quantity = readQuantity(sku);
    if (this.#quantities.size < MAX_TEXTS) this.#quantities.set(sku, quantity);
    return quantity;
  }
}

function readQuantity(sku: string): Quantity | undefined {
  const [, quantity, unit] = /^\s*(\d+(?:\.\d+)?)\s+(\S+)\s*$/.exec(sku) ?? [];
  if (quantity === undefined || unit === undefined) return undefined;
  const value = Number(quantity);
  return Number.isFinite(value) ? { value, unit } : undefined;
}
