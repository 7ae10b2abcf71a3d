import { describe, expect, it } from 'vitest';
import { configOf, entriesOf, startReadyExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { expectSound, NOT_FOUND, openPage } from './page.ts';
import { WIDTHS } from './stage.ts';

const HOSTILE = `<img src=x onerror=alert(1)> ${'unbroken'.repeat(60)}`;

describe('the changes of a station', () => {
  it.each(WIDTHS)('answer which resources changed, from the history on, at %i px', async (width) => {
    const service = await startTestService({ source: () => entriesOf(150) });
    const { url, scrape } = await startReadyExporter(configOf(service.url, ['a'], { upstream: { page_size: 1000 } }));
    const firing = { record: wireRecord('r0', { state: 'ALERTSTATE_FIRING', alert_rules_count: 5 }) };
    const moved = { record: wireRecord('r1', { resource_type: { key: `type.${'moved'.repeat(60)}` } }) };
    const added = { record: wireRecord('new', { display_name: HOSTILE, name: HOSTILE }) };
    service.setRecords('a', [firing, moved, added]);
    await scrape();
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await openPage({ viewport: { width, height: 900 }, colorScheme }, [NOT_FOUND]);
      const rows = page.locator('#change-table tbody tr');
      await page.goto(`${url}/stations/a`);
      await page.getByRole('link', { name: '2 added, 149 removed, 1 changed state, 1 changed rules' }).click();
      await page.waitForURL(/\/stations\/a\/changes\?since=.*&until=/);
      expect(await page.locator('.amount').first().innerText()).toBe('1–100 of 152');
      await expectSound(page);
      await page.locator('#filter-change').selectOption('added');
      await page.locator('#narrow button').click();
      await page.waitForURL(/change=added&since=/);
      expect(await rows.count()).toBe(1);
      expect(await rows.innerText()).toContain(HOSTILE);
      await expectSound(page);
      await page.locator('#reset').click();
      await page.waitForURL(/changes\?$/);
      await page.locator('#search').fill('display r0');
      await page.keyboard.press('Enter');
      await page.waitForURL(/search=display/);
      expect((await rows.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
        expect.stringMatching(/rules .*1 (TO )?5$/i),
        expect.stringMatching(/state .*Inactive (TO )?Firing$/i),
      ]);
      await page.getByRole('link', { name: 'Display r0' }).first().click();
      await page.waitForURL(`${url}/stations/a/resources/r0`);
      expect(await rows.count()).toBe(2);
      await expectSound(page);
      await page.goto(`${url}/stations/a/resources/r7`);
      await page.getByRole('link', { name: 'Its changes' }).click();
      expect(await rows.first().innerText()).toMatch(/removed/);
    }
  });
});
