import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSimulatedService } from '../../src/simulator/service.ts';
import { createWorld, type WorldEntry } from '../../src/simulator/world.ts';
import { configOf, startExporter } from '../e2e/test-bed.ts';
import { axeViolations, openPage } from './page.ts';
import { tabTo } from './stage.ts';

const WIDTHS = [1440, 1024, 390];

const PRODUCTS = ['product.lepton-acp', 'product.aec2', 'product.afs'];

/** An exporter of a station with 10,000 resources, and the records of the service. */
async function largeStation() {
  const world = createWorld({ seed: 3, stations: [{ name: 'large', size: 12_000 }] });
  const entries = world.resources('large', Date.UTC(2026, 0, 15, 12)).slice(0, 10_000);
  const service = await startSimulatedService({ source: () => entries });
  const station = { products: PRODUCTS, alertability: true };
  const exporter = await startExporter(
    configOf(service.url, ['large'], { upstream: { page_size: 1000 }, station, cache: { ttl: '1h' } }),
  );
  await exporter.scrape();
  const stop = async () => {
    await exporter.stop();
    await service.stop();
  };
  return { entries, url: `${exporter.url}/stations/large`, stop };
}

/** The product by which the exporter labels the resource. */
function productOf({ product }: WorldEntry): string {
  return PRODUCTS.includes(product) ? product : '';
}

function idsOf(entries: readonly WorldEntry[]): string[] {
  return entries.map(({ record }) => record.resource_id);
}

/** The counts of the entries by kind, formatted as on the page. */
function countsBy(entries: readonly WorldEntry[], kind: (entry: WorldEntry) => string): Record<string, string> {
  const counts = new Map<string, number>();
  for (const entry of entries) counts.set(kind(entry) || '(none)', (counts.get(kind(entry) || '(none)') ?? 0) + 1);
  return Object.fromEntries(Array.from(counts, ([key, count]) => [key, count.toLocaleString('en-US')]));
}

let entries: readonly WorldEntry[];
let url: string;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ entries, url, stop } = await largeStation());
});

afterAll(() => stop?.());

const shownIds = (page: Page) => page.locator('#resource-table tbody .sub .code').allTextContents();
const amount = (page: Page) => page.locator('.pager .amount').first().innerText();
const show = (page: Page) => page.locator('#narrow button').click();

/** The range shown on the first page of a list of `count` resources. */
function firstOf(count: number): string {
  return `1–${Math.min(count, 100)} of ${count.toLocaleString('en-US')}`;
}

/** The IDs sorted by a key; equal keys by ascending ID in either direction. */
function sorted(entries: readonly WorldEntry[], key: (entry: WorldEntry) => string | number, sign: 1 | -1): string[] {
  const compare = (a: WorldEntry, b: WorldEntry) => {
    if (key(a) !== key(b)) return key(a) < key(b) ? -sign : sign;
    return a.record.resource_id < b.record.resource_id ? -1 : 1;
  };
  return idsOf(entries.toSorted(compare));
}

