import type { Locator, Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { configOf, startReadyExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { expectSound, openPage } from './page.ts';
import { shownStations } from './stage.ts';

const RIGHT_TO_LEFT = '\u202Egnp.exe';
const LONG = 'unbroken'.repeat(125);

const NAMES = [
  '<img src=x onerror="window.broken = 1">',
  '"><script>window.broken = 2</script>',
  "' onmouseover='window.broken = 3",
  '</title></style><svg/onload=window.broken=4>',
  'javascript:window.broken=5',
  RIGHT_TO_LEFT,
  LONG,
  `quotes " ' \` &amp; &#60;`,
  'a/b/c',
  'a%2Fb%00%',
  '?page=2#resources',
  'two  spaces ',
  '资源 🛰 \u0301',
];

/** IDs with segments that a path cannot hold; the configuration rejects them as names of stations. */
const STEPS = ['.', '..', 'a/b/../c', '../../config'];
const IDS = [...NAMES, ...STEPS];

/** Stations with these names, each with one resource per ID that has it in all fields. */
async function unusualNamesExporter() {
  const record = (name: string) =>
    wireRecord(name, {
      name,
      display_name: name,
      state: name,
      sku: name,
      gpu_model: name,
      resource_type: { key: name, label: name },
    });
  const service = await startTestService({
    source: () => IDS.map((name) => ({ record: record(name), product: LONG, alertable: true })),
  });
  const config = configOf(service.url, NAMES, {
    upstream: { page_size: 100 },
    station: { products: [LONG, RIGHT_TO_LEFT], alertability: true },
    cache: { ttl: '1h' },
  });
  const stations = config.stations.map((station) => {
    const name = station.telemetry_station;
    return { ...station, name, labels: { note: name } };
  });
  return startReadyExporter({ ...config, stations });
}

const textOf = (locator: Locator) => locator.first().textContent();

/** The link targets as the browser resolves them. */
const hrefs = (page: Page, selector: string) =>
  page.evaluate<string[]>(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((link) => link.href)`);

/** No injected code ran, and the page is no wider than its window. */
async function expectHarmless(page: Page): Promise<void> {
  const wider = 'document.documentElement.scrollWidth - innerWidth';
  expect(await page.evaluate(`[window.broken, ${wider}]`)).toEqual([undefined, 0]);
}

describe('unusual names', () => {
  it('are shown as text on the status page, fit on a narrow screen and link to the pages of their stations', async () => {
    const { url } = await unusualNamesExporter();
    const page = await openPage({ viewport: { width: 360, height: 740 } });
    await page.goto(url);
    await expectHarmless(page);
    await expectSound(page);
    expect(await shownStations(page)).toEqual(NAMES);
    expect(await page.locator('#stations tbody th a').allTextContents()).toEqual(NAMES);
    const pages = await hrefs(page, '#stations tbody th a');
    for (const [at, name] of NAMES.entries()) {
      await page.goto(`${pages[at]}`);
      expect(await textOf(page.locator('h1'))).toBe(name);
      expect(await textOf(page.locator('#question code'))).toBe(`note="${name}"`);
      await expectHarmless(page);
    }
  });

  it('do not change the direction of adjacent text', async () => {
    const { url } = await unusualNamesExporter();
    const page = await openPage();
    const segment = encodeURIComponent(RIGHT_TO_LEFT);
    await page.goto(`${url}/stations/${segment}/resources/${encodeURIComponent('a/b/../c')}`);
    const [station = 0, here = 0] = await page.evaluate<number[]>(`(() => {
      const trail = document.querySelector('.trail');
      const range = document.createRange();
      range.selectNodeContents(trail.lastChild);
      return [trail.querySelectorAll('a')[1].getBoundingClientRect().right, range.getBoundingClientRect().left];
    })()`);
    expect(station).toBeLessThanOrEqual(here);
  });
});
