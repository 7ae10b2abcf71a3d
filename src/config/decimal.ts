/** `text` (digits with an optional fraction) times `factor`, exact; undefined when that is no whole number, or too large to be one. */
export function wholeProduct(text: string, factor: number): number | undefined {
  const [whole = '', fraction = ''] = text.split('.');
  const divisor = 10n ** BigInt(fraction.length);
  const product = BigInt(whole + fraction) * BigInt(factor);
  const value = Number(product / divisor);
  return product % divisor === 0n && Number.isSafeInteger(value) ? value : undefined;
}
