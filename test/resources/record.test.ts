import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StateMeanings } from '../../src/resources/alert-state.ts';
import { type Resource, readResource, withAbsentFields } from '../../src/resources/fields.ts';
import { InternedTexts } from '../../src/resources/interned-texts.ts';
import { ID_LISTING } from '../../src/resources/listings.ts';

const complete = {
  resource_type: { key: 'resource_type.compute.x', label: 'Compute' },
  resource_id: 'id-1',
  create_time: '2024-05-01T12:00:00.5Z',
  sku: '8 GPU',
  state: 'ALERTSTATE_INACTIVE',
  display_name: '显示.名:1',
  alert_rules_count: 3,
  name: 'name-1',
  gpu_model: 'N4lS',
};

const context = { texts: new InternedTexts(), states: new StateMeanings() };
const readRecord = (value: unknown) => readResource(value, context);
const read = (changes: object) => readRecord({ ...complete, ...changes });
const createdOf = (text: string) => read({ create_time: text })?.row.createdSeconds;

describe('readResource', () => {
  it('reads a record of the documented form', () => {
    expect(readRecord(complete)).toEqual({
      invalid: [],
      absent: [],
      id: 'id-1',
      row: {
        id: 'id-1',
        name: 'name-1',
        displayName: '显示.名:1',
        type: 'resource_type.compute.x',
        typeLabel: 'Compute',
        state: 'ALERTSTATE_INACTIVE',
        alertState: 'inactive',
        sku: '8 GPU',
        gpuModel: 'N4lS',
        alertRules: 3,
        createdSeconds: 1_714_564_800.5,
        product: '',
        alertable: undefined,
      },
    });
  });

  it('reads missing and null fields as not reported, not as invalid', () => {
    const nothing = {
      invalid: [],
      absent: [],
      id: 'a',
      row: {
        id: 'a',
        name: '',
        displayName: '',
        type: '',
        typeLabel: '',
        state: '',
        sku: '',
        gpuModel: '',
        alertState: 'unknown',
        alertRules: undefined,
        createdSeconds: undefined,
        product: '',
        alertable: undefined,
      },
    };
    const absent = ['state', 'alert_rules_count'];
    expect(readRecord({ resource_id: 'a' })).toEqual({ ...nothing, absent });
    const nulls = Object.fromEntries(Object.keys(complete).map((field) => [field, null]));
    expect(readRecord({ ...nulls, resource_id: 'a' })).toEqual(nothing);
    expect(readRecord({ resource_id: 'a', resource_type: {} })).toEqual({ ...nothing, absent });
  });

  it.each([
    ['absent', undefined, { state: '7', alertRules: 0, alertState: 'pending', name: 'name-1' }],
    ['null', null, { state: '', alertRules: undefined, alertState: 'unknown', name: 'name-1' }],
    ['unreadable', [], { state: '', alertRules: undefined, alertState: 'unknown', name: 'name-1' }],
    ['sent', '5', { state: '5', alertRules: 5, alertState: 'unknown', name: 'name-1' }],
  ])('reads fields that are %s, with values for absent ones', (_, value, row) => {
    const sent = { ...complete, state: value, alert_rules_count: value };
    const record: unknown = JSON.parse(JSON.stringify(sent));
    const states = new StateMeanings({ pending: ['7'] });
    const absentFields = { state: 7, alert_rules_count: 0 };
    expect(readResource(record, { ...context, states, absentFields })).toMatchObject({ absent: [], row });
  });

  it('reads the same with and without the resource of the listing before, whichever field has changed', () => {
    const value = fc.oneof(
      fc.constantFrom('', '8 GPU', '2024-05-01T12:00:00Z', 'a', 0, 1, null, { key: 'k' }),
      fc.jsonValue(),
    );
    const { resource_id, ...others } = complete;
    const fields = Object.keys(others);
    const record = fc.record(Object.fromEntries(fields.map((name) => [name, value])), { requiredKeys: [] });
    fc.assert(
      fc.property(record, fc.constantFrom(...fields), value, (some, changed, newValue) => {
        const one = { resource_id, ...some };
        const other = { ...one, [changed]: newValue };
        const before = readRecord(one)?.row;
        expect(readResource(other, context, () => before)).toEqual(readRecord(other));
        expect(readResource(structuredClone(one), context, () => before)?.row).toBe(before);
      }),
    );
  });

  it.each([
    [0, 0],
    [1e3, 1000],
    ['0', 0],
    ['007', 7],
  ])('reads %j alert rules', (count, rules) => {
    expect(read({ alert_rules_count: count })).toMatchObject({ row: { alertRules: rules }, invalid: [] });
  });

  it.each([-1, 1.5, '-1', '1e3', '', ' 1', true, {}, '0x10', '9'.repeat(400)])(
    'counts alert rules of %j as invalid and publishes none',
    (count) => {
      expect(read({ alert_rules_count: count })).toMatchObject({
        row: { alertRules: undefined },
        invalid: ['alert_rules_count'],
      });
    },
  );

  it('keeps a state as sent, including a number', () => {
    expect(read({ state: 'ALERTSTATE_NEW' })?.row.state).toBe('ALERTSTATE_NEW');
    expect(read({ state: 7 })).toMatchObject({ row: { state: '7' }, invalid: [] });
  });

  it.each([
    [{ key: 'k', label: 5 }, 'k', ''],
    [{ key: 5, label: 'l' }, '', 'l'],
    ['k', '', ''],
  ])('keeps the valid part of the resource type %j', (resource_type, type, typeLabel) => {
    expect(read({ resource_type })).toMatchObject({ row: { type, typeLabel }, invalid: ['resource_type'] });
  });

  it('reports each invalid field once', () => {
    const invalid = { name: 5, display_name: {}, sku: [], gpu_model: true, state: {}, create_time: 1_714_564_800 };
    expect(read(invalid)?.invalid).toEqual(['state', 'name', 'display_name', 'sku', 'gpu_model', 'create_time']);
  });

  it.each([
    ['2024-05-01T14:30:00.5+02:30', 1_714_564_800.5],
    ['2024-05-01T05:00:00-07:00', 1_714_564_800],
    ['2024-05-01t12:00:00z', 1_714_564_800],
    ['2024-05-01 12:00:00Z', 1_714_564_800],
    ['2000-02-29T00:00:00Z', 951_782_400],
    ['1970-01-01T01:00:00+01:00', 0],
  ])('reads the time %s', (text, seconds) => {
    expect(createdOf(text)).toBe(seconds);
  });

  it.each([
    '2024-05-01T12:00:00',
    '2024-5-1T12:00:00Z',
    '2024-04-31T12:00:00Z',
    '2024-05-01T24:00:00Z',
    '2024-13-01T12:00:00Z',
    '2024-05-01T12:00:00+25:00',
    '2024-05-01T12:00:00.Z',
    ' 2024-05-01T12:00:00Z',
    '2024-05-01T12:00:00Z\n',
    '2024-05-01T12:00:00+0200',
    '2024-05-01T12:00:00Zz',
    '2023-02-29T12:00:00Z',
    '1969-12-31T23:59:59Z',
  ])('counts the time %j as invalid and publishes none', (text) => {
    expect(read({ create_time: text })).toMatchObject({ row: { createdSeconds: undefined }, invalid: ['create_time'] });
  });

  it('reads a fraction as the nearest double', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 20 }), (fraction) => {
        expect(createdOf(`2024-05-01T12:00:00.${fraction}Z`)).toBe(Number(`1714564800.${fraction}`));
      }),
    );
  });
});

