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

  it.each([
    ['exporter.json: Request latency', 'main: p99'],
    ['exporter.json: Requests and rate limit', 'main: limit'],
    ['station.json: Reported and received resources', 'Reported'],
  ])('draw limits and upper quantiles dashed: %s, %s', (name, series) => {
    const [, panel] = panels.find(([candidate]) => candidate === name) ?? expect.unreachable(name);
    expect(overridesOf(panel, series)).toContainEqual(expect.objectContaining({ id: 'custom.lineStyle' }));
  });

  it.each(
    shippedPanels('timeseries').filter(([, { title }]) => /by type$|by model$|^Data age|^Refresh duration/.test(title)),
  )('give names of different initials different hues, and the same name the same: %s', (_, panel) => {
    const hues = ['prod', 'east', 'AEC2 instance', 'H800 (GPU)', 'b / archive', 'prod'].map((series) =>
      overridesOf(panel, series).flatMap(({ id, value }) => (id === 'color' ? [JSON.stringify(value)] : [])),
    );
    expect(new Set(hues.flat()).size).toBe(5);
    expect(hues[0]).toEqual(hues[5]);
  });

  it('use only colors with a contrast of at least 3 to 1 in both themes', () => {
    const used = panels.flatMap(([, panel]) =>
      [...JSON.stringify(panel).matchAll(/"(?:color|fixedColor)":"([^"]+)"/g)].map(([, color]) => color),
    );
    const isReadable = (color = '') => (color.startsWith('#') ? lowestContrast(color) >= 3 : READABLE.has(color));
    expect([...new Set(used)].filter((color) => !isReadable(color))).toEqual([]);
  });
});

/** Contrast of Grafana's named colors, measured in its themes: plain orange has 2.6 and yellow 1.6 on white. */
const READABLE = new Set([
  'text',
  ...['green', 'dark-orange', 'semi-dark-orange', 'red', 'semi-dark-red', 'light-red'],
  ...['blue', 'semi-dark-blue', 'purple', 'semi-dark-purple', 'light-purple'],
]);

/** Of a color to the backgrounds of both themes, by the formula of the Web Content Accessibility Guidelines. */
function lowestContrast(color: string): number {
  const contrasts = ['#181b1f', '#ffffff'].map((background) => {
    const [dark = 0, light = 0] = [luminance(color), luminance(background)].toSorted((left, right) => left - right);
    return (light + 0.05) / (dark + 0.05);
  });
  return Math.min(...contrasts);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((index) => {
    const share = Number.parseInt(color.slice(index, index + 2), 16) / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** What the overrides set on the series of a name. */
function overridesOf({ fieldConfig }: ShippedPanel, series: string) {
  const matching = fieldConfig?.overrides.filter(({ matcher }) => {
    const [, pattern = '', flags = ''] = /^\/(.*)\/(\w*)$/.exec(matcher.options) ?? [];
    return matcher.id === 'byRegexp' && new RegExp(pattern, flags).test(series);
  });
  return matching?.flatMap(({ properties }) => properties) ?? [];
}
