import { describe, expect, it } from 'vitest';
import { type Fault, replyWith } from '../../src/simulator/faults.ts';
import { expectedState, stateOf } from '../e2e/station-metrics.ts';
import { configOf, entriesOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { startService } from '../service/support/service.ts';

const SECRET = 'only-for-the-service';

/** What an exporter publishes whose station `bad` meets the fault while its station `good` meets none. */
async function scrapeOf(fault: Fault, upstream: object = {}) {
  const service = await startTestService({ source: () => entriesOf(3), faults: { bad: [fault] } });
  const exporter = await startReadyExporter(configOf(service.url, ['bad', 'good'], { upstream }));
  const families = await exporter.scrape();
  expect(stateOf(families, 'good')).toEqual(expectedState(undefined));
  return { service, bad: stateOf(families, 'bad') };
}

describe('Exporter, over a faulty service', () => {
  it('does not follow a redirect to another host, which sees neither credential nor request', async () => {
    const other = await startService((_request, response) => response.end('{"resources":[]}'));
    const headers = {
      location: `${other.url}elsewhere`,
      refresh: `0; url=${other.url}`,
      link: `<${other.url}>; rel=preload`,
    };
    const { service, bad } = await scrapeOf(replyWith(307, headers), {
      authorization: { credentials: SECRET },
      max_retries: 2,
    });
    expect(bad).toEqual(expectedState('status'));
    expect(service.requests[0]?.headers['authorization']).toBe(`Bearer ${SECRET}`);
    expect(other.requests).toEqual([]);
  });

  it('fails with the reason body on millions of values in one page, and serves the other station', async () => {
    const text = `{"resources":[[${'1,'.repeat(8_000_000)}1]]}`;
    expect((await scrapeOf(replyWith(200, {}, text))).bad).toEqual(expectedState('body'));
  });
});
