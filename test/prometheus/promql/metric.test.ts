import { collectDefaultMetrics, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { EXTERNAL_METRICS } from '../../../prometheus/promql/metric.ts';

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
