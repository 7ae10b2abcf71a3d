import { describe, expect, it } from 'vitest';
import { openPage } from './page.ts';
import { exporterOfSizes, tabTo, WIDTHS } from './stage.ts';

describe('the site', () => {
  it.each(WIDTHS)(
    'searches the resources of all stations by keyboard, without a script, at %i pixels',
    async (width) => {
      const { exporter } = await exporterOfSizes({ small: 5, large: 1234 });
      const page = await openPage({ viewport: { width, height: 800 }, javaScriptEnabled: false });
      await page.goto(`${exporter.url}/stations/small`);
      // The button needs a script.
      expect(await page.locator('#pause').isVisible()).toBe(false);
      await tabTo(page, '#site-search');
      await page.keyboard.type('NAME-R77');
      await page.keyboard.press('Enter');
      await page.waitForURL(`${exporter.url}/search?search=NAME-R77`);
      expect(await page.locator('#search').inputValue()).toBe('NAME-R77');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      await page.getByRole('link', { name: 'Display r770', exact: true }).click();
      await page.waitForURL(`${exporter.url}/stations/large/resources/r770`);
    },
  );
});
