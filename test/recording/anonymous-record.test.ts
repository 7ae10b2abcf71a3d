import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { between, randomFrom } from '../../lab/simulator/random.ts';
import { anonymized, ENVELOPE, Pseudonyms, RECORD } from '../../src/recording/anonymous-record.ts';
import { codePoint } from '../code-point.ts';

const pseudonyms = new Pseudonyms();
const SECRET = 'zxq-secret-zxq';

const anonymizeRecord = (record: unknown) => anonymized(record, RECORD, pseudonyms);

describe('anonymized', () => {
  it('keeps numbers, those for which JSON has no notation as others that are invalid too', () => {
    const record = { alert_rules_count: Number.POSITIVE_INFINITY, state: 7 };
    expect(anonymizeRecord(record)).toEqual({ alert_rules_count: Number.MIN_VALUE, state: 7 });
  });

  it('maps ids that the exporter treats as equal to the same id', () => {
    const long = 'x'.repeat(1024);
    const idOf = (id: string) => (anonymizeRecord({ resource_id: id }) as { resource_id: string }).resource_id;
    expect(idOf(`${long}a`)).toBe(idOf(`${long}b`));
    expect(idOf('a\ud800')).toBe(idOf('a\ufffd'));
    expect(Buffer.byteLength(idOf('训'.repeat(400)))).toBeLessThanOrEqual(1024);
  });
});

describe('anonymized, for a field that is not declared harmless', () => {
  it.each([
    [SECRET, 'unreadable'],
    [77_123, 0],
    [[SECRET], []],
    [{ is: SECRET }, {}],
  ])('replaces %j', (value, replaced) => {
    expect(anonymized(value, undefined, pseudonyms)).toEqual(replaced);
    expect(anonymized({ part: value }, { part: undefined }, pseudonyms)).toEqual({ part: replaced });
  });
});

describe('anonymized, for a page', () => {
  it.each([
    [{ page: { offset: '0', size: 10, total: '7', next: SECRET } }, { page: { offset: '0', size: 10, total: '7' } }],
    [{ page: { total: SECRET } }, { page: { total: 'unreadable' } }],
    [{ page: null, resources: [] }, { page: null }],
    [{ page: SECRET }, { page: 'unreadable' }],
    [{ next: SECRET }, {}],
  ])('keeps the numbers of %j and their notation', (body, kept) => {
    expect(anonymized(body, ENVELOPE, pseudonyms)).toEqual(kept);
  });
});

describe('Pseudonyms', () => {
  it.each([
    ['Web-frontend.v2:07', /^[A-Z][a-z]{2}-[a-z]{8}\.[a-z]\d:\d\d$/],
    ['训练平台-节点 01', /^[\u4e00-\u9c1f]{4}-[\u4e00-\u9c1f]{2} \d\d$/],
    ['naïve_Ж', /^[a-z]{2}[ß-ö][a-z]{2}_[ß-ö]$/],
    ['👍a𠮷', /^[\u{20000}-\u{29c3f}][a-z][\u{20000}-\u{29c3f}]$/u],
    ['=cmd|\u202e[2J', /^=[a-z]{3}\|\u202e\[\d[A-Z]$/],
    ['', /^$/],
  ])('has the same character classes as %j', (text, form) => {
    expect(new Pseudonyms().of(text)).toMatch(form);
  });

  it('keeps the structure of a path, and equal parts equal', () => {
    const pseudonyms = new Pseudonyms();
    const path = (group: string, id: string) =>
      `/subscriptions/5f0c1b8e/resourceGroups/${group}/zones/cn-sh-01a/volumes/${id}`;
    const [one = [], other = []] = [path('platform', 'afs-1'), path('storage', 'afs-2')].map((text) =>
      pseudonyms.of(text).split('/'),
    );
    expect(one.join('/')).toMatch(/^\/subscriptions\/\w{8}\/resourceGroups\/\w{8}\/zones\/[\w-]{9}\/\w{7}\/[\w-]{5}$/);
    expect(one[2]).toBe(other[2]);
    expect(one[4]).not.toBe(other[4]);
    expect(one[6]).toBe(other[6]);
    expect(one[2]).toBe(pseudonyms.of('5f0c1b8e'));
  });

  it('maps any different texts to different names', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.string({ unit: codePoint, maxLength: 3 }), { minLength: 2, maxLength: 60 }),
        (texts) => {
          // The same names in every run.
          const random = randomFrom(1);
          const pseudonyms = new Pseudonyms((limit) => between(random, 0, limit - 1));
          expect(new Set(texts.map((text) => pseudonyms.of(text))).size).toBe(texts.length);
        },
      ),
    );
  });
});
