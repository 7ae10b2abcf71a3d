import * as grafanaUnits from '@grafana/grafana-foundation-sdk/units';
import { describe, expect, it } from 'vitest';
import { parsePromql } from '../../prometheus/promql/parse.ts';
import { FAMILY_DESCRIPTIONS } from '../../src/metrics/catalogue.ts';
import { interpolate, panelsOf, type ShippedDashboard, shippedDashboards } from './shipped-dashboards.ts';

/** Grafana's dashboard linter needs Go: these are its rules for machines without it; dashboards.test.ts checks the syntax of queries. */
describe.each(shippedDashboards())('grafana/dashboards/%s passes the dashboard linter', (file, dashboard) => {
  const variable = (name: string) => dashboard.templating.list.find((candidate) => candidate.name === name);
  const panels = panelsOf(dashboard);
  // Alerts may have no job, station or instance: .lint lists the panels that read them.
  const selectors = expressionsOf(dashboard)
    .flatMap((expr) => parsePromql(expr).selectors)
    .filter(({ metric }) => !metric.startsWith('ALERTS'));

  it('template-datasource-rule', () => {
    expect(variable('datasource')).toMatchObject({ type: 'datasource', query: 'prometheus', label: 'Data source' });
  });

  it('template-job-rule, also for station and instance', () => {
    const queryVariable = {
      type: 'query',
      datasource: { uid: '$datasource' },
      multi: true,
      includeAll: true,
      allValue: '.+',
    };
    expect(variable('job')).toMatchObject({ ...queryVariable, label: 'Job' });
    const oneStation = { ...queryVariable, includeAll: false, allValue: '' };
    expect(variable('station')).toMatchObject({
      ...(file === 'station.json' ? oneStation : queryVariable),
      label: 'Station',
    });
    if (file === 'exporter.json') expect(variable('instance')).toMatchObject({ ...queryVariable, label: 'Instance' });
  });

  it('template-on-time-change-reload-rule', () => {
    expect(dashboard.templating.list.filter(({ type, refresh }) => type === 'query' && refresh !== 2)).toEqual([]);
  });

  it('uneditable-dashboard-rule', () => {
    expect(dashboard.editable).toBe(false);
  });

  it('panel-datasource-rule', () => {
    const used = panels.flatMap(({ datasource, targets = [] }) => [
      datasource?.uid,
      ...targets.map((target) => target.datasource.uid),
    ]);
    expect(new Set(used)).toEqual(new Set(['$datasource']));
  });

  it('panel-title-description-rule', () => {
    expect(panels.filter(({ title, description }) => !title || !description)).toEqual([]);
  });

  it('panel-units-rule', () => {
    const units = new Set<unknown>(Object.values(grafanaUnits));
    const used = panels.flatMap(({ fieldConfig: { defaults, overrides } = { defaults: {}, overrides: [] } }) => [
      defaults.unit,
      ...overrides.flatMap(({ properties }) => properties.filter(({ id }) => id === 'unit').map(({ value }) => value)),
    ]);
    expect(used.filter((unit) => !units.has(unit))).toEqual([]);
  });

  it('panel-no-targets-rule', () => {
    expect(panels.filter(({ targets = [] }) => targets.length === 0)).toEqual([]);
  });

  it('target-rate-interval-rule', () => {
    const rates = selectors.filter(({ within }) => ['rate', 'irate', 'increase'].includes(`${within[0]}`));
    expect(rates.filter(({ range }) => range !== RATE_INTERVAL)).toEqual([]);
    // Otherwise the scrape interval of the data source counts, by default too short for a scrape per minute.
    const targets = panels
      .flatMap(({ targets = [] }) => targets)
      .filter(({ expr }) => expr.includes('$__rate_interval'));
    expect(new Set(targets.map(({ interval }) => interval))).toEqual(new Set(targets.length === 0 ? [] : ['1m']));
  });

  it('target-job-rule, also for station and instance', () => {
    const matchesVariable = (label: string) => (selector: (typeof selectors)[number]) =>
      selector.matchers.some(
        (matcher) => matcher.label === label && matcher.operator === '=~' && matcher.value === `$${label}`,
      );
    expect(selectors.filter((selector) => !matchesVariable('job')(selector))).toEqual([]);
    const stationMetrics = new Set(
      FAMILY_DESCRIPTIONS.filter(({ labels }) => labels.includes('station')).map(({ name }) => name),
    );
    const stationSelectors = selectors.filter(({ metric }) => stationMetrics.has(metric));
    expect(stationSelectors.filter((selector) => !matchesVariable('station')(selector))).toEqual([]);
    if (file === 'exporter.json')
      expect(selectors.filter((selector) => !matchesVariable('instance')(selector))).toEqual([]);
  });

  it('target-counter-agg-rule', () => {
    const counters = selectors.filter(({ metric }) => metric.endsWith('_total') || metric.endsWith('_bucket'));
    expect(counters.filter(({ within }) => !['rate', 'increase'].includes(`${within[0]}`))).toEqual([]);
  });
});

/** A range that no query uses literally. */
const RATE_INTERVAL = '7919s';

/** The expressions of all panels; variables in matchers stay. */
function expressionsOf(dashboard: ShippedDashboard): string[] {
  const expressions = panelsOf(dashboard).flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  return expressions.map((expr) => interpolate(expr, { limit: '100', __rate_interval: RATE_INTERVAL }));
}
