import { describe, expect, it } from 'vitest';
import { Aggregation } from '../../src/resources/aggregates.ts';
import type { Resource } from '../../src/resources/fields.ts';
import { LabelValues, OTHER_VALUE } from '../../src/resources/label-values.ts';
import { resourceOf } from '../stations/fixtures.ts';

const aggregate = (resources: readonly Resource[], limit = 100) => {
  const aggregates = new Aggregation();
  aggregates.addResources(resources, false, new LabelValues(limit));
  return aggregates;
};

const labelled = (type: string, typeLabel: string) => resourceOf(`${type} ${typeLabel}`, { type, typeLabel });

describe('Aggregation', () => {
  it('names a type by the first label that is not empty', () => {
    const { typeLabels } = aggregate([labelled('vm', ''), labelled('vm', 'Machine'), labelled('vm', 'Server')]);
    expect([...typeLabels]).toEqual([['vm', 'Machine']]);
  });

  it('names no resource without a type', () => {
    expect([...aggregate([labelled('', 'Machine')]).typeLabels]).toEqual([]);
  });

  it('does not name the types beyond the limit by the label of one of them', () => {
    const { typeLabels } = aggregate([labelled('vm', 'Machine'), labelled('disk', 'Disk')], 1);
    expect([...typeLabels]).toEqual([
      ['vm', 'Machine'],
      [OTHER_VALUE, OTHER_VALUE],
    ]);
  });

  it('keeps the names of what it merges', () => {
    const merged = new Aggregation();
    merged.merge(aggregate([labelled('vm', 'Machine')]));
    merged.merge(aggregate([labelled('vm', 'Server'), labelled('disk', 'Disk')]));
    expect([...merged.typeLabels]).toEqual([
      ['vm', 'Machine'],
      ['disk', 'Disk'],
    ]);
  });

  it('has a group for each type, product and set of labels', () => {
    const labels = { team: 'a' };
    const aggregates = aggregate([
      resourceOf('a', { type: 'vm' }),
      resourceOf('b', { type: 'vm' }),
      resourceOf('c', { type: 'vm', product: 'p' }),
      resourceOf('d', { type: 'disk', labels }),
      resourceOf('e', { type: 'disk', labels }),
    ]);
    const facts = () => aggregates.groups.map(({ type, product, labels: { team } = {} }) => [type, product, team]);
    const groups = [
      ['vm', '', undefined],
      ['vm', 'p', undefined],
      ['disk', '', 'a'],
    ];
    expect(facts()).toEqual(groups);
    aggregates.addResources([resourceOf('f', { type: 'ip' })], false, new LabelValues(100));
    expect(facts()).toEqual([...groups, ['ip', '', undefined]]);
  });
});
