import { describe, expect, it } from 'vitest';
import { readPromql } from '../../scripts/grafana/promql.ts';

describe('readPromql', () => {
  it('finds each selector with its matchers, its range and what it is in', () => {
    const { selections, errors } = readPromql('sum by (a) (rate(x_total{b=~"c\\\\.d", e!=""}[5m])) / y');
    expect(errors).toEqual([]);
    expect(selections).toEqual([
      {
        metric: 'x_total',
        matchers: [
          { label: 'b', operator: '=~', value: 'c\\.d' },
          { label: 'e', operator: '!=', value: '' },
        ],
        range: '5m',
        within: ['rate', 'sum'],
      },
      { metric: 'y', matchers: [], range: undefined, within: [] },
    ]);
  });

  it('finds the labels that are matched, grouped by, joined on and taken over', () => {
    expect(readPromql('max by (a) (x{b="1"}) * on (c) group_left (d) y').labels.toSorted()).toEqual(['a', 'b', 'c', 'd']);
  });

  it('finds a selector without a name', () => {
    expect(readPromql('{a="b"}').selections).toMatchObject([{ metric: '', matchers: [{ label: 'a', operator: '=', value: 'b' }] }]);
  });

  it.each(['sum(', 'x{a=}', 'x[5m', 'x y', ''])('says that %j is no expression', (expression) => {
    expect(readPromql(expression).errors).not.toEqual([]);
  });
});
