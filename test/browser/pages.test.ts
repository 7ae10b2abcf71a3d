import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { NAMED_FAULTS } from '../../src/simulator/faults.ts';
import { configOf, entriesOf, startReadyExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { eventually } from '../web/eventually.ts';
import { axeViolations, NOT_FOUND, observedPage, openPage } from './page.ts';

/** The last page of resources, because it is the shortest. */
const PATHS = [
  '/',
  '/stations/fine?page=3',
  '/stations/stale?page=3',
  '/stations/broken',
  '/stations/fine/resources/odd',
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
  service.setFaults('stale', [{ kind: 'status', code: 503 }]);
  await exporter.scrape();
  return exporter;
}

describe.each(['light', 'dark'] as const)('every page in %s colours', (colorScheme) => {
  it('has no accessibility violations', async () => {
    const { url } = await fleet();
    const page = await openPage({ colorScheme });
    const violations: Record<string, string[]> = {};
    for (const path of PATHS) {
      await page.goto(url + path);
      expect(await page.locator('h1').count()).toBe(1);
      violations[path] = await axeViolations(page);
    }
    expect(violations).toEqual(Object.fromEntries(PATHS.map((path) => [path, []])));
  });
});

describe.each([360, 955, 965, 1125, 1250])('every page in a window of %i pixels', (width) => {
  it('is no wider than the window', async () => {
    const { url } = await fleet();
    const page = await openPage({ viewport: { width, height: 740 } });
    for (const path of PATHS) {
      await page.goto(url + path);
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, width]);
    }
  });
});

describe('every page on a phone', () => {
  it('has no accessibility violations', async () => {
    const { url } = await fleet();
    const page = await openPage({ viewport: { width: 360, height: 740 } });
    for (const path of PATHS) {
      await page.goto(url + path);
      expect(await axeViolations(page)).toEqual([]);
    }
  });
});

describe('the pages under an external URL', () => {
  it('link to each other under its path', async () => {
    const { url } = await fleet({ externalUrl: new URL('https://example.com/monitoring/exporter/') });
    const page = await openPage();
    const prefix = `${url}/monitoring/exporter/`;
    await page.goto(prefix.slice(0, -1));
    expect(page.url()).toBe(prefix);
    await page.getByRole('link', { name: 'fine', exact: true }).click();
    await page.waitForURL(`${prefix}stations/fine`);
    await page.locator('#search').fill('r22');
    await page.locator('#narrow button').click();
    await page.waitForURL(`${prefix}stations/fine?search=r22**`);
    await page.locator('#resource-table thead').getByRole('link', { name: 'Name', exact: true }).click();
    await page.waitForURL(`${prefix}stations/fine?search=r22&sort=name#resources`);
    expect(await page.locator('.pager .amount').first().innerText()).toBe('1–11 of 11');
    await page.getByRole('link', { name: 'Display r229' }).click();
    await page.waitForURL(`${prefix}stations/fine/resources/r229`);
    for (const path of ['', 'stations/fine', 'stations/fine/resources/odd', 'reference']) {
      await page.goto(prefix + path);
      expect(await badLinks(page, prefix)).toEqual([]);
    }
  });

  it('link to pages under its path from a 404 page', async () => {
    const { url } = await fleet({ externalUrl: new URL('https://example.com/exporter') });
    const page = await openPage({}, [NOT_FOUND]);
    for (const path of ['stations/none', 'stations/none/resources/odd', 'stations/fine/resources/none']) {
      await page.goto(`${url}/exporter/${path}`);
      expect(await badLinks(page, `${url}/exporter/`)).toEqual([]);
      await page.locator('header.site p a').click();
      await page.waitForURL(`${url}/exporter/`);
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
});

/** The links of a page that leave the prefix or do not work. */
async function badLinks(page: Page, prefix: string): Promise<string[]> {
  const all = await page.evaluate<string[]>('[...document.links].map((link) => link.href.replace(/#.*/, ""))');
  const links = [...new Set(all)].filter((link) => link !== page.url());
  const results = await Promise.all(links.map(async (link) => ({ link, isOk: (await fetch(link)).ok })));
  return results.flatMap(({ link, isOk }) => (isOk && link.startsWith(prefix) ? [] : [link]));
}
