import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pseudonyms } from '../../src/recording/anonymous-record.ts';

const SALT = new Uint8Array(32);

describe('Pseudonyms', () => {
  it('gives the same for the same and another for another', () => {
    const pseudonyms = new Pseudonyms();
    expect(pseudonyms.of('web-frontend')).toBe(pseudonyms.of('web-frontend'));
    expect(pseudonyms.of('web-frontend')).not.toBe(pseudonyms.of('web-frontenc'));
  });

  it('gives another name with another salt, and a random one when none is given', () => {
    const names = [new Pseudonyms(SALT), new Pseudonyms(SALT), new Pseudonyms(), new Pseudonyms()].map((p) => p.of('web-frontend-01'));
    expect(names[0]).toBe(names[1]);
    expect(new Set(names).size).toBe(3);
  });

  it.each([
    ['Web-frontend.v2:07', /^[A-Z][a-z]{2}-[a-z]{8}\.[a-z]\d:\d\d$/],
    ['5f0c1b8e-6a5d', /^\d[a-z]\d[a-z]\d[a-z]\d[a-z]-\d[a-z]\d[a-z]$/],
    ['训练平台-节点 01', /^[\u4e00-\u9c1f]{4}-[\u4e00-\u9c1f]{2} \d\d$/],
    ['naïve_Ж', /^[a-z]{2}[ß-ö][a-z]{2}_[ß-ö]$/],
    ['👍a𠮷', /^[\u{20000}-\u{29c3f}][a-z][\u{20000}-\u{29c3f}]$/u],
    ['=cmd|\u202e[2J', /^=[a-z]{3}\|\u202e\[\d[A-Z]$/],
    ['', /^$/],
    ['--', /^--$/],
  ])('has the form of %j', (text, form) => {
    expect(new Pseudonyms().of(text)).toMatch(form);
  });

  it('keeps the shape of a path and what its parts have in common', () => {
    const pseudonyms = new Pseudonyms();
    const path = (group: string, id: string) => `/subscriptions/5f0c1b8e/resourceGroups/${group}/zones/cn-sh-01a/volumes/${id}`;
    const [one = [], other = []] = [path('platform', 'afs-1'), path('storage', 'afs-2')].map((text) => pseudonyms.of(text).split('/'));
    expect(one.join('/')).toMatch(
      /^\/subscriptions\/\w{8}\/resourceGroups\/[a-z]{8}\/zones\/[a-z]{2}-[a-z]{2}-\d\d[a-z]\/[a-z]{7}\/[a-z]{3}-\d$/,
    );
    expect(one[2]).toBe(other[2]);
    expect(one[4]).not.toBe(other[4]);
    expect(one[6]).toBe(other[6]);
    expect(one[2]).toBe(pseudonyms.of('5f0c1b8e'));
  });

  it('tells no two names apart by less than before: short names get longer when there are no others', () => {
    const pseudonyms = new Pseudonyms();
    const texts = Array.from({ length: 500 }, (_, index) => String.fromCodePoint(0x430 + index));
    expect(new Set(texts.map((text) => pseudonyms.of(text))).size).toBe(500);
  });

  it('takes the same bytes as what it stands for', () => {
    const name = fc.string({ unit: 'grapheme', minLength: 8, maxLength: 40 });
    fc.assert(
      fc.property(name, (text) => {
        expect(Buffer.byteLength(new Pseudonyms(SALT).of(text))).toBe(Buffer.byteLength(text));
      }),
    );
  });

  it('maps different texts to different ones', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 3 }), { minLength: 2, maxLength: 60 }), (texts) => {
        const pseudonyms = new Pseudonyms(SALT);
        expect(new Set(texts.map((text) => pseudonyms.of(text))).size).toBe(texts.length);
      }),
    );
  });
});
