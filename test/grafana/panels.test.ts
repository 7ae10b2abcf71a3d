import { describe, expect, it } from 'vitest';
import { READS_EACH_RESOURCE } from '../../grafana/source/per-resource.ts';
import { readPromql } from '../../scripts/grafana/promql.ts';
import { RESOURCE_FAMILIES } from '../../src/metrics/resource-families.ts';
import { filledIn, panelsOf, type ShippedPanel, shippedDashboards } from './shipped.ts';

const all = shippedDashboards().map(([, dashboard]) => dashboard);

describe('the dashboards', () => {
  it('keep their addresses', () => {
    expect(Object.fromEntries(shippedDashboards().map(([file, { uid }]) => [file, uid]))).toEqual({
      'exporter.json': 'telemetry-station-exporter',
      'fleet.json': 'telemetry-station-fleet',
      'resources.json': 'telemetry-station-resources',
      'station.json': 'telemetry-station-station',
    });
  });

  it.each(shippedDashboards())('are of the classic model, tagged, with a shared crosshair: %s', (_, dashboard) => {
    expect(dashboard).toMatchObject({ schemaVersion: 42, tags: ['telemetry-station'], graphTooltip: 1 });
  });

  it.each(shippedDashboards())('link to the other three with time and variables, outside any menu: %s', (_, dashboard) => {
    const others = all.filter(({ uid }) => uid !== dashboard.uid).map(({ uid }) => `/d/${uid}`);
    expect(dashboard.links.map(({ url }) => url).toSorted()).toEqual(others.toSorted());
    for (const link of dashboard.links) {
      expect(link).toMatchObject({ type: 'link', includeVars: true, keepTime: true, asDropdown: false });
      expect(link).not.toHaveProperty('placement');
    }
  });

  it.each(shippedDashboards())('mark configuration reloads and restarts: %s', (_, { annotations: { list } }) => {
    expect(list.map(({ name }) => name)).toEqual(['Annotations & Alerts', 'Configuration loaded', 'Exporter started']);
    expect(list.filter(({ placement }) => placement !== undefined)).toEqual([]);
  });

  it.each(shippedDashboards())('fill the grid without a gap or an overlap: %s', (_, { panels }) => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${y + Math.floor(cell / w)}|${x + (cell % w)}`),
    );
    const bottom = Math.max(...panels.map(({ gridPos: { y, h } }) => y + h));
    expect(new Set(cells).size).toBe(cells.length);
    expect(cells.length).toBe(24 * bottom);
  });

  it.each(shippedDashboards())('number their panels and queries: %s', (_, dashboard) => {
    expect(dashboard.panels.map(({ id }) => id)).toEqual(dashboard.panels.map((_, index) => index + 1));
    const refIds = panelsOf(dashboard).map(({ targets = [] }) => targets.map(({ refId }) => refId).join(''));
    expect(refIds.filter((ids) => !'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.startsWith(ids) || ids === '')).toEqual([]);
  });
});

const panels = shippedDashboards().flatMap(([file, dashboard]) =>
  panelsOf(dashboard).map((panel): [string, ShippedPanel] => [`${file}: ${panel.title}`, panel]),
);

describe('every panel', () => {
  it.each(panels)('says what it means when there is nothing to show: %s', (_, { fieldConfig }) => {
    expect(fieldConfig?.defaults.noValue).toMatch(/\w/);
  });

  it.each(panels.filter(([, { type }]) => ['timeseries', 'state-timeline'].includes(type)))('has a legend: %s', (_, panel) => {
    expect(panel.options?.legend?.showLegend).toBe(true);
    expect(panel.targets?.filter(({ legendFormat }) => !legendFormat)).toEqual([]);
  });

  it.each(panels.filter(([, { type }]) => type === 'stat'))('has thresholds or mappings: %s', (_, { fieldConfig }) => {
    expect(fieldConfig?.defaults.thresholds ?? fieldConfig?.defaults.mappings).toBeDefined();
  });

  it.each(panels)('says so if it reads a series for each resource: %s', (_, { targets = [], description }) => {
    const families = new Set<string>(RESOURCE_FAMILIES.map(({ name }) => name));
    const wide = targets
      .flatMap(({ expr }) => readPromql(filledIn(expr, { limit: '100' })).selections)
      .filter(
        ({ metric, matchers }) =>
          families.has(metric) && !matchers.some(({ label, operator }) => label === 'resource_id' && operator === '='),
      );
    expect(description?.includes(READS_EACH_RESOURCE)).toBe(wide.length > 0);
  });
});

describe('every table', () => {
  const tables = panels.filter(([, { type }]) => type === 'table');

  it.each(tables)('is bounded: %s', (_, { targets = [] }) => {
    const unbounded = targets.filter(({ expr }) => !/\b(topk|bottomk)\(|resource_id="\$resource_id"/.test(expr));
    expect(unbounded).toEqual([]);
  });

  it.each(tables)('names its columns, and fits a laptop’s screen: %s', (_, { transformations = [], fieldConfig, gridPos }) => {
    const renamed = transformations.find(({ id }) => id === 'organize')?.options['renameByName'] ?? {};
    const titles: string[] = Object.values(renamed);
    expect(titles.filter((title) => !/^[A-Z]/.test(title))).toEqual([]);
    const widths = titles.map((title) => {
      const override = fieldConfig?.overrides.find(({ matcher }) => matcher.options === title);
      return Number(override?.properties.find(({ id }) => id === 'custom.width')?.value ?? fieldConfig?.defaults.custom?.minWidth);
    });
    expect(widths.reduce((sum, width) => sum + width, 0)).toBeLessThanOrEqual((LAPTOP * gridPos.w) / 24);
  });
});

/** What is left for panels on a screen of 1366 pixels, the menu folded in. */
const LAPTOP = 1330;
