import { describe, expect, it } from 'vitest';
import { replyWith } from '../../src/simulator/faults.ts';
import { dataOf, expectedState, HEALTH_FAMILIES, healthOf, stateOf, withoutCounters } from '../e2e/station-metrics.ts';
import { configOf, entriesOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { parseHtml } from '../web/html-parser.ts';

describe('Exporter, over a service that fails', () => {
  it('reports the reason, keeps the last snapshot up to max_stale and recovers', async () => {
    const service = await startTestService({ source: () => entriesOf(9) });
    const config = configOf(service.url, ['ts']);
    const stations = [
      { ...config.stations[0], name: 'kept' },
      { ...config.stations[0], name: 'unkept', cache: { max_stale: '0s' } },
    ];
    const exporter = await startReadyExporter({ ...config, stations });
    const healthy = await exporter.scrape();
    service.setFaults('ts', [replyWith(503)]);
    const failed = await exporter.scrape();
    service.setFaults('ts', []);
    const recovered = await exporter.scrape();
    expect(dataOf(failed, 'kept')).toEqual(dataOf(healthy, 'kept'));
    expect(dataOf(failed, 'unkept')).toEqual({});
    for (const { name } of stations) {
      const [was, is] = [healthOf(healthy, name), healthOf(failed, name)];
      expect(stateOf(failed, name)).toEqual(expectedState('status'));
      expect(Object.keys(is).sort()).toEqual([...HEALTH_FAMILIES].sort());
      expect(is['last_success_timestamp_seconds']).toEqual(was['last_success_timestamp_seconds']);
      expect(stateOf(recovered, name)).toEqual(expectedState(undefined));
      expect(withoutCounters(dataOf(recovered, name))).toEqual(withoutCounters(dataOf(healthy, name)));
    }
  });
});

describe('Exporter, when the body of an error names another status', () => {
  it('shows the status of the reply and its advice, not those of the text', async () => {
    const service = await startTestService({ faults: { ts: [replyWith(520, {}, 'origin returned 404 Not Found')] } });
    const exporter = await startReadyExporter(configOf(service.url, ['ts']));
    await exporter.scrape();
    for (const path of ['/', '/stations/ts']) {
      const page = await exporter.get(path, { accept: 'text/html' });
      const { text } = parseHtml(await page.text());
      expect(text).toContain('answered 520: origin returned 404 Not Found');
      expect(text).toContain('This is a failure of the service');
      expect(text).not.toContain('base_url is wrong');
    }
  });
});
