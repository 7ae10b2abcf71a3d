import { describe, expect, it } from 'vitest';
import { NAMED_FAULTS, replyWith } from '../../lab/simulator/faults.ts';
import { configOf, entriesOf, startReadyExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { expectSound, openPage, REJECTED } from './page.ts';

/** The last page of resources, because it is the shortest. */
const PATHS = [
  '/',
  '/stations/fine?page=3',
  '/stations/stale?page=3',
  '/stations/broken',
  '/stations/rejecting?page=3',
  '/stations/fine/resources/odd',
  '/stations/fine/changes',
  '/config',
  '/search?search=r22',
  '/changes?since=24h',
  '/coverage',
  // Nothing matches, the query is wrong, the page does not exist.
  '/?filter=none',
  '/stations/fine?state=none',
  '/stations/fine?sort=size',
  '/?format=xml',
  '/no/such/page',
];

/** The resource `odd` and those with a 7 have an owner, or none. */
const OWNERS = [{ match: { resource_id: '[^7]*' }, labels: { team: 'storage-and-backup' } }];

/** Stations that are up, failing with an old snapshot, failing without a snapshot, and with rejected records. */
async function fleet() {
  const odd = {
    record: wireRecord('odd', { state: ['none'], alert_rules_count: 'many' }),
    product: 'product.b',
    alertable: true,
  };
  const service = await startTestService({
    source: () => [...entriesOf(230), odd],
    faults: { broken: [NAMED_FAULTS.html], rejecting: [NAMED_FAULTS.missing_ids] },
  });
  const station = { products: ['product.a', 'product.b'], alertability: true, labels: { team: 'storage' } };
  const upstream = { page_size: 100, authorization: { credentials: 'hush' } };
  const exporter = await startReadyExporter({
    ...configOf(service.url, ['fine', 'stale', 'broken', 'rejecting'], { station, upstream, labels: OWNERS }),
    coverage: { within: '7d' },
  });
  service.setFaults('stale', [replyWith(503)]);
  await exporter.scrape();
  return exporter;
}

describe('every page', () => {
  it.each([
    [360, 'light'],
    [955, 'dark'],
    [965, 'light'],
    [1125, 'dark'],
    [1250, 'light'],
  ] as const)('fits and is accessible at %i pixels in %s colours', async (width, colorScheme) => {
    const { url } = await fleet();
    const page = await openPage({ viewport: { width, height: 740 }, colorScheme }, [REJECTED]);
    for (const path of PATHS) {
      await page.goto(url + path);
      expect(await page.locator('h1').count()).toBe(1);
      await expectSound(page);
    }
  });
});