describe('ID_LISTING', () => {
  it('reads an id like readResource', () => {
    const record = { resource_id: '\ud800'.repeat(1000) };
    expect(ID_LISTING.read(record, () => undefined)?.row).toBe(readRecord(record)?.row.id);
  });
});

describe('InternedTexts', () => {
  it('returns equal texts, even beyond its limit', () => {
    const texts = new InternedTexts();
    for (let index = 0; index < 10_010; index += 1) expect(texts.intern(`text ${index}`)).toBe(`text ${index}`);
    expect(texts.intern('text 10005')).toBe('text 10005');
  });
});

describe('withAbsentFields', () => {
  it.each([
    { what: 'of unknown fields', sent: undefined, former: {}, present: { state: 'A' }, state: 'A' },
    { what: 'of absent fields', sent: undefined, former: { state: 'A' }, present: { state: 7 }, state: '7' },
    { what: 'of fields that are unknown again', sent: undefined, former: { state: 'A' }, present: {}, state: '' },
    {
      what: 'of null where absent fields were known',
      sent: null,
      former: { state: 'A' },
      present: { state: 7 },
      state: '',
    },
    { what: 'of other values', sent: 'B', former: { state: 'A' }, present: { state: 7 }, state: 'B' },
  ])('is the same as reading the record again: $what', ({ sent, former, present, state }) => {
    const readWith = (absentFields: object) => {
      const record: unknown = JSON.parse(JSON.stringify({ ...complete, state: sent }));
      return readResource(record, { ...context, absentFields })?.row as Resource;
    };
    expect(withAbsentFields(readWith(former), former, present).state).toBe(state);
  });
});
