import { describe, expect, it } from 'vitest';
import { configOf, entriesOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { axeViolations, NOT_FOUND, openPage } from './page.ts';
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

  it('pages, sorts and downloads all results', async () => {
    const { exporter } = await exporterOfSizes({ small: 5, large: 1234 });
    const page = await openPage({ viewport });
    await page.goto(`${exporter.url}/search?q=display`);
    expect(await page.locator('#result').innerText()).toContain('1,239 resources of 2 stations');
    await page.getByRole('link', { name: 'Last' }).first().click();
    expect(await page.locator('#resource-table tbody tr').count()).toBe(39);
    await page.goto(`${exporter.url}/search?q=display&sort=-name`);
    expect(await page.locator('#resource-table tbody tr').count()).toBe(100);
    expect(await page.locator('#resource-table tbody tr').first().innerText()).toContain('name-r999');
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    const csv = await page.locator('.downloads').getByRole('link', { name: 'CSV' }).getAttribute('href');
    const text = await (await exporter.get(`/search${csv}`)).text();
    expect(text.trim().split('\r\n')).toHaveLength(1240);
    expect(await axeViolations(page)).toEqual([]);
    await page.goto(`${exporter.url}/search?q=nowhere`);
    expect(await page.locator('#result').innerText()).toBe(
      'No resource matches: “nowhere” in ID, name or display name.',
    );
    expect(await axeViolations(page)).toEqual([]);
  });

  it('leads from the first links to pages, from the footer to text', async () => {
    const { exporter } = await exporterOfSizes({ one: 1 });
    const page = await openPage({ viewport });
    await page.goto(exporter.url);
    expect(await page.locator('header nav a').allInnerTexts()).toEqual([
      'Stations',
      'Metrics reference',
      'Service discovery',
      'Configuration',
    ]);
    expect(await page.locator('footer a').allInnerTexts()).toEqual(['Metrics', 'Healthy', 'Ready']);
    expect(
      await page.evaluate(
        "fetch(document.querySelector('link[rel=icon]').href).then((reply) => reply.headers.get('content-type'))",
      ),
    ).toBe('image/svg+xml');
    expect(
      await page.evaluate(`new Promise((resolve) => {
        const image = new Image();
        image.onload = () => resolve('loaded');
        image.onerror = () => resolve('failed');
        image.src = 'favicon.ico';
      })`),
    ).toBe('loaded');
  });

  it('shows an unknown path and a wrong query as pages with working links', async () => {
    const { exporter } = await exporterOfSizes({ one: 1 });
    const page = await openPage({ viewport }, [NOT_FOUND, BAD_REQUEST]);
    const response = await page.goto(`${exporter.url}/no/such/page`);
    expect(response?.status()).toBe(404);
    expect(await page.locator('h1').innerText()).toBe('Not found');
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'All stations' }).click();
    await page.waitForURL(`${exporter.url}/`);
    expect((await page.goto(`${exporter.url}/?format=xml`))?.status()).toBe(400);
    expect(await page.locator('.message').innerText()).toMatch(/^Expected format to be one of /);
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'This page without its query' }).click();
    await page.locator('#summary').waitFor();
  });

  it('shows the configuration without secrets', async () => {
    const service = await startTestService({ source: () => entriesOf(1) });
    const upstream = { authorization: { credentials: 'hush' } };
    const { url } = await startReadyExporter(configOf(service.url, ['one'], { upstream }));
    const page = await openPage({ viewport });
    await page.goto(url);
    await page.getByRole('link', { name: 'Configuration' }).click();
    expect(await page.locator('#configuration').innerText()).toContain('credentials: <secret>');
    expect(await page.content()).not.toContain('hush');
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('link', { name: 'Plain text' }).click();
    expect(await page.locator('body').innerText()).toMatch(/^upstreams:/);
  });
});
