import { describe, expect, it } from 'vitest';
import { configOf, entriesOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { openPage } from './page.ts';
import { exporterOfSizes, FORBIDDEN, tabTo } from './stage.ts';

/** A station with more resources than fit on a page. */
async function startStation(): Promise<string> {
  const { exporter } = await exporterOfSizes({ one: 150 });
  return `${exporter.url}/stations/one`;
}

describe('the button "Refresh now"', () => {
  it('refreshes by keyboard without a secure context, where browsers send the origin only', async () => {
    const service = await startTestService({ source: () => entriesOf(3), faults: { a: [FORBIDDEN] } });
    const config = configOf(service.url, ['a'], { cache: { ttl: '1h', error_ttl: '1h' } });
    const { url } = await startReadyExporter(config, { scrapeTimeoutMs: 60_000 });
    service.setFaults('a', []);
    const page = await openPage();
    await page.goto(`${url.replace('127.0.0.1', 'exporter.test')}/stations/a?sort=name`);
    expect(await page.locator('#summary').innerText()).toMatch(/^failing/);
    await tabTo(page, '#refresh button');
    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.method() === 'POST'),
      page.waitForEvent('load'),
      page.keyboard.press('Enter'),
    ]);
    expect(Object.keys(await request.allHeaders())).not.toContain('sec-fetch-site');
    expect(page.url()).toMatch(/^http:\/\/exporter\.test:\d+\/stations\/a\?sort=name$/);
    expect(await page.locator('#summary').innerText()).toMatch(/^up/);
    expect(await page.locator('#refreshes tbody .outcome').allInnerTexts()).toEqual(['succeeded', 'failed']);
  });
});

describe('the page of a station', () => {
  it('can be searched and sorted by keyboard', async () => {
    const page = await openPage();
    await page.goto(await startStation());
    await tabTo(page, '#search');
    await page.keyboard.type('r14');
    await tabTo(page, '#narrow button');
    await page.keyboard.press('Enter');
    await page.waitForURL(/search=r14/);
    expect(await page.locator('.pager .amount').first().innerText()).toBe('1–11 of 11');
    await tabTo(page, '#resource-table th:nth-child(2) a');
    await page.keyboard.press('Enter');
    await page.waitForURL(/sort=name/);
    await tabTo(page, '#resource-table tbody th a');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/resources/r14');
  });

  it('is sorted by a field instead of headings on a phone only', async () => {
    const page = await openPage({ viewport: { width: 1024, height: 800 } });
    await page.goto(await startStation());
    expect(await page.locator('#filter-sort').isVisible()).toBe(false);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.locator('#resource-table thead').isVisible()).toBe(false);
    await page.getByLabel('Sort by').selectOption({ label: 'Rules, descending' });
    await page.locator('#narrow button').click();
    await page.waitForURL((address) => address.searchParams.get('sort') === '-alert_rules');
    expect(await page.locator('#filter-sort').inputValue()).toBe('-alert_rules');
  });
});
