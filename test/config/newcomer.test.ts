import { describe, expect, it } from 'vitest';
import { expectProblems, problemsOf } from './fixtures.ts';
import { NEWCOMER_MISTAKES, VALID, withUpstreamLine } from './mistakes.ts';

describe('loadConfig, with the mistakes of a first configuration', () => {
  it('accepts the configuration that the others are variations of', () => {
    expect(problemsOf(VALID)).toEqual([]);
  });

  it.each(NEWCOMER_MISTAKES)('explains %s in one line', (_, text, problem) => {
    expectProblems(text, problem);
  });

  it('reports a missing key next to an unknown one that stands for another', () => {
    expectProblems(
      VALID.replace('base_url: https://monitor.example.com', 'timout: 1s'),
      '3:5: upstreams.main.base_url: missing, expected an http or https URL',
      '3:5: upstreams.main.timout: unknown key, did you mean timeout?',
    );
  });

  it('reports an invalid key next to an unknown one that is similar', () => {
    expectProblems(
      withUpstreamLine('base_uri: x').replace('https://monitor.example.com', 'x'),
      '3:15: upstreams.main.base_url: must begin with http:// or https://',
      '4:5: upstreams.main.base_uri: unknown key, did you mean base_url?',
    );
  });
});
