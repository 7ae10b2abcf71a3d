import * as grafanaUnits from '@grafana/grafana-foundation-sdk/units';
import { describe, expect, it } from 'vitest';
import { readPromql } from '../../scripts/grafana/promql.ts';
import { FAMILY_DESCRIPTIONS } from '../../src/metrics/catalogue.ts';
import { filledIn, labelValuesOf, panelsOf, type ShippedDashboard, shippedDashboards } from './shipped.ts';

/** The rules of Grafana's dashboard linter, which CI runs itself where it can be had. */
describe.each(shippedDashboards())('%s keeps to the rules of the dashboard linter', (file, dashboard) => {
  const variable = (name: string) => dashboard.templating.list.find((each) => each.name === name);
  const panels = panelsOf(dashboard);
  const selections = targetsOf(dashboard).flatMap((expr) => readPromql(expr).selections);

  it('template-datasource-rule', () => {
    expect(variable('datasource')).toMatchObject({ type: 'datasource', query: 'prometheus', label: 'Data source' });
  });

  it('template-job-rule, and the same for what stands for the instance', () => {
    const likeJob = { type: 'query', datasource: { uid: '$datasource' }, multi: true, includeAll: true, allValue: '.+' };
    expect(variable('job')).toMatchObject({ ...likeJob, label: 'Job' });
    expect(variable('station')).toMatchObject({ ...likeJob, label: 'Station' });
    if (file === 'exporter.json') expect(variable('instance')).toMatchObject({ ...likeJob, label: 'Instance' });
  });

  it('template-label-promql-rule', () => {
    const queries = dashboard.templating.list.filter(({ type }) => type === 'query').map(labelValuesOf);
    expect(queries.flatMap(({ selector }) => readPromql(filledIn(selector, {})).errors)).toEqual([]);
  });

  it('template-on-time-change-reload-rule', () => {
    expect(dashboard.templating.list.filter(({ type, refresh }) => type === 'query' && refresh !== 2)).toEqual([]);
  });

  it('uneditable-dashboard-rule', () => {
    expect(dashboard.editable).toBe(false);
  });

  it('panel-datasource-rule', () => {
    const used = panels.flatMap(({ datasource, targets = [] }) => [datasource?.uid, ...targets.map((target) => target.datasource.uid)]);
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

  it('panel-no-targets-rule and target-promql-rule', () => {
    expect(panels.filter(({ targets = [] }) => targets.length === 0)).toEqual([]);
    expect(targetsOf(dashboard).flatMap((expr) => readPromql(expr).errors)).toEqual([]);
  });

  it('target-rate-interval-rule', () => {
    const rates = selections.filter(({ within }) => ['rate', 'irate', 'increase'].includes(`${within[0]}`));
    expect(rates.filter(({ range }) => range !== RATE_INTERVAL)).toEqual([]);
  });

  it('target-job-rule, and the same for what stands for the instance', () => {
    const narrowedBy = (label: string) => (selection: (typeof selections)[number]) =>
      selection.matchers.some((matcher) => matcher.label === label && matcher.operator === '=~' && matcher.value === `$${label}`);
    expect(selections.filter((selection) => !narrowedBy('job')(selection))).toEqual([]);
    const stationMetrics = new Set(FAMILY_DESCRIPTIONS.filter(({ labels }) => labels.includes('station')).map(({ name }) => name));
    const ofStations = selections.filter(({ metric }) => stationMetrics.has(metric));
    expect(ofStations.filter((selection) => !narrowedBy('station')(selection))).toEqual([]);
    if (file === 'exporter.json') expect(selections.filter((selection) => !narrowedBy('instance')(selection))).toEqual([]);
  });

  it('target-counter-agg-rule', () => {
    const counters = selections.filter(({ metric }) => metric.endsWith('_total') || metric.endsWith('_bucket'));
    expect(counters.filter(({ within }) => !['rate', 'increase'].includes(`${within[0]}`))).toEqual([]);
  });
});

/** No other range is likely to be this. */
const RATE_INTERVAL = '7919s';

/** The expressions of all panels, with what is no part of PromQL filled in; names of variables in matchers stay. */
function targetsOf(dashboard: ShippedDashboard): string[] {
  const expressions = panelsOf(dashboard).flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  return expressions.map((expr) => filledIn(expr, { limit: '100', __rate_interval: RATE_INTERVAL }));
}
