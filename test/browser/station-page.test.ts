import { describe, expect, it } from 'vitest';
import { configOf, entriesOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { startIncident } from './incident.ts';
import { expectSound, openPage } from './page.ts';
import { FORBIDDEN, tabTo } from './stage.ts';

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
    expect(await page.locator('#refreshes tbody .outcome').allTextContents()).toEqual(['succeeded', 'failed']);
  });
});

describe('the page of a station in an incident', () => {
  it('is no wider than its window with every part open, and its resources begin on the first screen but one', async () => {
    const { url } = await startIncident(['prod']);
    for (const [width, height] of [
      [360, 800],
      [390, 844],
      [768, 1024],
      [1024, 768],
      [1280, 800],
      [1440, 900],
      [1920, 1080],
    ] as const) {
      const page = await openPage({ viewport: { width, height } });
      await page.goto(`${url}/stations/prod`);
      const top = await page.evaluate<number>("document.querySelector('#resources').getBoundingClientRect().top");
      expect(top).toBeLessThan(2 * height);
      await page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })");
      expect(await page.locator('#refreshes .outcome').allInnerTexts()).toEqual([
        'postponed',
        'incomplete',
        'failed',
        'succeeded',
        'succeeded',
      ]);
      await expectSound(page);
    }
  });
});
