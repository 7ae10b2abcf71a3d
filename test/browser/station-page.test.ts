import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { configOf, startReadyExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { expectSound, openPage } from './page.ts';
import { tabTo } from './stage.ts';

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly rules: number;
  readonly isGateway: boolean;
}

/** More than fit on a page, in another order than that of their names. */
const LISTED: readonly Listed[] = Array.from({ length: 150 }, (_, index) => ({
  id: `r${index}`,
  name: `name-${(index * 37) % 150}`,
  rules: index % 4,
  isGateway: index % 3 === 0,
}));

async function startStation(): Promise<string> {
  const source = () =>
    LISTED.map(({ id, name, rules, isGateway }) => ({
      record: wireRecord(id, { name, alert_rules_count: rules, display_name: isGateway ? `gateway ${id}` : id }),
    }));
  const service = await startTestService({ source });
  const { url } = await startReadyExporter(configOf(service.url, ['one'], { cache: { ttl: '1h' } }));
  return `${url}/stations/one`;
}

/** The first page of all resources with the most rules first, those with as many by ID. */
const MOST_RULES = LISTED.toSorted((a, b) => b.rules - a.rules || (a.id < b.id ? -1 : 1))
  .map(({ id }) => id)
  .slice(0, 100);

const shownIds = async (page: Page) => {
  // The first rows are there before the last ones have arrived.
  await page.waitForLoadState();
  return page.locator('#resource-table tbody .sub.code').allTextContents();
};
const amount = (page: Page) => page.locator('.pager .amount').first().innerText();

describe('the page of a station', () => {
  it('can be searched and sorted by keyboard', async () => {
    const page = await openPage();
    await page.goto(await startStation());
    await tabTo(page, '#search');
    await page.keyboard.type('gateway');
    await tabTo(page, '#without-rules');
    await page.keyboard.press('Space');
    await tabTo(page, '#narrow button');
    await page.keyboard.press('Enter');
    await page.waitForURL(/without_rules=yes/);
    const found = LISTED.filter(({ isGateway, rules }) => isGateway && rules === 0);
    expect(await amount(page)).toBe(`1–${found.length} of ${found.length}`);
    await tabTo(page, '#resource-table th:nth-child(2) a');
    await page.keyboard.press('Enter');
    await page.waitForURL(/sort=name/);
    const [first] = found.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    expect((await shownIds(page))[0]).toBe(first?.id);
    await tabTo(page, '#resource-table tbody th a');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/resources/${first?.id}`);
  });

  it.each([
    [1440, 'light'],
    [1024, 'dark'],
    [390, 'light'],
  ] as const)(
    'offers a way on from an empty result and an invalid query at %i pixels in %s colours',
    async (width, colorScheme) => {
      const url = await startStation();
      const page = await openPage({ viewport: { width, height: 800 }, colorScheme }, [/status of 400/]);
      await page.goto(`${url}?state=broken&sort=-alert_rules`);
      expect(await page.locator('#nothing').innerText()).toContain('No resource matches.');
      await expectSound(page);
      await page.locator('#nothing').getByRole('link', { name: 'Clear the filters' }).click();
      expect(await shownIds(page)).toEqual(MOST_RULES);
      expect((await page.goto(`${url}?search=gateway&sort=size`))?.status()).toBe(400);
      expect(await page.getByRole('alert').innerText()).toMatch(/^Expected sort to be one of id, /);
      await expectSound(page);
      await tabTo(page, '#narrow button');
      await page.keyboard.press('Enter');
      await page.waitForURL((address) => address.searchParams.get('sort') === '');
      expect(await amount(page)).toBe('1–50 of 50');
    },
  );

  it('is sorted by a field instead of headings on a phone only', async () => {
    const page = await openPage({ viewport: { width: 1024, height: 800 } });
    await page.goto(await startStation());
    expect(await page.locator('#filter-sort').isVisible()).toBe(false);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.locator('#resource-table thead').isVisible()).toBe(false);
    await page.getByLabel('Sort by').selectOption({ label: 'Rules, descending' });
    await page.locator('#narrow button').click();
    await page.waitForURL((address) => address.searchParams.get('sort') === '-alert_rules');
    expect(await shownIds(page)).toEqual(MOST_RULES);
    expect(await page.locator('#filter-sort').inputValue()).toBe('-alert_rules');
  });
});
