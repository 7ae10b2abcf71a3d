import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readTimestamp } from '../../../src/upstream/protocol/timestamp.ts';

describe('readTimestamp', () => {
  it.each([
    ['1970-01-01T00:00:00Z', 0],
    ['2024-02-29T12:00:00Z', 1_709_208_000],
    ['2024-05-01T12:00:00.123Z', 1_714_564_800.123],
    ['2024-05-01T12:00:00.123456Z', 1_714_564_800.123456],
    ['2024-05-01T12:00:00.123456789Z', 1_714_564_800.123_456_7],
    ['2024-05-01T14:30:00.5+02:30', 1_714_564_800.5],
    ['2024-05-01T05:00:00-07:00', 1_714_564_800],
    ['2024-05-01t12:00:00z', 1_714_564_800],
    ['2024-05-01 12:00:00Z', 1_714_564_800],
    ['2000-02-29T00:00:00Z', 951_782_400],
    ['1970-01-01T01:00:00+01:00', 0],
    ['2024-05-01T12:00:00.000000000000000000000001Z', 1_714_564_800],
  ])('reads %s', (text, seconds) => {
    expect(readTimestamp(text)).toBe(seconds);
  });

  it.each([
    '',
    'yesterday',
    '2024',
    '2024-05-01',
    '2024-05-01T12:00:00',
    '2024-05-01T12:00Z',
    '2024-5-1T12:00:00Z',
    '2023-02-29T12:00:00Z',
    '2024-04-31T12:00:00Z',
    '2024-05-01T24:00:00Z',
    '2024-05-01T12:60:00Z',
    '2024-13-01T12:00:00Z',
    '2024-05-01T12:00:00+25:00',
    '2024-05-01T12:00:00.Z',
    ' 2024-05-01T12:00:00Z',
    '2024-05-01T12:00:00Z\n',
    '0001-01-01T00:00:00Z',
    '0070-01-01T00:00:00Z',
    '2024-00-01T12:00:00Z',
    '2024-05-00T12:00:00Z',
    '1900-02-29T12:00:00Z',
    '2024/05/01T12:00:00Z',
    '2024-05-01_12:00:00Z',
    '2024-05-01T12:00:00+0200',
    '2024-05-01T12:00:00+02:60',
    '2024-05-01T12:00:00+02:000',
    '2024-05-01T12:00:00Zz',
    '2024-05-01T12:00:0xZ',
    '1969-12-31T23:59:59Z',
  ])('rejects %j', (text) => {
    expect(readTimestamp(text)).toBeUndefined();
  });

  it('reads every time that a Date can print', () => {
    const instants = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true });
    fc.assert(fc.property(instants, (date) => readTimestamp(date.toISOString()) === date.getTime() / 1000));
  });

  it('reads a fraction as the nearest double', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 20 }), (fraction) => {
        expect(readTimestamp(`2024-05-01T12:00:00.${fraction}Z`)).toBe(Number(`1714564800.${fraction}`));
      }),
    );
  });
});
