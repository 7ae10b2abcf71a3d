import { describe, expect, it } from 'vitest';
import { REASON_COLORS } from '../../grafana/source/appearance.ts';
import { FAILURE_REASONS } from '../../src/model/failure.ts';
import { type ShippedPanel, shippedPanels, type Thresholds } from './shipped-dashboards.ts';

const panels = shippedPanels();

describe('dashboard panels', () => {
  it.each(panels)('have no threshold step below zero that is not neutral: %s', (_, { fieldConfig }) => {
    const overrides =
      fieldConfig?.overrides.flatMap(({ properties }) => properties.filter(({ id }) => id === 'thresholds')) ?? [];
    const all = [fieldConfig?.defaults.thresholds, ...overrides.map(({ value }) => value as Thresholds)];
    expect(all.flatMap((thresholds) => thresholds?.steps[0] ?? []).filter(({ color }) => color !== 'text')).toEqual([]);
  });

  it('show each failure reason in a color of its own, never green', () => {
    expect(Object.keys(REASON_COLORS).toSorted()).toEqual([...FAILURE_REASONS].toSorted());
    const colors = Object.values(REASON_COLORS);
    expect(new Set(colors).size).toBe(colors.length);
    expect(colors.filter((color) => color.includes('green'))).toEqual([]);
  });

  it.each(
    panels.filter(([, { targets = [] }]) => targets.some(({ legendFormat }) => legendFormat?.includes('{{reason}}'))),
  )('color the series of every reason: %s', (_, panel) => {
    const colored = FAILURE_REASONS.filter((reason) => overridesOf(panel, reason).some(({ id }) => id === 'color'));
    expect(colored).toEqual(FAILURE_REASONS);
  });

  it.each(
    panels.filter(([, { targets = [] }]) =>
      targets.some(({ legendFormat }) => /^\{\{(state_label|alert_state)\}\}$/.test(`${legendFormat}`)),
    ),
  )(
    'name and color the series of every alert state, and states of unknown meaning neutrally as sent: %s',
    (_, panel) => {
      const shown = ['firing', 'pending', 'inactive', 'NOT_FIRING', 'no state'].map((series) =>
        overridesOf(panel, series).map(({ value }) => value),
      );
      const neutral = [{ mode: 'fixed', fixedColor: 'blue' }];
      expect(shown).toEqual([
        ['Firing', { mode: 'fixed', fixedColor: 'red' }],
        ['Pending', { mode: 'fixed', fixedColor: 'dark-orange' }],
        ['Inactive', { mode: 'fixed', fixedColor: 'green' }],
        neutral,
        neutral,
      ]);
    },
  );

  it('use only colors with a contrast of at least 3 to 1 in both themes', () => {
    const used = panels.flatMap(([, panel]) =>
      [...JSON.stringify(panel).matchAll(/"(?:color|fixedColor)":"([^"]+)"/g)].map(([, color]) => color),
    );
    expect([...new Set(used)].filter((color) => !READABLE.has(`${color}`))).toEqual([]);
  });
});

/** Contrast of Grafana's named colors, measured in its themes: plain orange has 2.6 and yellow 1.6 on white. */
const READABLE = new Set([
  'text',
  ...['green', 'dark-orange', 'semi-dark-orange', 'red', 'semi-dark-red', 'light-red'],
  ...['blue', 'semi-dark-blue', 'purple', 'semi-dark-purple', 'light-purple'],
]);

/** What the overrides set on the series of a name. */
function overridesOf({ fieldConfig }: ShippedPanel, series: string) {
  const matching = fieldConfig?.overrides.filter(({ matcher }) => {
    const [, pattern = '', flags = ''] = /^\/(.*)\/(\w*)$/.exec(matcher.options) ?? [];
    return matcher.id === 'byRegexp' && new RegExp(pattern, flags).test(series);
  });
  return matching?.flatMap(({ properties }) => properties) ?? [];
}
