import { describe, expect, it } from 'vitest';
import type { Resource } from '../../src/resources/fields.ts';
import { LabelValues, OTHER_VALUE } from '../../src/resources/label-values.ts';
import { aggregatesOf, resourceOf } from '../stations/fixtures.ts';

const aggregate = (resources: readonly Resource[], limit = 100) =>
  aggregatesOf(resources, false, new LabelValues(limit));

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

  it('has a group for each type, product and set of labels', () => {
    const labels = { team: 'a' };
    const aggregates = aggregate([
      resourceOf('a', { type: 'vm' }),
      resourceOf('b', { type: 'vm' }),
      resourceOf('c', { type: 'vm', product: 'p' }),
      resourceOf('d', { type: 'disk', labels }),
      resourceOf('e', { type: 'disk', labels }),
    ]);
    expect(aggregates.groups.map(({ type, product, labels: { team } = {} }) => [type, product, team])).toEqual([
      ['vm', '', undefined],
      ['vm', 'p', undefined],
      ['disk', '', 'a'],
    ]);
  });
});
