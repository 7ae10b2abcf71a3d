import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dashboards } from '../../grafana/source/dashboards.ts';
import { READS_EACH_RESOURCE } from '../../grafana/source/resource-table.ts';
import { parsePromql } from '../../promql/parse.ts';
import { RESOURCE_FAMILIES } from '../../src/metrics/resource-families.ts';
import { knownMetrics, unknownIn } from '../promql/known-metrics.ts';
import { interpolate, labelValuesOf, panelsOf, type ShippedPanel, shippedDashboards } from './shipped-dashboards.ts';

const FOLDER = new URL('../../grafana/dashboards/', import.meta.url);
const shipped = shippedDashboards();

describe('dashboards', () => {
  it.each(Object.entries(dashboards))('match grafana/dashboards/%s', async (file, dashboard) => {
    await expect(`${JSON.stringify(dashboard, null, 2)}\n`).toMatchFileSnapshot(new URL(file, FOLDER).pathname);
  });

  it('are the only files in grafana/dashboards', () => {
    expect(readdirSync(FOLDER).filter((file) => file.endsWith('.json'))).toEqual(Object.keys(dashboards).sort());
  });

  it('have stable uids', () => {
    expect(Object.fromEntries(shipped.map(([file, { uid }]) => [file, uid]))).toEqual({
      'exporter.json': 'telemetry-station-exporter',
      'fleet.json': 'telemetry-station-fleet',
      'resources.json': 'telemetry-station-resources',
      'station.json': 'telemetry-station-station',
    });
  });

  it.each(shipped)('use the classic model with a tag and a shared crosshair: %s', (_, dashboard) => {
    expect(dashboard).toMatchObject({ schemaVersion: 42, tags: ['telemetry-station'], graphTooltip: 1 });
  });

  it.each(shipped)('link to each other with time range and variables, outside any menu: %s', (_, dashboard) => {
    const others = shipped.filter(([, { uid }]) => uid !== dashboard.uid).map(([, { uid }]) => `/d/${uid}`);
    expect(dashboard.links.map(({ url }) => url).toSorted()).toEqual(others.toSorted());
    for (const link of dashboard.links) {
      expect(link).toMatchObject({ type: 'link', includeVars: true, keepTime: true, asDropdown: false });
      expect(link).not.toHaveProperty('placement');
    }
  });

  it.each(shipped)('annotate configuration reloads and restarts: %s', (_, { annotations: { list } }) => {
    expect(list.map(({ name }) => name)).toEqual(['Annotations & Alerts', 'Configuration loaded', 'Exporter started']);
    expect(list.filter(({ placement }) => placement !== undefined)).toEqual([]);
  });

  it.each(shipped)('fill the grid without gaps or overlaps: %s', (_, { panels }) => {
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${y + Math.floor(cell / w)}|${x + (cell % w)}`),
    );
    const bottom = Math.max(...panels.map(({ gridPos: { y, h } }) => y + h));
    expect(new Set(cells).size).toBe(cells.length);
    expect(cells.length).toBe(24 * bottom);
  });

  it.each(shipped)('number panels and queries consecutively: %s', (_, dashboard) => {
    expect(dashboard.panels.map(({ id }) => id)).toEqual(dashboard.panels.map((_, index) => index + 1));
    const refIds = panelsOf(dashboard).map(({ targets = [] }) => targets.map(({ refId }) => refId).join(''));
    expect(refIds.filter((ids) => !'ABCDEFGHIJKLMNOPQRSTUVWXYZ'.startsWith(ids) || ids === '')).toEqual([]);
  });

  it.each(shipped)('query only known metrics and labels: %s', (_, dashboard) => {
    const metrics = knownMetrics();
    const targets = panelsOf(dashboard).flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const annotations = dashboard.annotations.list.flatMap(({ expr }) => expr ?? []);
    const expressions = [...targets, ...annotations].map((expression) => interpolate(expression, { limit: '100' }));
    expect(expressions.flatMap((expression) => unknownIn(expression, metrics))).toEqual([]);
    const variables = dashboard.templating.list.filter(({ type }) => type === 'query').map(labelValuesOf);
    expect(variables.flatMap(({ selector, label }) => unknownIn(`count by (${label}) (${selector})`, metrics))).toEqual([]);
  });
});

describe('dashboard panels', () => {
  const panels = shipped.flatMap(([file, dashboard]) =>
    panelsOf(dashboard).map((panel): [string, ShippedPanel] => [`${file}: ${panel.title}`, panel]),
  );
  const tables = panels.filter(([, { type }]) => type === 'table');

  it.each(panels.filter(([, { type }]) => ['timeseries', 'state-timeline'].includes(type)))('have a legend: %s', (_, panel) => {
    expect(panel.options?.legend?.showLegend).toBe(true);
    expect(panel.targets?.filter(({ legendFormat }) => !legendFormat)).toEqual([]);
  });

  it.each(panels)('mention in their description if they read per-resource series: %s', (_, { targets = [], description }) => {
    const families = new Set<string>(RESOURCE_FAMILIES.map(({ name }) => name));
    const perResource = targets
      .flatMap(({ expr }) => parsePromql(interpolate(expr, { limit: '100' })).selectors)
      .filter(
        ({ metric, matchers }) =>
          families.has(metric) && !matchers.some(({ label, operator }) => label === 'resource_id' && operator === '='),
      );
    expect(description?.includes(READS_EACH_RESOURCE)).toBe(perResource.length > 0);
  });

  it.each(tables)('limit the rows of a table: %s', (_, { targets = [] }) => {
    const unbounded = targets.filter(({ expr }) => !/\b(topk|bottomk)\(|resource_id="\$resource_id"/.test(expr));
    expect(unbounded).toEqual([]);
  });

  it.each(tables)('fit the columns of a table into a laptop screen: %s', (_, { transformations = [], fieldConfig, gridPos }) => {
    const titles: string[] = Object.values(transformations.find(({ id }) => id === 'organize')?.options['renameByName'] ?? {});
    const widths = titles.map((title) => {
      const override = fieldConfig?.overrides.find(({ matcher }) => matcher.options === title);
      return Number(override?.properties.find(({ id }) => id === 'custom.width')?.value ?? fieldConfig?.defaults.custom?.minWidth);
    });
    expect(widths.reduce((sum, width) => sum + width, 0)).toBeLessThanOrEqual((LAPTOP_WIDTH * gridPos.w) / 24);
  });
});

/** Width available to panels on a screen of 1366 pixels with a collapsed menu. */
const LAPTOP_WIDTH = 1330;
