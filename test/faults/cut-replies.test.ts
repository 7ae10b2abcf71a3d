import { describe, expect, it } from 'vitest';
import { NAMED_FAULTS } from '../../lab/simulator/faults.ts';
import { dataOf, expectedState, stateOf } from '../e2e/station-metrics.ts';
import { configOf, entriesOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { type Condition, gzip, type TestFault } from '../simulator/simulated-service.ts';
import { parseHtml } from '../web/html-parser.ts';

/** Every other request of each page. */
const everyOther: Condition = ({ offset }, requests) =>
  requests.filter((request) => request.offset === offset).length % 2 === 1;

/** A service of 25 resources in 3 pages, with an exporter of it. */
async function world(faults: readonly TestFault[], max_retries: number) {
  const service = await startTestService({ source: () => entriesOf(25), faults: { ts: faults } });
  const exporter = await startReadyExporter(configOf(service.url, ['ts'], { upstream: { max_retries } }));
  return { service, exporter, families: await exporter.scrape() };
}

describe('a reply that ends in the middle, although HTTP calls it complete', () => {
  it.each([
    { how: 'in plain text', faults: [{ ...NAMED_FAULTS.cut, when: everyOther }] },
    { how: 'before it is compressed', faults: [{ ...NAMED_FAULTS.cut, when: everyOther }, gzip] },
    { how: 'after it was compressed', faults: [gzip, { ...NAMED_FAULTS.cut, when: everyOther }] },
  ])('is requested again, and nothing of it is published: $how', async ({ faults }) => {
    const { families } = await world(faults, 2);
    expect(stateOf(families)).toEqual(expectedState(undefined));
    expect(dataOf(families)).toMatchObject({ listing_complete: { '{}': 1 }, listing_reported_resources: { '{}': 25 } });
  });

  it('fails the refresh as a connection that is closed early if it is always cut, and is called what it is', async () => {
    const { families, exporter } = await world([NAMED_FAULTS.cut], 1);
    expect(stateOf(families)).toEqual(expectedState('network'));
    const { text } = parseHtml(await (await exporter.get('/stations/ts')).text());
    expect(text).toContain('reply cut off');
    expect(text).toMatch(/network: the reply ends in the middle, after \d+ bytes/);
  });
});
