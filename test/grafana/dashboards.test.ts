import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { dashboards } from '../../grafana/source/dashboards.ts';
import { CLUSTER_LABEL, withClusterLabel } from '../../prometheus/promql/cluster.ts';
import { parsePromql } from '../../prometheus/promql/parse.ts';
import { RECORDED } from '../../prometheus/source/recording.ts';
import { FAMILY_DESCRIPTIONS, RESOURCE_FAMILIES } from '../../src/metrics/catalogue.ts';
import { knownMetrics, unknownIn } from '../prometheus/promql/known-metrics.ts';
import {
  expressionsOf,
  labelValuesOf,
  openPanelsOf,
  panelsOf,
  parsable,
  shippedDashboards,
  shippedPanels,
} from './shipped-dashboards.ts';

const FOLDER = new URL('../../grafana/dashboards/', import.meta.url);
const CHART_FOLDER = new URL('../../deploy/helm/telemetry-station-exporter/files/dashboards/', import.meta.url);
const shipped = shippedDashboards();

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

  it.each(shipped)(
    'open without reading per-resource series but those of the selected resource: %s',
    (_, dashboard) => {
      const families = Object.keys(RESOURCE_FAMILIES);
      const selectors = expressionsOf(openPanelsOf(dashboard)).flatMap((expr) => parsePromql(expr).selectors);
      const ofAllResources = selectors.filter(
        ({ matchers }) => !matchers.some(({ label, operator }) => label === 'resource_id' && operator === '='),
      );
      expect(ofAllResources.filter(({ metric }) => families.includes(metric))).toEqual([]);
    },
  );

  it.each(shipped)('link each stat of the opening screen to what it counts: %s', (file, dashboard) => {
    const linked = openPanelsOf(dashboard).filter(
      ({ type, fieldConfig }) => type === 'stat' && fieldConfig?.defaults.links?.length === 1,
    );
    const ids = new Set(panelsOf(dashboard).map(({ id }) => `${id}`));
    const urls = linked.map(({ fieldConfig }) => `${fieldConfig?.defaults.links?.[0]?.url}`);
    const stats = openPanelsOf(dashboard).filter(({ type }) => type === 'stat');
    // The station dashboard has no panel of alert rules.
    expect(linked.length).toBe(stats.length - (file === 'station.json' ? 1 : 0));
    expect(urls.filter((url) => !/^\/d\/telemetry-station-\w+\?/.test(url))).toEqual([]);
    expect(urls.flatMap((url) => /viewPanel=(.*)$/.exec(url)?.[1] ?? []).filter((id) => !ids.has(id))).toEqual([]);
  });

  it('open the inventory, which is in a collapsed row, alone on the screen from the numbers of resources', () => {
    const inventory = shipped
      .flatMap(([file, dashboard]) => (file === 'resources.json' ? panelsOf(dashboard) : []))
      .find(({ title }) => title === 'Inventory');
    const urls = shipped.flatMap(([, dashboard]) => [
      ...JSON.stringify(dashboard).matchAll(/"url":"(\/d\/telemetry-station-resources[^"]*&viewPanel=(\d+))"/g),
    ]);
    expect(urls.length).toBeGreaterThanOrEqual(6);
    expect(new Set(urls.map(([, , id]) => id))).toEqual(new Set([`${inventory?.id}`]));
    expect(urls.filter(([, url]) => url?.includes('var-alert_state=firing')).length).toBeGreaterThanOrEqual(4);
  });

  it('keep the search and the station of a resource in the link to its history', () => {
    const [, resources] = shipped.find(([file]) => file === 'resources.json') ?? [];
    const [, url] = /"title":"Resource history","url":"([^"]*)"/.exec(JSON.stringify(resources)) ?? [];
    const searched = resources?.templating.list.map(({ name }) => name) ?? [];
    const kept = searched.filter((name) => url?.includes(`{${name}:queryparam}`) || url?.includes(`&var-${name}=`));
    expect(kept).toEqual(searched);
  });

  it.each(shipped)('carry cluster and job with the station in every link of a row: %s', (_, dashboard) => {
    const urls = [...JSON.stringify(dashboard).matchAll(/"url":"([^"]*var-station=[^"]*)"/g)];
    expect(
      urls.filter(
        ([, url]) =>
          !/&var-cluster=.\{__data\.fields\.cluster:percentencode\}&var-job=.\{__data\.fields\.job:percentencode\}/.test(
            `${url}`,
          ),
      ),
    ).toEqual([]);
  });

  it.each(shipped)(
    'annotate charts with single times, never with a region as long as an alert fires: %s',
    (_, { annotations }) => {
      const regions = annotations.list.filter(
        ({ builtIn, useValueForTime }) => builtIn !== 1 && useValueForTime !== true,
      );
      expect(regions.map(({ name }) => name)).toEqual([]);
    },
  );

  it.each(shipped)('select by job, station and instance in every query: %s', (file, dashboard) => {
    const selectors = expressionsOf(panelsOf(dashboard))
      .flatMap((expr) => parsePromql(expr).selectors)
      // Alerts may have none of these labels, and constants have no job.
      .filter(({ metric }) => !metric.startsWith('ALERTS') && metric !== RECORDED.expected);
    const withoutVariable = (label: string) =>
      selectors.filter(
        ({ matchers }) =>
          !matchers.some((one) => one.label === label && one.operator === '=~' && one.value === `$${label}`),
      );
    expect(withoutVariable('job')).toEqual([]);
    const ofStations = FAMILY_DESCRIPTIONS.filter(({ labels }) => labels.includes('station')).map(({ name }) => name);
    expect(withoutVariable('station').filter(({ metric }) => ofStations.includes(metric))).toEqual([]);
    if (file === 'exporter.json') expect(withoutVariable('instance')).toEqual([]);
  });

  it.each(shipped)('query only known metrics and labels: %s', (_, dashboard) => {
    const metrics = knownMetrics();
    const annotations = dashboard.annotations.list.flatMap(({ expr }) => (expr ? parsable(expr) : []));
    const unknown = [...expressionsOf(panelsOf(dashboard)), ...annotations].flatMap((expr) => unknownIn(expr, metrics));
    // The queries add these labels themselves.
    expect(
      unknown.filter((text) => !/^label (station_label|state_label|cluster_name|job_name|owner)$/.test(text)),
    ).toEqual([]);
    const variables = dashboard.templating.list.filter(({ type }) => type === 'query').map(labelValuesOf);
    expect(variables.flatMap(({ selector, label }) => unknownIn(`count by (${label}) (${selector})`, metrics))).toEqual(
      [],
    );
  });
});

describe('dashboard panels', () => {
  it.each(shippedPanels('table'))('limit the rows of a table: %s', (_, { targets = [], transformations = [] }) => {
    const unbounded = targets.filter(
      ({ expr }) => !/\b(topk|bottomk)( by \(cluster\) )?\(|resource_id="\$resource_id"/.test(expr),
    );
    expect(transformations.some(({ id }) => id === 'limit') ? [] : unbounded).toEqual([]);
  });
});
