import { describe, expect, it } from 'vitest';
import { NAMED_FAULTS, replyWith } from '../../src/simulator/faults.ts';
import { entriesOf } from '../e2e/test-bed.ts';
import { wrongTotal } from '../simulator/simulated-service.ts';
import { eventually } from '../web/eventually.ts';
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
    await page.goto(`${exporter.url}/?filter=three&state=failing`);
    expect(await page.locator('#no-match').innerText()).toBe('No station matches. Clear the filter');
    await expectSound(page);
    await tabTo(page, '#no-match a');
    await page.keyboard.press('Enter');
    await page.waitForURL(({ search }) => search === '');
    await untilText(page, '#shown', '5 of 5 stations shown');
    await tabTo(page, '.skip');
    expect((await page.locator('.skip').boundingBox())?.x).toBeGreaterThanOrEqual(0);
    await page.keyboard.press('Enter');
    await tabTo(page, '#filter-state');
    await page.keyboard.press('u');
    await page.locator('#filter').focus();
    await page.keyboard.type('ALPHA');
    await page.keyboard.press('Enter');
    await untilStations(page, ['alpha', 'alpha-10', 'alpha-9']);
    await untilText(page, '#shown', '3 of 5 stations shown');
    if (width < 960) {
      await page.locator('#filter-sort').selectOption('-resources');
      await page.locator('#controls button').click();
    } else
      for (const sorted of ['descending', 'ascending', 'descending']) {
        await tabTo(page, '#stations th:nth-child(4) a');
        await page.keyboard.press('Enter');
        await page.locator(`#stations th:nth-child(4)[aria-sort=${sorted}]`).waitFor();
      }
    await page.waitForURL(/\?filter=ALPHA&state=up&sort=-resources#stations$/);
    await untilStations(page, ['alpha-10', 'alpha', 'alpha-9']);
    await expectSound(page);
    await tabTo(page, '#row-alpha-9 th a');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/stations/alpha-9');
    await page.goBack();
    expect(await shownStations(page)).toEqual(['alpha-10', 'alpha', 'alpha-9']);
    expect(await page.locator('#filter').inputValue()).toBe('ALPHA');
  });

  it.each(WIDTHS)('says on the first screen that data may be missing resources, at %i pixels', async (width) => {
    const faults = { short: [wrongTotal(5)], odd: [NAMED_FAULTS.missing_ids] };
    const { exporter } = await exporterOfSizes({ short: 495, odd: 300, fine: 3 }, faults);
    const page = await openPage({ viewport: { width, height: 844 } });
    for (const [path, notice, text] of [
      ['/', '#summary', /^3 of 3 stations up; short: listing incomplete since [\d:]+ UTC$/],
      ['/stations/short', '#data-problems', /^The data may be missing resources since [\s\S]*What to do: ./],
      ['/stations/odd', '#data-problems', /^The data may be missing resources since [\s\S]*What to do: ./],
    ] as const) {
      await page.goto(exporter.url + path);
      expect(await page.locator(notice).innerText()).toMatch(text);
      const { y = 0, height = 0 } = (await page.locator(notice).boundingBox()) ?? {};
      expect(y + height).toBeLessThan(844);
      await expectSound(page);
    }
  });

  it('updates itself, and shows that the service throttles as soon as it does', async () => {
    const { service, exporter } = await exporterOfSizes({ one: 3 });
    const page = await openPage();
    await page.goto(exporter.url);
    await untilText(page, '[data-label=Resources]', '3');
    service.setRecords('one', entriesOf(1200));
    await exporter.scrape();
    await untilText(page, '[data-label=Resources]', /^1,200 \+1,197 since [\d:]+ UTC$/);
    await untilText(page, '#totals div:nth-child(2) .value', '1,200');
    await untilText(page, '#totals div:nth-child(2) .note', '+1,197 in the last hour');
    await untilText(page, '#attention', '');
    service.setFaults('one', [replyWith(429)]);
    await exporter.scrape();
    await untilText(page, '#attention li', /The service is limiting requests \(429\)/);
    await untilText(page, '#summary', /^0 of 1 station up; one: 429 Too Many Requests since [\d:]+ UTC$/);
  });

  it('keeps filter, order, focus and the visible rows when it updates', async () => {
    const sizes = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`ts-${index}`, 10 * index]));
    const { service, exporter } = await exporterOfSizes({ ...sizes, other: 5 });
    const page = await openPage({ viewport: { width: 1280, height: 500 } });
    await openPaused(page, `${exporter.url}/?filter=ts-&sort=-resources`);
    await page.locator('#row-ts-5 th a').focus();
    const place = () => page.evaluate<number>('document.activeElement.getBoundingClientRect().top');
    const order = await shownStations(page);
    const placeBefore = await place();
    expect(await page.evaluate('scrollY')).toBeGreaterThan(0);
    expect(order.at(0)).toBe('ts-29');
    const kept = async () => ({
      filter: await page.locator('#filter').inputValue(),
      sorted: await page.locator('[aria-sort=descending]').textContent(),
      focus: await page.evaluate('document.activeElement.textContent'),
      order: await shownStations(page),
    });
    const expected = { filter: 'ts-', sorted: 'Resources', focus: 'ts-5', order };

    service.setRecords('ts-5', entriesOf(55));
    service.setFaults('ts-0', [FORBIDDEN]);
    await exporter.scrape();
    await nextUpdate(page);
    await untilText(page, '#row-ts-5 [data-label=Resources]', /^55 \+5 since/);
    await untilText(page, '#row-ts-0 [data-label=State]', /^failing: 403 Forbidden since [\d:]+ UTC$/);
    expect(await kept()).toEqual(expected);
    // The failure appears above the table; the browser scrolls by its height, so that no row moves by more than its own.
    await eventually(async () => expect(Math.abs((await place()) - placeBefore)).toBeLessThan(60));

    service.setRecords('ts-5', entriesOf(35));
    await exporter.scrape();
    await nextUpdate(page);
    await untilText(page, '#row-ts-5 [data-label=Resources]', /^35 −20 \+5 since/);
    const swapped = order.with(order.indexOf('ts-5'), 'ts-4').with(order.indexOf('ts-4'), 'ts-5');
    expect(await kept()).toEqual({ ...expected, order: swapped });
  });

  it('works without JavaScript', async () => {
    const { exporter } = await exporterOfSizes({ large: 1234, broken: 3 }, { broken: [FORBIDDEN] });
    const page = await openPage({ javaScriptEnabled: false });
    await page.goto(exporter.url);
    expect(await page.locator('#pause').isVisible()).toBe(false);
    await page.locator('#filter').fill('LARGE');
    await page.locator('#controls button').click();
    await untilStations(page, ['large']);
    await page.locator('#stations').getByRole('link', { name: 'Resources' }).click();
    expect(await page.locator('[aria-sort]').textContent()).toBe('Resources');
    expect(await page.locator('#attention').textContent()).toContain('What to do:');
    await page.locator('#stations').getByRole('link', { name: 'large', exact: true }).click();
    await page.waitForURL('**/stations/large');
  });
});
