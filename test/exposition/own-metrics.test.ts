import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Exposition } from '../../src/exposition/exposition.ts';
import { OWN_FAMILIES } from '../../src/exposition/own-families.ts';
import { collectProcessMetrics, OwnMetrics } from '../../src/exposition/own-metrics.ts';
import { viewOf } from '../app/station-view.ts';
import { IDLE_LOAD } from '../stations/fixtures.ts';
import { parseExposition, valuesOf } from './parse-exposition.ts';

const build = { version: '1.2.3', revision: 'abc', nodeVersion: 'v20.0.0' };

/** Reads the values of a family. */
async function reader(metrics: OwnMetrics) {
  const families = parseExposition(await metrics.text('text', new Set()));
  return (name: string, ...labels: string[]) => valuesOf(families, `telemetry_station_exporter_${name}`, ...labels);
}

describe('OwnMetrics', () => {
  const ownMetrics = () => new OwnMetrics(build, { ordinal: 1, total: 3 });

  it('publishes every own family of the catalogue exactly as in the golden files', async () => {
    const metrics = ownMetrics();
    metrics.upstreams.add('main');
    metrics.upstreams.recordLoad('main', { ...IDLE_LOAD, hangingStations: 2, oldestWaitingMs: 1500 });
    metrics.recordReload('main', true, 1_700_000_000_000);
    metrics.recordReload('web', true, 1_700_000_000_000);
    metrics.recordTime(1_700_000_120_500);
    metrics.recordRecords({ total: 120, limits: { records: 1000, records_per_station: 750 } });
    const health = {
      addedMs: 0,
      lastAttemptMs: undefined,
      lastSuccessMs: undefined,
      durationMs: undefined,
      failure: undefined,
      firstMessage: undefined,
    };
    const { served, ...state } = viewOf([]);
    const view = { ...state, health, served: { ...served, withheld: 3 } };
    const exposition = new Exposition([], new Set());
    const text = async (format: 'text' | 'openmetrics') => {
      const body = await exposition.ownBody([view], metrics, format);
      return gunzipSync(Buffer.concat([...body.gzip()])).toString();
    };
    const disabled = new Exposition([], new Set(['telemetry_station_exporter_series_withheld']));
    expect(
      gunzipSync(Buffer.concat([...(await disabled.ownBody([view], metrics, 'text')).gzip()])).toString(),
    ).not.toContain('series_withheld');
    const families = parseExposition(await text('text'));
    expect([...families.keys()].toSorted()).toEqual(
      Object.values(OWN_FAMILIES)
        .map(({ name }) => name)
        .toSorted(),
    );
    await expect(await text('text')).toMatchFileSnapshot('../golden/own.prom');
    const openmetrics = (await text('openmetrics')).replace(/# EOF\n$/, '');
    await expect(openmetrics).toMatchFileSnapshot('../golden/own.openmetrics.txt');
  });

  it('counts requests, failures, retries and throttling', async () => {
    const metrics = ownMetrics();
    const observer = metrics.upstreams.observer('main');
    metrics.upstreams.add('main');
    observer.waiting(1);
    observer.waiting(1);
    observer.waiting(-1);
    observer.started();
    observer.started();
    observer.ended(0.3, 'timeout');
    observer.retried();
    observer.throttled();
    const value = await reader(metrics);
    const expected = {
      api_requests_total: 2,
      api_requests_in_flight: 1,
      api_requests_waiting: 1,
      api_request_retries_total: 1,
      api_requests_throttled_total: 1,
    };
    for (const [name, count] of Object.entries(expected))
      expect(value(name, 'upstream'), name).toEqual({ main: count });
    expect(value('api_request_failures_total', 'reason')).toMatchObject({ timeout: 1, network: 0 });
    expect(value('api_request_duration_seconds', 'le')).toMatchObject({ '0.25': 0, '0.5': 1 });
  });

  it('publishes no series of an upstream before it is added, and none for late requests after it is removed', async () => {
    const metrics = ownMetrics();
    const upstreams = async () => new Set((await metrics.text('text', new Set())).match(/(?<=upstream=")\w+/g));
    const first = metrics.upstreams.observer('gone');
    expect(await upstreams()).toEqual(new Set());
    metrics.upstreams.add('gone');
    first.started();
    expect(await upstreams()).toEqual(new Set(['gone']));
    metrics.upstreams.remove('gone');
    const late = () => {
      first.started();
      first.ended(1, 'network');
      first.waiting(1);
    };
    late();
    expect(await upstreams()).toEqual(new Set());
  });

  it('keeps all counts of an upstream through a reload, and starts anew after it was removed', async () => {
    const metrics = ownMetrics();
    const observer = metrics.upstreams.observer('main');
    metrics.upstreams.add('main');
    observer.started();
    observer.ended(0.3, 'timeout');
    const before = await metrics.text('text', new Set());
    metrics.upstreams.add('main');
    expect(await metrics.text('text', new Set())).toBe(before);
    metrics.upstreams.remove('main');
    metrics.upstreams.add('main');
    expect((await reader(metrics))('api_request_duration_seconds', 'le')).toMatchObject({ '0.5': 0, '+Inf': 0 });
  });

  it('publishes how the last reload of each file ended, and leaves out disabled families', async () => {
    const metrics = ownMetrics();
    metrics.recordReload('main', true, 5000);
    metrics.recordReload('main', false, 9000);
    metrics.recordReload('web', true, 6000);
    const value = await reader(metrics);
    expect(value('config_last_reload_successful', 'config')).toEqual({ main: 0, web: 1 });
    expect(value('config_last_reload_success_timestamp_seconds', 'config')).toEqual({ main: 5, web: 6 });
    const name = 'telemetry_station_exporter_build_info';
    expect(await metrics.text('text', new Set([name]))).not.toContain(name);
  });
});

describe('collectProcessMetrics', () => {
  const cpuSeconds = async (metrics: OwnMetrics) => {
    const text = parseExposition(await metrics.processText('text'));
    const openmetrics = parseExposition(await metrics.processText('openmetrics'));
    const values = valuesOf(text, 'process_cpu_seconds_total');
    expect(valuesOf(openmetrics, 'process_cpu_seconds')).toEqual(values);
    expect(openmetrics.has('nodejs_eventloop_lag_seconds')).toBe(true);
    return values;
  };
  const useCpu = () => {
    const start = process.cpuUsage();
    while (process.cpuUsage(start).user + process.cpuUsage(start).system === 0);
  };

  it('collects once for all scrapes of a second, in both formats', async () => {
    let nowMs = 5000;
    const metrics = new OwnMetrics(build, { ordinal: 0, total: 1 }, collectProcessMetrics({ elapsedMs: () => nowMs }));
    const scrape = () => metrics.processText('text');
    const [first, concurrent] = await Promise.all([scrape(), scrape()]);
    expect(concurrent).toBe(first);
    nowMs += 999;
    expect(await scrape()).toBe(first);
    const before = await cpuSeconds(metrics);
    useCpu();
    nowMs += 1;
    expect(await cpuSeconds(metrics)).not.toEqual(before);
  });
});
