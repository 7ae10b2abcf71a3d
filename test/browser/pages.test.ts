import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { FAMILY_DESCRIPTIONS } from '../../src/metrics/catalogue.ts';
import { NAMED_FAULTS } from '../../src/simulator/faults.ts';
import { configOf, entriesOf, startReadyExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { eventually } from '../web/eventually.ts';
import { axeViolations, NOT_FOUND, observedPage, openPage } from './page.ts';
import { tabTo } from './stage.ts';

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

describe.each([{ colorScheme: 'light' }, { colorScheme: 'dark' }, { viewport: { width: 360, height: 740 } }] as const)(
  'every page with %j',
  (options) => {
    it('has no accessibility violations', async () => {
      const { url } = await fleet();
      const page = await openPage(options);
      for (const path of PATHS) {
        await page.goto(url + path);
        expect(await page.locator('h1').count()).toBe(1);
        expect(await axeViolations(page), path).toEqual([]);
      }
    });
  },
);

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

describe('the page of a failing station', () => {
  it('shows the failure, the advice and the old snapshot', async () => {
    const { url } = await fleet();
    const page = await openPage();
    await page.goto(`${url}/stations/stale`);
    expect(await page.locator('#status').innerText()).toMatch(/State\s+failing\s+Resources\s+231/);
    const [meaning, message, advice] = await page.locator('.failure-note p').allInnerTexts();
    expect(meaning).toMatch(/^The service returned an error status.* Last success: /);
    expect(message).toMatch(/^status: 127\.0\.0\.1:\d+ answered 503 Service Unavailable/);
    expect(advice).toMatch(/^What to do: ./);
    expect(await page.locator('.pager .amount').first().innerText()).toBe('1–100 of 231');
    await page.goto(`${url}/stations/broken`);
    expect(await page.locator('main').innerText()).toContain('No data: no refresh has succeeded within max_stale.');
    expect(await page.locator('.failure-note').innerText()).toContain('No refresh has succeeded yet.');
    expect(await page.locator('#narrow').count()).toBe(0);
  });
});

describe('the page of a resource', () => {
  it('shows its record and its series', async () => {
    const exporter = await fleet();
    const page = await openPage();
    await page.goto(`${exporter.url}/stations/fine?search=odd`);
    await page.getByRole('link', { name: 'Display odd' }).click();
    expect(await page.locator('#origin').innerText()).toContain('230 in the station’s listing');
    expect(await page.locator('#origin').innerText()).toContain('record 31 of the page at offset 200');
    expect(await page.locator('#origin').innerText()).toMatch(
      /Invalid fields\s+state alert_rules_count|Invalid fields\s+alert_rules_count state/,
    );
    expect(await page.locator('#fields tr', { hasText: 'alert_rules_count' }).innerText()).toContain('invalid');
    expect(await page.locator('#reasons').innerText()).toContain(
      'product.b: the first of product.a, product.b whose listing contains it',
    );
    expect(await page.locator('#reasons').innerText()).toContain(
      'yes: in the listing of alertable resources (enabled_alert=true)',
    );
    const metrics = await (await exporter.get('/metrics')).text();
    const lines = metrics.split('\n').filter((line) => line.includes('station="fine",resource_id="odd"'));
    expect(lines.length).toBeGreaterThan(1);
    expect((await page.locator('#lines').textContent())?.trim().split('\n')).toEqual(lines);
    await page.locator('.trail').getByRole('link', { name: 'fine' }).click();
    await page.waitForURL(`${exporter.url}/stations/fine`);
  });
});

describe('the metrics reference', () => {
  it('has an anchor for every metric', async () => {
    const { url } = await fleet();
    const page = await openPage();
    await page.goto(url);
    await page.getByRole('link', { name: 'Metrics reference' }).click();
    const names = FAMILY_DESCRIPTIONS.map(({ name }) => name);
    expect(await page.locator('#families tbody th').allTextContents()).toEqual(names);
    const last = `${names.at(-1)}`;
    await tabTo(page, '#families th a');
    await page.locator(`#${last} th a`).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(`${url}/reference#${last}`);
    const box = await page.locator(`#${last}`).boundingBox();
    expect(box?.y).toBeGreaterThanOrEqual(0);
    expect(box?.y).toBeLessThan(page.viewportSize()?.height ?? 0);
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
