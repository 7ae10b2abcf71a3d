import { describe, expect, it } from 'vitest';
import { countText, durationText, shareRangeText, shareText } from '../../src/text/words.ts';

const S = 1000;
const MIN = 60 * S;
const H = 60 * MIN;
const D = 24 * H;

describe('countText', () => {
  it.each([
    [1, '1 page'],
    [1000, '1,000 pages'],
  ])('formats %d as %s', (count, text) => expect(countText(count, 'page')).toBe(text));
});

describe('shareText', () => {
  it.each([
    [849, 1000, '84 %'],
    [29, 100, '29 %'],
    [57, 100, '57 %'],
    [99, 10_000, '<1 %'],
    [100, 10_000, '1 %'],
    [9999, 10_000, '99 %'],
    [5, 5, '100 %'],
    [0, 5, '0 %'],
  ])('formats %d of %d as %s', (part, total, text) => expect(shareText(part, total)).toBe(text));
});

describe('shareRangeText', () => {
  it.each([
    [166, 250, 250, '66–100 %'],
    [29, 29, 100, '29 %'],
    [2, 6, 7, '28–85 %'],
  ])('formats %d to %d of %d as %s', (least, most, total, text) =>
    expect(shareRangeText([least, most], total)).toBe(text),
  );
});

describe('durationText', () => {
  it.each([
    [0, '0 s'],
    [0.4, '0 ms'],
    [999.4, '999 ms'],
    [999.5, '1 s'],
    [9949, '9.9 s'],
    [9950, '10 s'],
    [59_499, '59 s'],
    [59_500, '1 min'],
    [3 * MIN + 20 * S, '3 min 20 s'],
    [H + 59 * MIN + 59 * S, '1 h 59 min'],
    [2 * H + 4 * S, '2 h'],
    [6 * D + 5 * H, '6 d 5 h'],
    [7 * D + 5 * H, '7 d'],
    [1200 * D, '1,200 d'],
  ])('formats %d ms as %s', (ms, text) => expect(durationText(ms)).toBe(text));
});
