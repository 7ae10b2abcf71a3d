import { describe, expect, it } from 'vitest';
import { NAMED_FAULTS, replyWith, slow } from '../../src/simulator/faults.ts';
import { expectedState, stateOf } from '../e2e/station-metrics.ts';
import { configOf, entriesOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { valuesOf } from '../exposition/parse-exposition.ts';
import { atOffset } from '../simulator/simulated-service.ts';
import { eventually } from '../web/eventually.ts';
import { parseHtml } from '../web/html-parser.ts';

describe('Exporter, when part of a listing fails', () => {
  it('counts no failure for requests aborted after the failure of another one', async () => {
    const service = await startTestService({ source: () => entriesOf(40) });
    service.setFaults('ts', [
      { ...NAMED_FAULTS.hang, when: atOffset(20) },
      { ...NAMED_FAULTS.hang, when: atOffset(30) },
      { ...replyWith(403), when: atOffset(10) },
      { ...slow(100), when: atOffset(10) },
    ]);
    const exporter = await startReadyExporter(configOf(service.url, ['ts'], { cache: { error_ttl: '1h' } }));
    const families = await exporter.scrape();
    expect(stateOf(families)).toEqual(expectedState('forbidden'));
    expect(valuesOf(families, 'telemetry_station_exporter_api_requests_total')).toEqual({ '': 4 });
    const failures = valuesOf(families, 'telemetry_station_exporter_api_request_failures_total', 'reason');
    expect(Object.entries(failures).filter(([, count]) => count > 0)).toEqual([['forbidden', 1]]);
    await eventually(async () => {
      const inFlight = valuesOf(await exporter.scrape(), 'telemetry_station_exporter_api_requests_in_flight');
      expect(inFlight).toEqual({ '': 0 });
    });
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
