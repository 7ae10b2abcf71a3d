import { describe, expect, it } from 'vitest';
import { parseRecording } from '../../src/simulator/recording.ts';

const recording = {
  version: 1,
  station: {
    subscription: 's',
    resource_group: 'g',
    zone: 'z',
    telemetry_station: 't',
    filters: {},
    products: [],
    alertability: false,
  },
  listings: [{ filters: {}, pages: [{ offset: 0, size: 100, page: { total: 1 }, resources: [null] }] }],
};

const problemsOf = (text: string) => {
  const read = parseRecording(text);
  return 'problems' in read ? read.problems : [];
};

describe('parseRecording', () => {
  it.each([
    ['no object', 5, [/^Invalid input: expected object/]],
    [
      'an unknown version and no listings',
      { ...recording, version: 2, listings: [] },
      [/^version: .*1/, /^listings: /],
    ],
    [
      'an empty path, an unknown filter and no pages',
      {
        ...recording,
        station: { ...recording.station, zone: '' },
        listings: [{ filters: { colour: ['red'] }, pages: [] }],
      },
      [/^station\.zone: /, /^listings\.0\.filters: .*colour/, /^listings\.0\.pages: /],
    ],
  ])('reports JSON with %s', (_, value, problems) => {
    expect(problemsOf(JSON.stringify(value))).toEqual(problems.map((problem) => expect.stringMatching(problem)));
  });

  it('reports at most five problems', () => {
    const pages = Array.from({ length: 100 }, () => ({}));
    expect(problemsOf(JSON.stringify({ ...recording, listings: [{ filters: {}, pages }] }))).toHaveLength(5);
  });
});
