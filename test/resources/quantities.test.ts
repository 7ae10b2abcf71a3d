import { describe, expect, it } from 'vitest';
import { baseQuantity, skuQuantity } from '../../src/resources/quantities.ts';

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

describe('baseQuantity', () => {
  it.each([
    ['512 B', 512],
    ['512 bytes', 512],
    ['2 KB', 2000],
    ['2 kB', 2000],
    ['2 KiB', 2048],
    ['1.5 MB', 1.5e6],
    ['3 MiB', 3 * 2 ** 20],
    ['500 GB', 5e11],
    ['500 GiB', 500 * 2 ** 30],
    ['1.5 TB', 1.5e12],
    ['1.5 TiB', 1.5 * 2 ** 40],
    ['4 PB', 4e15],
    ['4 PiB', 4 * 2 ** 50],
  ])('converts the size %j to bytes', (sku, value) => {
    expect(baseQuantity(sku)).toEqual({ value, unit: 'bytes' });
  });

  it.each(['8 GPU', '4 核', '10 Gb', '10 GBps', '3 M', '7 Blocks'])('leaves the unit of %j as sent', (sku) => {
    expect(baseQuantity(sku)).toEqual(skuQuantity(sku));
  });

  it('has none for a sku that is text alone', () => {
    expect(baseQuantity('large')).toBeUndefined();
  });
});
