import { describe, expect, it } from 'vitest';
import type { LabelEntry } from '../../src/resources/resource-labels.ts';
import { ResourceLabels } from '../../src/resources/resource-labels.ts';
import { AnchoredRegExp } from '../../src/text/anchored-regexp.ts';
import { resourceOf } from '../stations/fixtures.ts';

type Texts = Readonly<Record<string, string>>;
type Entry = Omit<LabelEntry, 'match'> & { readonly match: Texts };

const labelsOf = (entries: readonly Entry[]) =>
  new ResourceLabels(
    entries.map(({ match, ...entry }) => ({
      ...entry,
      match: Object.fromEntries(Object.entries(match).map(([field, source]) => [field, new AnchoredRegExp(source)])),
    })) satisfies LabelEntry[],
  );

const resource = resourceOf('i-1', { name: 'web-1', displayName: 'two\nlines', product: 'p' });

describe('ResourceLabels', () => {
  it('takes the value of each label from the first entry that matches', () => {
    const labels = labelsOf([
      { match: { name: 'db-.*' }, labels: { team: 'storage', tier: 'data' } },
      { match: { name: 'web-.*', product: 'p' }, labels: { team: 'web' } },
      { match: { name: 'web-.*' }, labels: { team: 'other', tier: 'front', zone: 'c' } },
      { match: {}, labels: { team: 'platform', cost: '' } },
    ]);
    expect(labels.names).toEqual(['team', 'tier', 'zone', 'cost']);
    expect(labels.labelled(resource).labels).toEqual({ team: 'web', tier: 'front', zone: 'c', cost: '' });
    expect(labels.labelled(resourceOf('x')).labels).toEqual({ team: 'platform', tier: '', zone: '', cost: '' });
  });

  it('exempts a resource by the first matching entry that has alertable, under its index in the configuration', () => {
    const labels = labelsOf([
      { match: { station: 'test' }, alertable: false, index: 0 },
      { match: { name: 'web-.*' }, labels: { team: 'web' } },
      { match: { name: 'web-gateway' }, alertable: true, index: 2 },
      { match: { name: 'web-.*' }, alertable: false, index: 3 },
      { match: {}, labels: { team: 'all' }, alertable: false, index: 4 },
    ]).ofStation('prod');
    const named = (name: string) => labels.labelled(resourceOf('x', { name }));
    expect(named('web-1')).toEqual({ labels: { team: 'web' }, exemptBy: 3 });
    expect(named('web-gateway')).toEqual({ labels: { team: 'web' }, exemptBy: undefined });
    expect(named('db-1')).toEqual({ labels: { team: 'all' }, exemptBy: 4 });
    // Otherwise the aggregates would have two series with the same labels.
    expect(named('web-1').labels).toBe(named('web-gateway').labels);
  });

  it('has exemptions only where an entry exempts', () => {
    const labels = labelsOf([{ match: {}, alertable: false, index: 0 }]);
    expect([labels.names, labels.hasExemptions]).toEqual([[], true]);
    expect(labelsOf([{ match: {}, alertable: true, index: 0 }]).hasExemptions).toBe(false);
  });

  it('keeps the names of entries that match another station only', () => {
    const all = labelsOf([
      { match: { station: 'prod|eu-.*', name: 'web-.*' }, labels: { team: 'web' } },
      { match: { station: 'test' }, labels: { tier: 'test' } },
    ]);
    expect(all.ofStation('eu-1').labelled(resource).labels).toEqual({ team: 'web', tier: '' });
    expect(all.ofStation('test').labelled(resource).labels).toEqual({ team: '', tier: 'test' });
    const none = all.ofStation('europe');
    expect([none.names, none.entries, none.labelled(resource).labels]).toEqual([['team', 'tier'], [], undefined]);
  });

  it('cuts values like every label value', () => {
    const labels = labelsOf([{ match: {}, labels: { team: '名'.repeat(400) } }]);
    expect(labels.labelled(resource).labels).toEqual({ team: '名'.repeat(341) });
  });

  it.each<{ match: Texts; isMatch: boolean }>([
    { match: { resource_id: 'i-.*' }, isMatch: true },
    { match: { name: 'db|web-1' }, isMatch: true },
    { match: { name: 'web' }, isMatch: false },
    { match: { name: 'eb-1' }, isMatch: false },
    { match: { display_name: 'two.lines' }, isMatch: true },
    { match: { resource_type: 'type\\.\\w' }, isMatch: true },
    { match: { product: 'p' }, isMatch: true },
    { match: { product: '' }, isMatch: false },
    { match: { product: 'p', name: 'db' }, isMatch: false },
  ])('matches $match with a whole field of the resource: $isMatch', ({ match, isMatch }) => {
    const labels = labelsOf([{ match, labels: { team: 'web' } }]);
    expect(labels.labelled(resource).labels).toEqual({ team: isMatch ? 'web' : '' });
  });
});
