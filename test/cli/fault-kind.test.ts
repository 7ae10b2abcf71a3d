import { describe, expect, it } from 'vitest';
import { faultShare } from '../../src/cli/flag-kind.ts';
import { NAMED_FAULTS } from '../../src/simulator/faults.ts';

describe('faultShare', () => {
  it.each([
    ['hang', { kind: 'hang', when: { share: 1 } }],
    ['rate_limited:0.1', { kind: 'status', code: 429, when: { share: 0.1 } }],
    ['reset:.5', { kind: 'reset', when: { share: 0.5 } }],
    ['reset:0', { kind: 'reset', when: { share: 0 } }],
    ['reset:1', { kind: 'reset', when: { share: 1 } }],
    ['reset:1.0', { kind: 'reset', when: { share: 1 } }],
  ])('reads %s', (text, fault) => {
    expect(faultShare.parse(text)).toEqual(fault);
  });

  it.each(['', 'slo', 'hang:', 'hang:1.5', 'hang:2', 'hang:-1', 'hang:a', 'hang:0.1:2', 'hang ', 'toString', '__proto__'])(
    'refuses %j',
    (text) => {
      expect(faultShare.parse(text)).toBeUndefined();
    },
  );

  it('tells every name that it knows', () => {
    for (const name of Object.keys(NAMED_FAULTS)) expect(faultShare.expected).toContain(` ${name}`);
  });
});
