import { describe, expect, it } from 'vitest';
import { labelText, skuQuantity } from '../../src/model/resource.ts';

describe('labelText', () => {
  it('replaces each lone surrogate', () => {
    expect(labelText('a\ud800b\udfff')).toBe('a\ufffdb\ufffd');
  });

  it('truncates at 1,024 bytes on a character boundary', () => {
    expect(labelText('x'.repeat(2000))).toBe('x'.repeat(1024));
    expect(labelText('é'.repeat(600))).toBe('é'.repeat(512));
    expect(labelText('名'.repeat(342))).toBe('名'.repeat(341));
    expect(labelText(`x${'😀'.repeat(300)}`)).toBe(`x${'😀'.repeat(255)}`);
    expect(labelText('x'.repeat(1024))).toHaveLength(1024);
  });
});

describe('skuQuantity', () => {
  it.each([
    ['8 GPU', 8, 'GPU'],
    ['1.5 TiB', 1.5, 'TiB'],
    [' 500  GiB ', 500, 'GiB'],
    ['4 核', 4, '核'],
  ])('reads the quantity of the sku %j', (sku, value, unit) => {
    expect(skuQuantity(sku)).toEqual({ value, unit });
  });

  it.each(['', '8', '8GPU', '8 GPU A100', '-8 GPU', '1,000 GiB', '1e3 GiB', '.5 TiB', `${'9'.repeat(400)} x`])(
    'takes the sku %j for text alone',
    (sku) => {
      expect(skuQuantity(sku)).toBeUndefined();
    },
  );
});
