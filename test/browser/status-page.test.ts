import { describe, expect, it } from 'vitest';
import { entriesOf } from '../e2e/test-bed.ts';
import { expectSound, openPage } from './page.ts';
import {
  exporterOfSizes,
  FORBIDDEN,
  nextUpdate,
  openPaused,
  shownStations,
  tabTo,
  untilStations,
  untilText,
  WIDTHS,
} from './stage.ts';

describe('the status page', () => {
  it.each(WIDTHS)('is filtered and sorted by keyboard, and keeps both in the URL, at %i pixels', async (width) => {
    const sizes = { beta: 20, alpha: 3, 'alpha-10': 100, 'alpha-9': 0, broken: 0 };
    const { exporter } = await exporterOfSizes(sizes, { broken: [FORBIDDEN] });
    const page = await openPage({ viewport: { width, height: 800 } });
    await page.goto(exporter.url);
    await tabTo(page, '.skip');
    expect((await page.locator('.skip').boundingBox())?.x).toBeGreaterThanOrEqual(0);
    await page.keyboard.press('Enter');
    await tabTo(page, '#filter-state');
    await page.keyboard.press('u');
    await page.locator('#filter').focus();
    await page.keyboard.type('ALPHA');
    await page.keyboard.press('Enter');
    await untilStations(page, ['alpha', 'alpha-10', 'alpha-9']);
    const isNarrow = width < 960;
    expect(await page.locator('#filter-sort').isVisible()).toBe(isNarrow);
    expect(await page.locator('#stations thead').isVisible()).toBe(!isNarrow);
    if (isNarrow) {
      await page.locator('#filter-sort').selectOption('-resources');
      await page.locator('#controls button').click();
    } else {
      await tabTo(page, '#stations th:nth-child(3) a');
      await page.keyboard.press('Enter');
    }
    await page.waitForURL(/\?filter=ALPHA&state=up&sort=-resources#stations$/);
    await untilStations(page, ['alpha-10', 'alpha', 'alpha-9']);
    await expectSound(page);
  });

  it('keeps filter, order and focus when it updates, also where rows change places', async () => {
    const { service, exporter } = await exporterOfSizes({ 'ts-1': 10, 'ts-2': 20, 'ts-3': 30, other: 5 });
    const page = await openPage();
    await openPaused(page, `${exporter.url}/?filter=ts-&sort=-resources`);
    await page.locator('#row-ts-2 th a').focus();
    service.setRecords('ts-2', entriesOf(5));
    service.setFaults('ts-3', [FORBIDDEN]);
    await exporter.scrape();
    await nextUpdate(page);
    await untilText(page, '#row-ts-2 [data-label=Resources]', /^5 −15 since/);
    await untilText(page, '#row-ts-3 [data-label=State]', /^failing: 403 Forbidden$/);
    expect(await shownStations(page)).toEqual(['ts-3', 'ts-1', 'ts-2']);
    expect(await page.locator('#filter').inputValue()).toBe('ts-');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('ts-2');
  });
});
