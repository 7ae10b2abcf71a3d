import { describe, expect, it } from 'vitest';
import { ProcessMetrics } from '../../src/metrics/own-metrics.ts';
import { parseExposition, valuesOf } from './parse-exposition.ts';

describe('ProcessMetrics', () => {
  const cpuSeconds = async (metrics: ProcessMetrics) => {
    const text = parseExposition(await metrics.text('text'));
    const openmetrics = parseExposition(await metrics.text('openmetrics'));
    const values = valuesOf(text, 'process_cpu_seconds_total');
    expect(valuesOf(openmetrics, 'process_cpu_seconds')).toEqual(values);
    return values;
  };
  const useCpu = () => {
    const start = process.cpuUsage();
    while (process.cpuUsage(start).user + process.cpuUsage(start).system === 0);
  };

  it('are collected once for all scrapes of a second, in both formats', async () => {
    let nowMs = 5000;
    const metrics = new ProcessMetrics({ elapsedMs: () => nowMs });
    const [first, concurrent] = await Promise.all([metrics.text('text'), metrics.text('text')]);
    expect(concurrent).toBe(first);
    nowMs += 999;
    expect(await metrics.text('text')).toBe(first);
    const before = await cpuSeconds(metrics);
    useCpu();
    nowMs += 1;
    const after = await cpuSeconds(metrics);
    expect(after).not.toEqual(before);
    useCpu();
    nowMs += 999;
    expect(await cpuSeconds(metrics)).toEqual(after);
  });
});
