import { describe, expect, it } from 'vitest';
import { parsePromql } from '../../../prometheus/promql/parse.ts';

describe('parsePromql', () => {
  it('returns each selector with its matchers, range and enclosing functions', () => {
    const { selectors, errors } = parsePromql('sum by (a) (rate(x_total{b=~"c\\\\.d", e!=""}[5m])) / y');
    expect(errors).toEqual([]);
    expect(selectors).toEqual([
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

  it('returns the labels of each aggregation and of each join, without those that a join copies', () => {
    const { groupings } = parsePromql(
      'sum by (a, b) (x) * on (c) group_left (d) max(y) unless ignoring () min without (e) (z)',
    );
    expect(groupings).toEqual([
      { operator: 'sum', clause: 'by', labels: ['a', 'b'] },
      { operator: 'join', clause: 'on', labels: ['c'] },
      { operator: 'max', clause: 'none', labels: [] },
      { operator: 'join', clause: 'ignoring', labels: [] },
      { operator: 'min', clause: 'without', labels: ['e'] },
    ]);
  });

  it('returns the label that count_values adds', () => {
    expect(parsePromql('count_values by (a) ("b", x) / sum by (a) (y)').addedLabels).toEqual(['b']);
  });

  it.each(['sum(', 'x{a=}'])('reports a syntax error in %j', (expression) => {
    expect(parsePromql(expression).errors).not.toEqual([]);
  });
});
