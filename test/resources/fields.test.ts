import { describe, expect, it } from 'vitest';
import { INVALID } from '../../src/model/values.ts';
import { anonymized, Pseudonyms, RECORD } from '../../src/recording/anonymous-record.ts';
import { StateMeanings } from '../../src/resources/alert-state.ts';
import { FIELDS, joinedResource, RESOURCE_COLUMNS, type Resource, readResource } from '../../src/resources/fields.ts';
import { InternedTexts } from '../../src/resources/interned-texts.ts';
import { fieldsOf } from '../../src/text/records.ts';

const context = { texts: new InternedTexts(), states: new StateMeanings() };

function read(record: object, before?: Resource): Resource {
  return readResource({ resource_id: 'r', ...record }, context, () => before)?.row as Resource;
}

/** A record with one field alone. */
function recordWith({ path, read: readValue }: (typeof FIELDS)[keyof typeof FIELDS]) {
  const value = ['ALERTSTATE_FIRING', '2024-05-01T12:00:00Z', 3].find((some) => readValue(some) !== INVALID);
  const [wire = '', part] = path.split('.');
  return { [wire]: part === undefined ? value : { [part]: value } };
}

describe.each(Object.entries(FIELDS))('the field %s', (key, field) => {
  const record = recordWith(field);
  const row = read(record);
  const bare = read({});

  it('has its value from its own place in the record, and no other field has', () => {
    const changed = Object.entries(row).filter(([name, value]) => value !== bare[name as keyof Resource]);
    expect(changed.map(([name]) => name).filter((name) => name !== 'alertState')).toEqual([key]);
  });

  it('keeps its value when it is joined and when it is read again', () => {
    expect(joinedResource(row, { product: '' })).toMatchObject(row);
    expect(read(record, row)).toBe(row);
    expect(read({}, row)).toEqual(bare);
  });

  it('is shown in its own column and in no other', () => {
    const [before, after] = [bare, row].map((resource) => Object.entries(fieldsOf(RESOURCE_COLUMNS, resource)));
    const changed = after?.filter(([, value], at) => value !== before?.[at]?.[1]).map(([name]) => name);
    expect(changed?.filter((name) => name !== 'alert_state')).toEqual([field.column.name]);
  });

  it('is recorded under its own name', () => {
    expect(Object.keys(anonymized(record, RECORD, new Pseudonyms()) as object)).toEqual([field.wire]);
  });
});
