import { describe, expect, it } from 'vitest';
import { anonymousId, anonymousPage, anonymousRecord, Pseudonyms } from '../../src/recording/anonymous-record.ts';
import { wireRecord } from '../e2e/harness.ts';

const pseudonyms = new Pseudonyms();
const SECRET = 'zxq-secret-zxq';

describe('anonymousRecord', () => {
  it('replaces id and names and leaves the rest', () => {
    const record = wireRecord('r-17', { name: 'r-17', display_name: '训练' });
    expect(anonymousRecord(record, pseudonyms)).toEqual({
      ...record,
      resource_id: pseudonyms.of('r-17'),
      name: pseudonyms.of('r-17'),
      display_name: pseudonyms.of('训练'),
    });
  });

  it('leaves out what it does not know', () => {
    const record = {
      ...wireRecord('r'),
      owner: SECRET,
      resource_type: { key: 'k', label: 'l', tenant: SECRET },
      ['__proto__']: { a: SECRET },
    };
    const anonymous = anonymousRecord(JSON.parse(JSON.stringify(record)), pseudonyms);
    expect(JSON.stringify(anonymous)).not.toContain(SECRET);
    expect(anonymous).toMatchObject({ resource_type: { key: 'k', label: 'l' } });
  });

  it('keeps fields missing, null, empty or of another kind, without what they held', () => {
    const odd = { resource_id: 77_123, name: null, display_name: [SECRET], sku: { is: SECRET }, state: true, gpu_model: [SECRET] };
    expect(anonymousRecord(odd, pseudonyms)).toEqual({ resource_id: 0, name: null, display_name: [], sku: {}, state: true, gpu_model: [] });
    expect(anonymousRecord({ resource_id: '' }, pseudonyms)).toEqual({ resource_id: '' });
    expect(anonymousRecord({ resource_type: SECRET }, pseudonyms)).toEqual({ resource_type: 'unreadable' });
  });

  it.each([
    [null, null],
    [true, true],
    [77_123, 0],
    [SECRET, 'unreadable'],
    [[SECRET], []],
    [{}, {}],
  ])('keeps a record %j as odd as it is', (record, anonymous) => {
    expect(anonymousRecord(record, pseudonyms)).toEqual(anonymous);
  });

  it.each([
    ['alert_rules_count', 3, 3],
    ['alert_rules_count', '3', '3'],
    ['alert_rules_count', -1.5, -1.5],
    ['alert_rules_count', SECRET, 'unreadable'],
    ['alert_rules_count', Number.POSITIVE_INFINITY, -1],
    ['create_time', '2024-05-01T12:00:00.123456789+08:00', '2024-05-01T12:00:00.123456789+08:00'],
    ['create_time', '2024-13-45', '2024-13-45'],
    ['create_time', `2024-05-01 by ${SECRET}`, 'unreadable'],
    ['create_time', 1_714_564_800, 0],
    ['state', 7, 7],
    ['state', 'ALERTSTATE_NEW', 'ALERTSTATE_NEW'],
    ['state', Number.POSITIVE_INFINITY, 'Infinity'],
  ])('keeps %s %j as far as it is no name', (field, value, kept) => {
    expect(anonymousRecord({ [field]: value }, pseudonyms)).toEqual({ [field]: kept });
  });

  it('takes ids for the same that the exporter takes for the same', () => {
    const long = 'x'.repeat(1024);
    const idOf = (id: string) => (anonymousRecord({ resource_id: id }, pseudonyms) as { resource_id: string }).resource_id;
    expect(idOf(`${long}a`)).toBe(idOf(`${long}b`));
    expect(idOf('a\ud800')).toBe(idOf('a\ufffd'));
    expect(Buffer.byteLength(idOf('训'.repeat(400)))).toBeLessThanOrEqual(1024);
  });
});

describe('anonymousId', () => {
  it('keeps nothing but the id', () => {
    expect(anonymousId(wireRecord('r-17'), pseudonyms)).toEqual({ resource_id: pseudonyms.of('r-17') });
    expect(anonymousId({ name: SECRET }, pseudonyms)).toEqual({});
    expect(anonymousId(SECRET, pseudonyms)).toBe('unreadable');
  });
});

describe('anonymousPage', () => {
  it('keeps the numbers as they are written', () => {
    expect(anonymousPage({ offset: '0', size: 10, total: '7', next: SECRET }, pseudonyms)).toEqual({ offset: '0', size: 10, total: '7' });
    expect(anonymousPage({ total: SECRET }, pseudonyms)).toEqual({ total: 'unreadable' });
  });

  it.each([null, SECRET, [SECRET], 3])('is null for %j', (page) => {
    expect(anonymousPage(page, pseudonyms)).toBeNull();
  });
});