/** The counts that the bars show, by the key in the tooltip, else by the name. */
async function bars(page: Page, kind: string): Promise<Record<string, string>> {
  const items = page.locator(`section[aria-labelledby=by-${kind}] li`);
  const names = await items
    .locator('a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('title') ?? link.textContent));
  const amounts = await items.locator('.amount').allTextContents();
  return Object.fromEntries(names.map((name, at) => [name, `${amounts[at]}`.replace(/ \(.*/, '')]));
}

describe('the page of a station with 10,000 resources', () => {
  it.each(WIDTHS)('shows the counts of the service, at %i pixels', async (width) => {
    const page = await openPage({ viewport: { width, height: 900 } });
    await page.goto(url);
    expect(entries).toHaveLength(10_000);
    expect(await page.locator('#status').innerText()).toContain('10,000');
    expect(await page.locator('#story').innerText()).toMatch(
      /Completeness\s+verified complete\s+Unique resources\s+10,000\s+Reported total\s+10,000/,
    );
    expect(await bars(page, 'type')).toEqual(countsBy(entries, ({ record }) => record.resource_type.key));
    expect(await bars(page, 'state')).toEqual(countsBy(entries, ({ record }) => record.state));
    expect(await bars(page, 'product')).toEqual(countsBy(entries, productOf));
    const alertable = entries.filter((entry) => entry.alertable);
    const covered = alertable.filter(({ record }) => record.alert_rules_count > 0).length;
    const coverage = Math.round((100 * covered) / alertable.length);
    expect(await page.locator('#status').innerText()).toMatch(new RegExp(`Coverage\\s+${coverage} %`));
    const [[kind = '', count = ''] = []] = Object.entries(countsBy(entries, productOf));
    await page.locator('section[aria-labelledby=by-product]').getByRole('link', { name: kind, exact: true }).click();
    expect(await amount(page)).toBe(`1–100 of ${count}`);
  });

  it('can be searched and sorted by keyboard', async () => {
    const page = await openPage();
    await page.goto(url);
    await tabTo(page, '#search');
    await page.keyboard.type('gateway');
    await tabTo(page, '#without-rules');
    await page.keyboard.press('Space');
    await tabTo(page, '#narrow button');
    await page.keyboard.press('Enter');
    await page.waitForURL(/without_rules=yes/);
    const found = entries.filter(
      ({ record }) => record.display_name.includes('gateway') && record.alert_rules_count === 0,
    );
    expect(found.length).toBeGreaterThan(1);
    expect(await amount(page)).toBe(firstOf(found.length));
    await tabTo(page, '#resource-table th:nth-child(2) a');
    await page.keyboard.press('Enter');
    await page.waitForURL(/sort=name/);
    const [first = ''] = sorted(found, ({ record }) => record.name, 1);
    expect((await shownIds(page))[0]).toBe(first);
    await tabTo(page, '#resource-table tbody th a');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/resources/${first}`);
  });

  it.each([
    [1440, 'light'],
    [1024, 'dark'],
    [390, 'light'],
  ] as const)(
    'offers a way on from an empty result and an invalid query at %i pixels in %s colours',
    async (width, colorScheme) => {
      const page = await openPage({ viewport: { width, height: 800 }, colorScheme }, [/status of 400/]);
      await page.goto(`${url}?state=broken&sort=-alert_rules`);
      expect(await page.locator('#nothing').innerText()).toContain('No resource has the state broken. Present:');
      expect(await axeViolations(page)).toEqual([]);
      await page.locator('#nothing').getByRole('link', { name: 'Pending' }).click();
      const pending = entries.filter(({ record }) => record.state === 'ALERTSTATE_PENDING');
      expect(await amount(page)).toBe(firstOf(pending.length));
      expect(await shownIds(page)).toEqual(sorted(pending, ({ record }) => record.alert_rules_count, -1).slice(0, 100));
      expect((await page.goto(`${url}?search=gateway&sort=size`))?.status()).toBe(400);
      expect(await page.getByRole('alert').innerText()).toMatch(/^Expected sort to be one of id, /);
      expect(await axeViolations(page)).toEqual([]);
      await tabTo(page, '#narrow button');
      await page.keyboard.press('Enter');
      await page.waitForURL((address) => address.searchParams.get('sort') === '');
      expect(await amount(page)).toBe(
        firstOf(entries.filter(({ record }) => record.display_name.includes('gateway')).length),
      );
    },
  );

  it('is sorted by a field instead of headings on a phone only', async () => {
    const page = await openPage({ viewport: { width: 1024, height: 800 } });
    await page.goto(url);
    expect(await page.locator('#sort').isVisible()).toBe(false);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.locator('#resource-table thead').isVisible()).toBe(false);
    await page.getByLabel('Sort by').selectOption({ label: 'Rules, descending' });
    await show(page);
    await page.waitForURL((address) => address.searchParams.get('sort') === '-alert_rules');
    expect(await shownIds(page)).toEqual(sorted(entries, ({ record }) => record.alert_rules_count, -1).slice(0, 100));
    expect(await page.locator('#sort').inputValue()).toBe('-alert_rules');
  });
});
