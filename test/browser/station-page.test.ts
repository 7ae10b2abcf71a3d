import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FleetEntry, SimulatedFleet } from '../../src/simulator/fleet.ts';
import { configOf, startExporter } from '../e2e/test-bed.ts';
import { startSimulatedService } from '../simulator/simulated-service.ts';
import { expectSound, openPage } from './page.ts';
import { tabTo, WIDTHS } from './stage.ts';

const PRODUCTS = ['product.lepton-acp', 'product.aec2', 'product.afs'];

let entries: readonly FleetEntry[];
let url: string;
let stop: () => Promise<void>;

beforeAll(async () => {
  const fleet = new SimulatedFleet(3, { name: 'large', size: 12_000 });
  entries = fleet.at(Date.UTC(2026, 0, 15, 12)).slice(0, 10_000);
  const service = await startSimulatedService({ source: () => entries });
  const station = { products: PRODUCTS, alertability: true };
  const exporter = await startExporter(
    configOf(service.url, ['large'], { upstream: { page_size: 1000 }, station, cache: { ttl: '1h' } }),
  );
  url = `${exporter.url}/stations/large`;
  stop = async () => {
    await exporter.stop();
    await service.stop();
  };
  await exporter.scrape();
});

afterAll(() => stop?.());

type KeyOf = (entry: FleetEntry) => string | number;

const typeOf = ({ record }: FleetEntry) => record.resource_type.key;
const nameOf = ({ record }: FleetEntry) => record.name;
const rulesOf = ({ record }: FleetEntry) => record.alert_rules_count;
/** With nine digits after the point, so that it can be sorted as text. */
const createdOf = ({ record }: FleetEntry) => record.create_time.slice(0, -1).padEnd(29, '0');
const isPending = ({ record }: FleetEntry) => record.state === 'ALERTSTATE_PENDING';
const isGateway = ({ record }: FleetEntry) => record.display_name.includes('gateway');

/** The product by which the exporter labels the resource. */
function productOf({ product }: FleetEntry): string {
  return PRODUCTS.includes(product) ? product : '';
}

/** Whether the ID, the name or the display name contains the text in any case. */
function hasText({ record: { resource_id, name, display_name } }: FleetEntry, text: string): boolean {
  return [resource_id, name, display_name].some((value) => value.toLowerCase().includes(text.toLowerCase()));
}

function idsOf(entries: readonly FleetEntry[]): string[] {
  return entries.map(({ record }) => record.resource_id);
}

/** The counts of the entries by kind, formatted as on the page. */
function countsBy(entries: readonly FleetEntry[], kind: (entry: FleetEntry) => string): Record<string, string> {
  const counts = new Map<string, number>();
  for (const entry of entries) counts.set(kind(entry) || '(none)', (counts.get(kind(entry) || '(none)') ?? 0) + 1);
  return Object.fromEntries(Array.from(counts, ([key, count]) => [key, count.toLocaleString('en-US')]));
}

/** Of the whole page: its first rows are there before the last ones have arrived. */
const shownIds = async (page: Page) => {
  await page.waitForLoadState();
  return page.locator('#resource-table tbody .sub.code').allTextContents();
};
const amount = (page: Page) => page.locator('.pager .amount').first().innerText();
const show = (page: Page) => page.locator('#narrow button').click();

/** The range shown on the first page of a list of `count` resources. */
function firstOf(count: number): string {
  return `1–${Math.min(count, 100)} of ${count.toLocaleString('en-US')}`;
}

