import { describe, expect, it } from 'vitest';
import { countText, durationText, momentText, numberText, shareText, unknown } from '../../../src/web/pages/format.ts';

const S = 1000;
const MIN = 60 * S;
const H = 60 * MIN;
const D = 24 * H;

describe('numberText', () => {
  it.each([
    [0, '0'],
    [12_345, '12,345'],
    [0.25, '0.25'],
  ])('writes %d as %s', (value, text) => expect(numberText(value)).toBe(text));
});

describe('countText', () => {
  it.each([
    [0, '0 pages'],
    [1, '1 page'],
    [1000, '1,000 pages'],
  ])('counts %d', (count, text) => expect(countText(count, 'page')).toBe(text));
});

describe('shareText', () => {
  it.each([
    [1, 3, '33.3 %'],
    [99_999, 100_000, '99.9 %'],
    [5, 5, '100 %'],
    [0, 5, '0 %'],
  ])('writes %d of %d as %s', (part, whole, text) => expect(shareText(part, whole)).toBe(text));
});

describe('durationText', () => {
  it.each([
    [0, '0 s'],
    [499, '0 s'],
    [12 * S, '12 s'],
    [60 * S, '1 min'],
    [3 * MIN + 20 * S, '3 min 20 s'],
    [H + 59 * MIN + 59 * S, '1 h 59 min'],
    [2 * H + 4 * S, '2 h'],
    [6 * D + 5 * H, '6 d 5 h'],
    [7 * D + 5 * H, '7 d'],
    [1200 * D, '1,200 d'],
  ])('writes %d ms as %s', (ms, text) => expect(durationText(ms)).toBe(text));
});

describe('momentText', () => {
  const at = Date.UTC(2026, 0, 2, 3, 4, 5);
  it.each([
    [12 * S, '12 s ago'],
    [-3 * H, 'in 3 h'],
    [400, 'just now'],
    [-999, 'just now'],
  ])('tells what is %d ms old by its distance, and exactly', (age, text) => {
    const iso = '2026-01-02T03:04:05.000Z';
    expect(momentText(at, at + age).text).toBe(`<time datetime="${iso}" title="${iso}">${text}</time>`);
  });
});

describe('unknown', () => {
  it('says why to those who see and to those who hear', () => {
    expect(unknown('not <asked>').text).toBe(
      '<span class="unknown" title="not &#60;asked&#62;">–<span class="hidden-text"> not &#60;asked&#62;</span></span>',
    );
  });
});
