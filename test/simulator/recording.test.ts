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
    ['JSON that is not an object', 5, /^Invalid input: expected object/],
    ['an unknown version', { ...recording, version: 2 }, /^version: .*1/],
    ['a listing too few', { ...recording, listings: [] }, /^listings: /],
    ['a page too few', { ...recording, listings: [{ filters: {}, pages: [] }] }, /^listings\.0\.pages: /],
    [
      'an unknown filter',
      { ...recording, listings: [{ ...recording.listings[0], filters: { colour: ['red'] } }] },
      /^listings\.0\.filters: .*colour/,
    ],
    ['an empty path', { ...recording, station: { ...recording.station, zone: '' } }, /^station\.zone: /],
  ])('reports %s', (_, value, problem) => {
    expect(problemsOf(JSON.stringify(value))).toEqual([expect.stringMatching(problem)]);
  });

  it('reports at most five problems', () => {
    const pages = Array.from({ length: 100 }, () => ({}));
    expect(problemsOf(JSON.stringify({ ...recording, listings: [{ filters: {}, pages }] }))).toHaveLength(5);
  });
});