/** The IDs sorted by a key; equal keys by ascending ID in either direction. */
function sorted(entries: readonly FleetEntry[], key: KeyOf, sign: 1 | -1): string[] {
  const compare = (a: FleetEntry, b: FleetEntry) => {
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
    expect(await bars(page, 'type')).toEqual(countsBy(entries, typeOf));
    expect(await bars(page, 'state')).toEqual(countsBy(entries, ({ record }) => record.state));
    expect(await bars(page, 'product')).toEqual(countsBy(entries, productOf));
    const alertable = entries.filter((entry) => entry.alertable);
    const covered = alertable.filter((entry) => rulesOf(entry) > 0).length;
    const coverage = Math.round((100 * covered) / alertable.length);
    expect(await page.locator('#status').innerText()).toMatch(new RegExp(`Coverage\\s+${coverage} %`));
    const [[kind = '', count = ''] = []] = Object.entries(countsBy(entries, productOf));
    await page.locator('section[aria-labelledby=by-product]').getByRole('link', { name: kind, exact: true }).click();
    expect(await amount(page)).toBe(`1–100 of ${count}`);
  });

  it.each<[heading: string, key: KeyOf]>([
    ['Resource', ({ record }) => record.display_name],
    ['Type', typeOf],
    ['Rules', rulesOf],
    ['Created', createdOf],
  ])('sorts by %s in both directions', async (heading, key) => {
    const page = await openPage();
    await page.goto(url);
    for (const [direction, sign] of [
      ['ascending', 1],
      ['descending', -1],
    ] as const) {
      await page.locator('#resource-table thead').getByRole('link', { name: heading, exact: true }).click();
      await page.locator(`#resource-table th[aria-sort=${direction}]`, { hasText: heading }).waitFor();
      const expected = sorted(entries, key, sign);
      expect(await shownIds(page)).toEqual(expected.slice(0, 100));
      await page.locator('.pager').first().getByRole('link', { name: 'Last' }).click();
      expect(await amount(page)).toBe('9,901–10,000 of 10,000');
      expect(await shownIds(page)).toEqual(expected.slice(-100));
    }
  });

  it.each(WIDTHS)('finds resources by text and by each filter, also combined, at %i pixels', async (width) => {
    const page = await openPage({ viewport: { width, height: 900 } });
    const [, , { record } = expect.unreachable()] = entries;
    const [, second] = Object.keys(countsBy(entries, typeOf));
    const texts = [record.resource_id, record.name.slice(2, 8).toUpperCase(), record.display_name.slice(0, 3), '训练'];
    const choices: readonly (readonly [string, string, (entry: FleetEntry) => boolean])[] = [
      ...texts.map((text) => ['#search', text, (entry: FleetEntry) => hasText(entry, text)] as const),
      ['#filter-type', `${second}`, (entry) => typeOf(entry) === second],
      ['#filter-product', '(none)', (entry) => productOf(entry) === ''],
      ['#filter-product', 'product.afs', (entry) => productOf(entry) === 'product.afs'],
      ['#filter-state', 'ALERTSTATE_PENDING', isPending],
      ['#filter-alertable', 'yes', ({ alertable }) => alertable],
      ['#filter-alertable', 'no', ({ alertable }) => !alertable],
    ];
    for (const [field, value, passes] of choices) {
      await page.goto(url);
      if (field === '#search') await page.locator(field).fill(value);
      else await page.locator(field).selectOption(value);
      await show(page);
      const found = entries.filter(passes);
      expect([field, value, await amount(page)]).toEqual([field, value, firstOf(found.length)]);
      expect(await shownIds(page)).toEqual(idsOf(found.slice(0, 100)));
      expect(await page.locator(field).inputValue()).toBe(value);
    }
    await page.goto(`${url}?sort=name&order=desc`);
    await page.locator('#filter-product').selectOption('product.afs');
    await page.locator('#filter-alertable').selectOption('yes');
    await page.locator('#without-rules').check();
    await show(page);
    const both = entries.filter(
      (entry) => productOf(entry) === 'product.afs' && entry.alertable && rulesOf(entry) === 0,
    );
    expect(await amount(page)).toBe(firstOf(both.length));
    expect(await shownIds(page)).toEqual(sorted(both, nameOf, -1).slice(0, 100));
    expect(await page.locator('#without-rules').isChecked()).toBe(true);
    expect(await page.locator('[aria-sort=descending]').textContent()).toContain('Name');
  });

  it('shows each resource once over its pages, in the order of the service', async () => {
    const page = await openPage();
    await page.goto(url);
    const step = (name: string) => page.locator('.pager').last().getByRole('link', { name, exact: true }).click();
    expect(await shownIds(page)).toEqual(idsOf(entries.slice(0, 100)));
    await step('Next');
    expect(await shownIds(page)).toEqual(idsOf(entries.slice(100, 200)));
    await step('Last');
    expect(await amount(page)).toBe('9,901–10,000 of 10,000');
    await step('Previous');
    expect(await shownIds(page)).toEqual(idsOf(entries.slice(9800, 9900)));
    await step('First');
    await page.locator('#filter-state').selectOption('ALERTSTATE_PENDING');
    await show(page);
    const pending = idsOf(entries.filter(isPending));
    const seen = await shownIds(page);
    while ((await page.locator('.pager').last().getByRole('link', { name: 'Next' }).count()) > 0) {
      await step('Next');
      seen.push(...(await shownIds(page)));
    }
    expect(pending.length).toBeGreaterThan(100);
    expect(seen).toEqual(pending);
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
    const found = entries.filter((entry) => isGateway(entry) && rulesOf(entry) === 0);
    expect(found.length).toBeGreaterThan(1);
    expect(await amount(page)).toBe(firstOf(found.length));
    await tabTo(page, '#resource-table th:nth-child(2) a');
    await page.keyboard.press('Enter');
    await page.waitForURL(/sort=name/);
    const [first = ''] = sorted(found, nameOf, 1);
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
      expect(await page.locator('#nothing').innerText()).toContain('No resource matches.');
      await expectSound(page);
      await page.locator('#nothing').getByRole('link', { name: 'Clear the filters' }).click();
      expect(await amount(page)).toBe(firstOf(entries.length));
      expect(await shownIds(page)).toEqual(sorted(entries, rulesOf, -1).slice(0, 100));
      expect((await page.goto(`${url}?search=gateway&sort=size`))?.status()).toBe(400);
      expect(await page.getByRole('alert').innerText()).toMatch(/^Expected sort to be one of id, /);
      await expectSound(page);
      await tabTo(page, '#narrow button');
      await page.keyboard.press('Enter');
      await page.waitForURL((address) => address.searchParams.get('sort') === '');
      expect(await amount(page)).toBe(firstOf(entries.filter(isGateway).length));
    },
  );

  it('is sorted by a field instead of headings on a phone only', async () => {
    const page = await openPage({ viewport: { width: 1024, height: 800 } });
    await page.goto(url);
    expect(await page.locator('#filter-sort').isVisible()).toBe(false);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.locator('#resource-table thead').isVisible()).toBe(false);
    await page.getByLabel('Sort by').selectOption({ label: 'Rules, descending' });
    await show(page);
    await page.waitForURL((address) => address.searchParams.get('sort') === '-alert_rules');
    expect(await shownIds(page)).toEqual(sorted(entries, rulesOf, -1).slice(0, 100));
    expect(await page.locator('#filter-sort').inputValue()).toBe('-alert_rules');
  });
});
