import { collectDefaultMetrics, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { FOREIGN_METRICS, selector } from '../../grafana/source/metric.ts';
import { knownMetrics, shippedRules, unknownIn } from './known.ts';
import { filledIn, labelValuesOf, panelsOf, shippedDashboards } from './shipped.ts';

const metrics = knownMetrics();

describe('what dashboards and rules name', () => {
  it.each(shippedDashboards())('exists: %s', (_, dashboard) => {
    const targets = panelsOf(dashboard).flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
    const annotations = dashboard.annotations.list.flatMap(({ expr }) => expr ?? []);
    const expressions = [...targets, ...annotations].map((expression) => filledIn(expression, { limit: '100' }));
    expect(expressions.flatMap((expression) => unknownIn(expression, metrics))).toEqual([]);
    const variables = dashboard.templating.list.filter(({ type }) => type === 'query').map(labelValuesOf);
    expect(variables.flatMap(({ selector, label }) => unknownIn(`count by (${label}) (${selector})`, metrics))).toEqual([]);
  });

  it.each(shippedRules().map((rule) => [rule.record ?? rule.alert, rule.expr]))('exists: %s', (_, expression) => {
    expect(unknownIn(`${expression}`, metrics)).toEqual([]);
  });
});

describe('unknownIn', () => {
  it('tells a metric, a label of a metric, a label of no metric, and what is no expression', () => {
    expect(unknownIn('telemetry_station_gone', metrics)).toEqual(['metric telemetry_station_gone']);
    expect(unknownIn('telemetry_station_up{reason="auth"}', metrics)).toEqual(['label reason of telemetry_station_up', 'label reason']);
    expect(unknownIn('sum by (colour) (telemetry_station_up)', metrics)).toEqual(['label colour']);
    expect(unknownIn('sum(telemetry_station_up', metrics)).toHaveLength(1);
  });
});

describe('FOREIGN_METRICS', () => {
  it('are what prom-client publishes, or what Prometheus adds to a scrape', async () => {
    const register = new Registry();
    collectDefaultMetrics({ register });
    const published = (await register.getMetricsAsJSON()).flatMap(({ name, type }) =>
      String(type) === 'histogram' ? [`${name}_sum`, `${name}_count`, `${name}_bucket`] : [name],
    );
    const added = ['up', 'scrape_duration_seconds', 'scrape_samples_scraped', 'scrape_body_size_bytes'];
    expect(Object.keys(FOREIGN_METRICS).filter((name) => ![...published, ...added].includes(name))).toEqual([]);
  });
});

describe('selector', () => {
  it('does not compile with a metric or a label that is not there', () => {
    expect(selector('telemetry_station_up', { station: '="prod"' })).toBe('telemetry_station_up{station="prod"}');
    // @ts-expect-error: no such metric.
    expect(selector('telemetry_station_gone')).toBe('telemetry_station_gone');
    // @ts-expect-error: the metric has no such label.
    expect(selector('telemetry_station_up', { reason: '="auth"' })).toBe('telemetry_station_up{reason="auth"}');
  });
});
