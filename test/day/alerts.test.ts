import { describe, expect, it } from 'vitest';
import { alertSamples, alertStates } from './alerts.ts';

const MINUTES = Array.from({ length: 12 }, (_, minute) => 60 * minute);

/** The state at each minute: P, F, or . for none. */
function statesOf(rule: Parameters<typeof alertStates>[0], active: string): string {
  const results = new Set(MINUTES.filter((_, minute) => active[minute] === '1'));
  const states = new Map(alertStates(rule, results, MINUTES).map(({ seconds, state }) => [seconds, state]));
  return MINUTES.map((seconds) => ({ pending: 'P', firing: 'F', none: '.' })[states.get(seconds) ?? 'none']).join('');
}

describe('alertStates', () => {
  it.each([
    { rule: {}, active: '011000100000', states: '.FF...F.....' },
    { rule: { for: '3m' }, active: '011111000000', states: '.PPPFF......' },
    { rule: { for: '3m' }, active: '011101111100', states: '.PPP.PPPFF..' },
    { rule: { keep_firing_for: '3m' }, active: '010000000000', states: '.FFFF.......' },
    { rule: { keep_firing_for: '3m' }, active: '010001000000', states: '.FFFFFFFF...' },
    { rule: { for: '2m', keep_firing_for: '3m' }, active: '011000111000', states: '.PP...PPFFFF' },
  ])('with $rule are $states for $active', ({ rule, active, states }) => {
    expect(statesOf(rule, active)).toBe(states);
  });

  it('have the time since which the expression has a result', () => {
    const states = alertStates({ for: '1h' }, new Set(MINUTES.slice(2)), MINUTES);
    expect(new Set(states.map(({ sinceSeconds }) => sinceSeconds))).toEqual(new Set([120]));
  });
});

describe('alertSamples', () => {
  it('are those that Prometheus writes', () => {
    const rule = { alert: 'Down', labels: { severity: 'critical' } };
    const series = { __name__: 'up', name: 'a "b"' };
    expect(alertSamples(rule, series, [{ seconds: 120, state: 'firing', sinceSeconds: 60 }])).toBe(
      'ALERTS{alertname="Down",name="a \\"b\\"",severity="critical",alertstate="firing"} 1 120\n' +
        'ALERTS_FOR_STATE{alertname="Down",name="a \\"b\\"",severity="critical"} 60 120\n',
    );
  });
});
