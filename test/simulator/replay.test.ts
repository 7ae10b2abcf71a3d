import { describe, expect, it } from 'vitest';
import { parseRecording } from '../../lab/simulator/replay.ts';

const problemsOf = (value: unknown) => {
  const read = parseRecording(JSON.stringify(value));
  return 'problems' in read ? read.problems : [];
};

describe('parseRecording', () => {
  it('reports at most five problems, with their places', () => {
    const pages = Array.from({ length: 100 }, () => ({}));
    const problems = problemsOf({ version: 2, station: {}, listings: [{ filters: { colour: ['red'] }, pages }] });
    expect(problems).toHaveLength(5);
    expect(problems[0]).toMatch(/^version: .*1/);
    expect(problems[1]).toMatch(/^station\.subscription: /);
    expect(problemsOf(5)).toEqual([expect.stringMatching(/^Invalid input: expected object/)]);
  });
});
