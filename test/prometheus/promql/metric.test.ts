import { collectDefaultMetrics, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { deduplicate, EXTERNAL_METRICS, selector } from '../../../prometheus/promql/metric.ts';

describe('EXTERNAL_METRICS', () => {
  it('contains only metrics of prom-client, of Prometheus scrapes and of alerting rules', async () => {
    const register = new Registry();
    collectDefaultMetrics({ register });
    const published = (await register.getMetricsAsJSON()).flatMap(({ name, type }) =>
      String(type) === 'histogram' ? [`${name}_sum`, `${name}_count`, `${name}_bucket`] : [name],
    );
    const ofScrapes = ['up', 'scrape_duration_seconds', 'scrape_samples_scraped', 'scrape_body_size_bytes'];
    const known = [...published, ...ofScrapes, 'ALERTS', 'ALERTS_FOR_STATE'];
    expect(Object.keys(EXTERNAL_METRICS).filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe('selector', () => {
  it('rejects unknown metrics and labels at compile time', () => {
    expect(selector('telemetry_station_up', { station: '="prod"' })).toBe('telemetry_station_up{station="prod"}');
    // @ts-expect-error: unknown metric.
    expect(selector('telemetry_station_gone')).toBe('telemetry_station_gone');
    // @ts-expect-error: unknown label.
    expect(selector('telemetry_station_up', { reason: '="auth"' })).toBe('telemetry_station_up{reason="auth"}');
  });
});

describe('deduplicate', () => {
  it('aggregates over the instances of a job and keeps the labels of the metric', () => {
    expect(deduplicate('telemetry_station_failure', 'telemetry_station_failure')).toBe(
      'max by (job, station, reason) (telemetry_station_failure)',
    );
  });

  it('sums the series of an instance that only differ in resource labels', () => {
    expect(deduplicate('telemetry_station_alert_rules', 'x')).toBe(
      'max by (job, station, resource_type, product) (sum by (job, instance, station, resource_type, product) (x))',
    );
  });
});
