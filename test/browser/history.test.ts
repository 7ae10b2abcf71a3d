import { describe, expect, it } from 'vitest';
import { replyWith } from '../../src/simulator/faults.ts';
import { configOf, entriesOf, startReadyExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { expectSound, openPage } from './page.ts';
import { FORBIDDEN, tabTo, WIDTHS } from './stage.ts';

/** An exporter whose station was refreshed successfully, then failed with a hostile message, then recovered with other resources. */
async function startEventful() {
  const service = await startTestService({ source: () => entriesOf(3) });
  const exporter = await startReadyExporter(configOf(service.url, ['a']));
  service.setFaults('a', [replyWith(503, {}, 'overloaded <img src=x onerror=alert(1)>')]);
  await exporter.scrape();
  service.setFaults('a', []);
  service.setRecords('a', [{ record: wireRecord('r0', { state: 'ALERTSTATE_FIRING' }) }]);
  await exporter.scrape();
  return exporter;
}

describe('the history on the station page', () => {
  it.each(WIDTHS)(
    'is accessible in both colour schemes, and shows what the service sent as text, at %i px',
    async (width) => {
      const { url } = await startEventful();
      for (const [colorScheme, failed] of [
        ['light', 'rgb(176, 20, 32)'],
        ['dark', 'rgb(255, 143, 135)'],
      ] as const) {
        const page = await openPage({ viewport: { width, height: 900 }, colorScheme });
        await page.goto(`${url}/stations/a`);
        const section = page.locator('#history');
        expect(await section.getByRole('img').count()).toBe(4);
        expect(await page.evaluate("getComputedStyle(document.querySelector('.timeline rect.failed')).fill")).toBe(
          failed,
        );
        expect(await page.locator('#refreshes tbody').innerText()).toContain('<img src=x onerror=alert(1)>');
        await expectSound(page);
      }
    },
  );
});

describe('the button "Refresh now"', () => {
  /** An exporter whose first refresh failed, and that refreshes on request alone. */
  async function startFailing() {
    const service = await startTestService({ source: () => entriesOf(3), faults: { a: [FORBIDDEN] } });
    const config = configOf(service.url, ['a'], { cache: { ttl: '1h', error_ttl: '1h' } });
    const { url } = await startReadyExporter(config, { scrapeTimeoutMs: 60_000 });
    service.setFaults('a', []);
    return url;
  }

  it.each(WIDTHS)('refreshes the station and leads back to the page, with the keyboard, at %i px', async (width) => {
    const url = `${await startFailing()}/stations/a?sort=name`;
    const page = await openPage({ viewport: { width, height: 900 } });
    await page.goto(url);
    expect(await page.locator('#summary').innerText()).toMatch(/^failing/);
    await expectSound(page);
    await tabTo(page, '#refresh button');
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
    expect(page.url()).toBe(url);
    expect(await page.locator('#summary').innerText()).toMatch(/^up/);
    expect(await page.locator('#refreshes tbody .outcome').allInnerTexts()).toEqual(['succeeded', 'failed']);
    await expectSound(page);
  });

  it('works without a secure context, where browsers send the origin only', async () => {
    const url = await startFailing();
    const page = await openPage();
    await page.goto(`${url.replace('127.0.0.1', 'exporter.test')}/stations/a`);
    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.method() === 'POST'),
      page.waitForEvent('load'),
      page.locator('#refresh button').click(),
    ]);
    expect(Object.keys(await request.allHeaders())).not.toContain('sec-fetch-site');
    expect(page.url()).toMatch(/^http:\/\/exporter\.test:\d+\/stations\/a$/);
    expect(await page.locator('#refreshes tbody .outcome').allInnerTexts()).toEqual(['succeeded', 'failed']);
  });
});
