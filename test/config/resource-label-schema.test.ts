import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { renderConfig, resolveStations } from '../../src/config/resolve.ts';
import { resourceOf } from '../refresh/fixtures.ts';
import { expectProblems, loaded, problemsOf, upstreamWith } from './fixtures.ts';

const withEntries = (...entries: string[]) =>
  `${upstreamWith()}resource_labels:
${entries
  .map(
    (entry) => `  - ${entry}
`,
  )
  .join('')}`;

describe('resource_labels', () => {
  it('are shown as configured, and label the resources of each station', () => {
    const { config } = loaded(
      withEntries(
        '{ match: { name: "a.*", station: .* }, labels: { team: storage } }',
        '{ labels: { team: "", tier: b } }',
      ),
    );
    expect(parse(renderConfig(config)).resource_labels).toEqual([
      { match: { name: 'a.*', station: '.*' }, labels: { team: 'storage' } },
      { match: {}, labels: { team: '', tier: 'b' } },
    ]);
    const [station] = resolveStations(config);
    expect(station?.resourceLabels.labelsOf(resourceOf('x', { name: 'ab' }))).toEqual({ team: 'storage', tier: 'b' });
  });

  it.each<[string, string | RegExp]>([
    [
      '{ match: { name: "(" }, labels: { a: b } }',
      '7:22: resource_labels[0].match.name: expected a regular expression in the syntax of RE2, got "(": missing closing )',
    ],
    [
      '{ match: { name: "a(?=b)" }, labels: { a: b } }',
      '7:22: resource_labels[0].match.name: expected a regular expression in the syntax of RE2, got "a(?=b)": invalid or unsupported Perl syntax',
    ],
    [
      '{ match: { name: "(a{1,900}b){2}" }, labels: { a: b } }',
      /^7:22: resource_labels\[0\]\.match\.name: expected a regular expression /,
    ],
    [
      `{ match: { name: "${'[ab]'.repeat(251)}" }, labels: { a: b } }`,
      /^7:22: .* of at most 1000 characters and instructions/,
    ],
    [
      '{ match: { names: a }, labels: { a: b } }',
      /^7:16: resource_labels\[0\]\.match\.names: unknown key, did you mean name\?/,
    ],
    [
      '{ match: { product: 3 }, labels: { a: b } }',
      '7:25: resource_labels[0].match.product: expected a string, got a number; quote it',
    ],
    ['team', '7:5: resource_labels[0]: expected a mapping, got a string'],
    ['{ match: {} }', '7:5: resource_labels[0].labels: missing, expected a mapping'],
    [
      '{ labels: { 1a: b } }',
      '7:17: resource_labels[0].labels["1a"]: invalid key, expected a label name of letters, digits and underscores that does not start with a digit',
    ],
    [
      '{ labels: { __a: b } }',
      '7:17: resource_labels[0].labels.__a: label names that start with __ are reserved, expected another one',
    ],
    ...[
      'station',
      'resource_id',
      'state',
      'upstream',
      'alert_rules',
      'sku_unit',
      'type',
      'job',
      'instance',
      'le',
      'constructor',
    ].map((name): [string, string] => [
      `{ labels: { ${name}: b } }`,
      `7:17: resource_labels[0].labels.${name}: the exporter already uses this name, expected another one`,
    ]),
  ])('reject %s', (entry, problem) => {
    expectProblems(withEntries(entry), problem);
  });

  it('have at most 10 names and 4,000 instructions in all', () => {
    const named = (...names: string[]) => `{ labels: { ${names.map((name) => `${name}: x`).join(', ')} } }`;
    expect(problemsOf(withEntries(named(...'abcde'), named(...'efghij'), named(...'abj')))).toEqual([]);
    expectProblems(
      withEntries(named(...'abcdefghij'), named('a', 'k'), named('k', 'l')),
      '8:23: resource_labels[1].labels.k: expected at most 10 label names in all entries together',
      '9:17: resource_labels[2].labels.k: expected at most 10 label names in all entries together',
      '9:23: resource_labels[2].labels.l: expected at most 10 label names in all entries together',
    );
    // Each takes all of its instructions for every character of a name of a's and b's.
    const slow = '{ match: { name: ".*a.{470}c" }, labels: { a: b } }';
    const slowest = Array<string>(8).fill(slow);
    expect(problemsOf(withEntries(...slowest))).toEqual([]);
    expectProblems(
      withEntries(...slowest, slow),
      '15:22: resource_labels[8].match.name: expected at most 4000 instructions in all entries together',
    );
  });
});
