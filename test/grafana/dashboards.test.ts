import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dashboards } from '../../grafana/source/dashboards.ts';
import { CLUSTER_LABEL, withClusterLabel } from '../../prometheus/source/parameters.ts';
import { FAMILY_DESCRIPTIONS } from '../../src/collectors/collectors.ts';
import { RESOURCE_FAMILIES } from '../../src/resources/families.ts';
import { knownMetrics, unknownIn } from '../prometheus/promql/known-metrics.ts';
import { parsePromql } from '../prometheus/promql/parse.ts';
import {
  expressionsOf,
  interpolate,
  labelValuesOf,
  openPanelsOf,
  panelsOf,
  type ShippedDashboard,
  shippedDashboards,
  shippedPanels,
} from './shipped-dashboards.ts';

const FOLDER = new URL('../../grafana/dashboards/', import.meta.url);
const CHART_FOLDER = new URL('../../deploy/helm/telemetry-station-exporter/files/dashboards/', import.meta.url);
const metrics = knownMetrics();
const shipped = shippedDashboards();
const expressions = shipped.flatMap(([, dashboard]) => expressionsOf(panelsOf(dashboard)));

describe('dashboards', () => {
  it.each(Object.entries(dashboards))('match grafana/dashboards/%s', async (file, dashboard) => {
    const shown = withClusterLabel(JSON.stringify(dashboard, null, 2), CLUSTER_LABEL);
    await expect(`${shown}\n`).toMatchFileSnapshot(new URL(file, FOLDER).pathname);
  });

  it.each(Object.entries(dashboards))(
    'are in the Helm chart, which reads no file outside, with a placeholder for the label of the cluster: %s',
    async (file, dashboard) => {
      await expect(`${JSON.stringify(dashboard)}\n`).toMatchFileSnapshot(new URL(file, CHART_FOLDER).pathname);
    },
  );

  it.each([FOLDER, CHART_FOLDER])('are the only files in %s', (folder) => {
    expect(readdirSync(folder).filter((file) => file.endsWith('.json'))).toEqual(Object.keys(dashboards).sort());
  });

  it('have at most 60 panels together', () => {
    expect(shippedPanels().length).toBeLessThanOrEqual(60);
  });

  it('have queries that can be read: at most 400 characters, half of them at most 150', () => {
    expect(expressions.filter((expr) => expr.length > 400)).toEqual([]);
    const lengths = expressions.map((expr) => expr.length).toSorted((left, right) => left - right);
    expect(lengths[Math.floor(lengths.length / 2)]).toBeLessThanOrEqual(150);
  });

  it('say that there is no data instead of querying a 0', () => {
    expect(expressions.filter((expr) => expr.includes('vector('))).toEqual([]);
  });

  it.each(shipped)('show one cluster and one job: %s', (_, { templating }) => {
    const [, cluster, job] = templating.list;
    expect([cluster?.name, job?.name]).toEqual(['cluster', 'job']);
    expect([cluster?.multi, cluster?.includeAll, job?.multi, job?.includeAll]).not.toContain(true);
  });

  it.each(shipped)('select the cluster, the job and the station in every query: %s', (_, dashboard) => {
    const ofStations = new Set(
      FAMILY_DESCRIPTIONS.filter(({ labels }) => labels.includes('station')).map(({ name }) => name),
    );
    const isExporter = dashboard.uid === 'telemetry-station-exporter';
    const selectors = queriesOf(dashboard).flatMap((query) => parsePromql(query).selectors);
    const unselective = selectors.filter(({ metric, matchers }) => {
      const needed = ['cluster', 'job', ...(ofStations.has(metric) && !isExporter ? ['station'] : [])];
      return needed.some(
        (name) => !matchers.some(({ label, value }) => label === name && /^\$(\w+)\|?$/.exec(value)?.[1] === name),
      );
    });
    expect(unselective).toEqual([]);
  });

  it.each(shipped)('query only metrics and labels that exist: %s', (_, dashboard) => {
    expect(queriesOf(dashboard).flatMap((query) => unknownIn(query, metrics))).toEqual([]);
  });

  it.each(shipped)('open without reading a series of each resource: %s', (_, dashboard) => {
    const families = Object.keys(RESOURCE_FAMILIES);
    const read = expressionsOf(openPanelsOf(dashboard)).filter(
      (expr) => !expr.includes('resource_id="$resource_id"') && families.some((name) => expr.includes(`${name}{`)),
    );
    expect(read).toEqual([]);
  });

  it.each(shipped)('keep the data source, the cluster and the job in every link: %s', (_, dashboard) => {
    const urls = [...JSON.stringify(dashboard).matchAll(/"url":"(\/d\/[^"]*)"/g)].map(([, url = '']) => url);
    const kept = ['datasource', 'cluster', 'job'].map((name) => `\${${name}:queryparam}`);
    expect(urls.filter((url) => !kept.every((parameter) => url.includes(parameter)))).toEqual([]);
  });
});

describe('dashboard panels', () => {
  it.each(shippedPanels('table'))('limit the rows of a table: %s', (_, { transformations = [] }) => {
    expect(transformations.map(({ id }) => id)).toContain('limit');
  });

  /** A share is known to be well, and so are the two states that a mapping names; a count of 0 may only be a lack of knowledge. */
  it.each(shippedPanels('stat', 'table'))(
    'show a count in a neutral color, never in green: %s',
    (_, { fieldConfig }) => {
      const overridden = fieldConfig?.overrides.map(({ properties }) =>
        Object.fromEntries(properties.map(({ id, value }) => [id, value])),
      );
      const fields = [fieldConfig?.defaults ?? {}, ...(overridden ?? [])] as (typeof fieldConfig &
        object)['defaults'][];
      for (const { unit, thresholds } of fields) {
        const colors = thresholds?.steps.map(({ color }) => color) ?? ['text'];
        expect(colors[0]).toBe('text');
        if (unit === 'locale') expect(colors).not.toContain('green');
      }
      expect(fields.length).toBeGreaterThan(0);
    },
  );
});

/** The queries, annotations and variables of a dashboard, with a label for the variable `owner`. */
function queriesOf(dashboard: ShippedDashboard): string[] {
  const annotations = dashboard.annotations.list.flatMap(({ expr }) => expr ?? []);
  const variables = dashboard.templating.list
    .filter(({ type, name }) => type === 'query' && !['cluster', 'job', 'station'].includes(name))
    .map((variable) => labelValuesOf(variable).selector);
  const texts = [...expressionsOf(panelsOf(dashboard)), ...annotations, ...variables];
  return texts.map((text) => interpolate(text, { owner: 'team' }));
}
