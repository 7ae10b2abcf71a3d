import { describe, expect, it } from 'vitest';
import { type LabelEntry, NOT_MATCHED, ResourceLabels } from '../../src/model/resource-labels.ts';
import { AnchoredRegExp } from '../../src/text/anchored-regexp.ts';
import { resourceOf } from '../refresh/fixtures.ts';

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
      { match: { name: 'web-.*' }, labels: { team: 'other', tier: 'front', constructor: 'c' } },
      { match: {}, labels: { team: 'platform', cost: '' } },
    ]);
    expect(labels.names).toEqual(['team', 'tier', 'constructor', 'cost']);
    expect(labels.labelled(resource).labels).toEqual({ team: 'web', tier: 'front', constructor: 'c', cost: '' });
    expect(labels.labelled(resourceOf('x')).labels).toEqual({ team: 'platform', tier: '', constructor: '', cost: '' });
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

  it('exempts no resource by an expression that would take long, nor by a later entry', () => {
    const labels = labelsOf([
      { match: { name: '.*a.{900}' }, alertable: false, index: 0 },
      { match: {}, alertable: false, index: 1 },
    ]);
    expect(labels.labelled(resourceOf('x', { name: 'a'.repeat(1020) })).exemptBy).toBeUndefined();
    expect(labels.labelled(resourceOf('x', { name: 'a' })).exemptBy).toBe(1);
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

  it('returns the same object for the same values, so that series are not duplicated', () => {
    const labels = labelsOf([
      { match: { name: 'web-.*' }, labels: { team: 'web' } },
      { match: { name: 'api-.*' }, labels: { team: 'web' } },
      { match: { name: 'none-.*' }, labels: { team: '' } },
    ]);
    const named = (name: string) => labels.labelled(resourceOf('x', { name })).labels;
    expect(named('web-2')).toBe(named('api-1'));
    expect(named('none-1')).toBe(named('other'));
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

  it('does not match an expression that would take long on a text, and says so in the labels that it decides about', () => {
    const labels = labelsOf([
      { match: { name: 'web.*' }, labels: { tier: 'front' } },
      { match: { name: '.*a.{900}' }, labels: { team: 'storage', tier: 'data' } },
      { match: { name: '.*a.{900}', resource_type: 'none' }, labels: { owner: 'none' } },
      { match: {}, labels: { team: 'platform', owner: 'all' } },
    ]);
    const named = (name: string) => labels.labelled(resourceOf('x', { name })).labels;
    expect(named('a'.repeat(1020))).toEqual({ tier: NOT_MATCHED, team: NOT_MATCHED, owner: 'all' });
    expect(named(`web${'a'.repeat(1000)}`)).toEqual({ tier: 'front', team: NOT_MATCHED, owner: 'all' });
    expect(named('a'.repeat(500))).toEqual({ tier: '', team: 'platform', owner: 'all' });
  });

  it('matches every text with an expression of at most 500 instructions', () => {
    const labels = labelsOf([{ match: { name: '.*a.{480}' }, labels: { team: 'storage' } }]);
    expect(labels.labelled(resourceOf('x', { name: 'a'.repeat(1024) })).labels).toEqual({ team: 'storage' });
    expect(labels.labelled(resourceOf('x', { name: `${'a'.repeat(500)}${'b'.repeat(480)}` })).labels).toEqual({
      team: 'storage',
    });
    expect(labels.labelled(resourceOf('x', { name: 'b'.repeat(1024) })).labels).toEqual({ team: '' });
  });

  it('yields between expressions that may take long together, and not for usual ones', () => {
    const stepsOf = (entries: readonly Entry[], name: string) => {
      const labelling = labelsOf(entries).labelling(resourceOf('x', { name }));
      let steps = 1;
      while (!labelling.next().done) steps += 1;
      return steps;
    };
    const long = Array.from({ length: 9 }, (_, at) => ({ match: { name: `${at}.*a.{400}` }, labels: { team: 'x' } }));
    expect(stepsOf(long, 'a'.repeat(1020))).toBe(9);
    expect(stepsOf(long, 'a'.repeat(150))).toBe(5);
    expect(stepsOf(long, 'web-1')).toBe(1);
    const all = { name: '.*a.{400}', display_name: '.*a.{400}', resource_id: 'x' };
    const labels = labelsOf([{ match: all, labels: { team: 'x' } }]);
    const text = 'a'.repeat(1020);
    const labelling = labels.labelling(resourceOf('x', { name: text, displayName: text }));
    expect([labelling.next().done, labelling.next().done, labelling.next()]).toMatchObject([
      false,
      false,
      { done: true, value: { labels: { team: 'x' } } },
    ]);
  });
});
