import { describe, expect, it } from 'vitest';
import { expectSound, NOT_FOUND, openPage } from './page.ts';
import { exporterOfSizes, FORBIDDEN, tabTo, WIDTHS } from './stage.ts';

const BAD_REQUEST = /^error: Failed to load resource: the server responded with a status of 400/;

describe.each(WIDTHS)('the site at %i pixels', (width) => {
  const viewport = { width, height: 800 };

  it('searches the resources of all stations by keyboard, without a script', async () => {
    const { exporter } = await exporterOfSizes({ small: 5, large: 1234, gone: 3 }, { gone: [FORBIDDEN] });
    const page = await openPage({ viewport, javaScriptEnabled: false });
    await page.goto(`${exporter.url}/stations/small`);
    await tabTo(page, '#site-search');
    await page.keyboard.type('NAME-R77');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${exporter.url}/search?q=NAME-R77`);
    expect(await page.locator('#result').innerText()).toBe(
      '11 resources of 1 station match: “NAME-R77” in ID, name or display name.',
    );
    expect(await page.locator('#not-searched').innerText()).toBe('Not searched because they have no data: gone.');
    expect(await page.locator('#site-search').inputValue()).toBe('NAME-R77');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    await page.getByRole('link', { name: 'Display r770', exact: true }).click();
    await page.waitForURL(`${exporter.url}/stations/large/resources/r770`);
  });

  it('shows an unknown path and a wrong query as pages with working links', async () => {
    const { exporter } = await exporterOfSizes({ one: 1 });
    const page = await openPage({ viewport }, [NOT_FOUND, BAD_REQUEST]);
    const response = await page.goto(`${exporter.url}/no/such/page`);
    expect(response?.status()).toBe(404);
    expect(await page.locator('h1').innerText()).toBe('Not found');
    await expectSound(page);
    await page.getByRole('link', { name: 'All stations' }).click();
    await page.waitForURL(`${exporter.url}/`);
    expect((await page.goto(`${exporter.url}/?format=xml`))?.status()).toBe(400);
    expect(await page.locator('.message').innerText()).toMatch(/^Expected format to be one of /);
    await expectSound(page);
    await page.getByRole('link', { name: 'This page without its query' }).click();
    await page.locator('#summary').waitFor();
  });
});
