import { describe, expect, it } from 'vitest';
import { NAMED_FAULTS, replyWith } from '../../src/simulator/faults.ts';
import { configOf, entriesOf, startReadyExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { eventually } from '../web/eventually.ts';
import { expectSound, observedPage, openPage } from './page.ts';

/** The last page of resources, because it is the shortest. */
const PATHS = [
  '/',
  '/stations/fine?page=3',
  '/stations/stale?page=3',
  '/stations/broken',
  '/stations/fine/resources/odd',
  '/stations/fine/changes',
  '/reference',
  '/config',
  '/search?q=r22',
];

/** Stations that are up, failing with an old snapshot, and failing without a snapshot. */
async function fleet(options: { externalUrl?: URL } = {}) {
  const odd = {
    record: wireRecord('odd', { state: ['none'], alert_rules_count: 'many' }),
    product: 'product.b',
    alertable: true,
  };
  const service = await startTestService({
    source: () => [...entriesOf(230), odd],
    faults: { broken: [NAMED_FAULTS.html] },
  });
  const station = { products: ['product.a', 'product.b'], alertability: true, labels: { team: 'storage' } };
  const upstream = { page_size: 100, authorization: { credentials: 'hush' } };
  const exporter = await startReadyExporter(
    configOf(service.url, ['fine', 'stale', 'broken'], { station, upstream }),
    options,
  );
  service.setFaults('stale', [replyWith(503)]);
  await exporter.scrape();
  return exporter;
}

describe('every page', () => {
  it.each([
    [360, 'light', 'rgb(255, 255, 255)'],
    [955, 'dark', 'rgb(16, 20, 24)'],
    [965, 'light', 'rgb(255, 255, 255)'],
    [1125, 'dark', 'rgb(16, 20, 24)'],
    [1250, 'light', 'rgb(255, 255, 255)'],
  ] as const)('fits and is accessible at %i pixels in %s colours', async (width, colorScheme, background) => {
    const { url } = await fleet();
    const page = await openPage({ viewport: { width, height: 740 }, colorScheme });
    for (const path of PATHS) {
      await page.goto(url + path);
      expect(await page.locator('h1').count()).toBe(1);
      expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(background);
      await expectSound(page);
    }
  });
});

describe('the content security policy', () => {
  it.each([
    [
      'a script',
      "document.body.append(Object.assign(document.createElement('script'), { text: '1' }))",
      /^error: policy violated: script-src/,
    ],
    [
      'an image',
      "new Image().src = 'data:image/gif;base64,R0lGODlhAQABAAAAACw='",
      /^error: policy violated: img-src data/,
    ],
    [
      'an event handler',
      "document.body.setAttribute('onclick', '1'); document.body.click()",
      /^error: policy violated: script-src-attr/,
    ],
  ])('blocks %s that is injected', async (_what, code, violation) => {
    const { url } = await fleet();
    const { page, errors } = await observedPage();
    await page.goto(url);
    expect(errors).toEqual([]);
    await page.evaluate(`void (() => { ${code} })()`);
    await eventually(() => expect(errors).toContainEqual(expect.stringMatching(violation)));
  });

  it('allows the icon', async () => {
    const { url } = await fleet();
    const page = await openPage();
    await page.goto(url);
    const shown = `new Promise((resolve) => {
      const image = new Image();
      image.onload = () => resolve('loaded');
      image.onerror = () => resolve('failed');
      image.src = document.querySelector('link[rel=icon]').href;
    })`;
    expect(await page.evaluate(shown)).toBe('loaded');
  });
});
