import { describe, expect, it } from 'vitest';
import { FAILURE_ADVICE } from '../../src/model/failure.ts';
import { serve } from '../e2e/running-program.ts';
import { configOf, entriesOf, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { eventually } from '../web/eventually.ts';
import { axeViolations, openPage } from './page.ts';
import {
  cellOf,
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
  it.each([
    ['light', 'rgb(255, 255, 255)'],
    ['dark', 'rgb(16, 20, 24)'],
  ] as const)('shows up and failing stations in %s colours', async (colorScheme, background) => {
    const { exporter } = await exporterOfSizes({ large: 1234, small: 7, broken: 3 }, { broken: [FORBIDDEN] });
    const page = await openPage({ colorScheme });
    await page.goto(exporter.url);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(background);
    const totals = await page.locator('#totals div').allTextContents();
    expect(totals).toEqual([
      'Stations3',
      'Up2',
      'Failing1',
      'Not tried0',
      'No data1',
      'Incomplete0',
      'Resources1,241',
      'Firing0',
      'Pending0',
      'Coverage100 %',
    ]);
    expect(await cellOf(page, 'large', 'Resources').textContent()).toBe('1,234');
    expect(await cellOf(page, 'small', 'State').textContent()).toBe('up');
    expect(await cellOf(page, 'broken', 'State').textContent()).toBe('failing: 403 Forbidden');
    expect(await page.locator('#summary').innerText()).toBe(
      '2 of 3 stations up; 1 failing, without data: broken (403 Forbidden).',
    );
    const note = await page.locator('.failure-note').innerText();
    expect(note).toContain(`${FAILURE_ADVICE.forbidden.meaning} No refresh has succeeded yet.`);
    expect(note).toMatch(/forbidden: 127\.0\.0\.1:\d+ answered 403 Forbidden/);
    expect(note).toContain(`What to do: ${FAILURE_ADVICE.forbidden.advice}`);
    expect(await axeViolations(page)).toEqual([]);
  });

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
    await untilText(page, '#shown', '3 of 5 stations shown');
    if (width < 960) {
      await page.locator('#filter-sort').selectOption('-resources');
      await page.locator('#controls button').click();
    } else
      for (const sorted of ['ascending', 'descending']) {
        await tabTo(page, '#stations th:nth-child(3) a');
        await page.keyboard.press('Enter');
        await page.locator(`#stations th:nth-child(3)[aria-sort=${sorted}]`).waitFor();
      }
    await page.waitForURL(/\?filter=ALPHA&state=up&sort=-resources#stations$/);
    await untilStations(page, ['alpha-10', 'alpha', 'alpha-9']);
    expect(await axeViolations(page)).toEqual([]);
    await tabTo(page, '#row-alpha-9 th a');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/stations/alpha-9');
    await page.goBack();
    expect(await shownStations(page)).toEqual(['alpha-10', 'alpha', 'alpha-9']);
    expect(await page.locator('#filter').inputValue()).toBe('ALPHA');
  });

  it.each(WIDTHS)('says on the first screen what is wrong at %i pixels', async (width) => {
    const { service, exporter } = await exporterOfSizes(
      { short: 495, odd: 300, flaky: 3, fine: 3 },
      { short: [{ kind: 'totalLies', delta: 5 }], odd: [{ kind: 'missingIds', every: 100 }] },
    );
    service.setRecords('fine', [{ record: wireRecord('r0', { state: 'ALERTSTATE_FIRING' }) }]);
    service.setFaults('flaky', [FORBIDDEN]);
    await exporter.scrape();
    service.setFaults('flaky', []);
    await exporter.scrape();
    exporter.rewrite({ stations: [], bogus: 1 });
    expect(await exporter.exporter.reload()).not.toEqual([]);
    const page = await openPage({ viewport: { width, height: 844 } });
    const bottom = async (selector: string) => {
      const { y = 0, height = 0 } = (await page.locator(selector).boundingBox()) ?? {};
      return y + height;
    };
    await page.goto(exporter.url);
    const summary = await page.locator('#summary').innerText();
    expect(summary).toBe(
      '4 of 4 stations up; 2 may miss resources: short (listing incomplete), odd (3 records rejected).',
    );
    expect(await page.locator('#summary').getAttribute('class')).toBe('summary warning');
    expect(await page.locator('#reload').innerText()).toMatch(/not reloaded[\s\S]*bogus/);
    expect(await bottom('#summary')).toBeLessThan(844);
    expect(await page.locator('#outages li').allInnerTexts()).toEqual([
      expect.stringMatching(/^flaky [\d:]+–[\d:]+ \(.*\) 1 failed: forbidden$/),
    ]);
    expect(await cellOf(page, 'short', 'State').textContent()).toBe('up: incomplete');
    expect(await cellOf(page, 'odd', 'Complete').textContent()).toBe('3 rejected');
    expect(await axeViolations(page)).toEqual([]);
    await page.locator('#totals').getByRole('link', { name: '1', exact: true }).click();
    expect(await page.locator('#result').innerText()).toBe('1 resource of 1 station matches: state firing.');
    for (const [station, problem] of [
      ['short', /^The data may miss resources\. listing incomplete: ./],
      ['odd', /^The data may miss resources\. 3 records rejected: no usable resource_id\.$/],
    ] as const) {
      await page.goto(`${exporter.url}/stations/${station}`);
      expect(await page.locator('#data-problems').innerText()).toMatch(problem);
      expect(await bottom('#data-problems')).toBeLessThan(844);
      expect(await page.locator('.state.up').count()).toBe(0);
      expect(await axeViolations(page)).toEqual([]);
    }
  });

  it('ignores an unknown state and order in the URL', async () => {
    const { exporter } = await exporterOfSizes({ b: 1, a: 2 });
    const page = await openPage();
    await page.goto(`${exporter.url}/?state=%3Cb%3E&sort=-constructor`);
    await untilStations(page, ['b', 'a']);
    expect(await page.locator('[aria-sort]').count()).toBe(0);
  });

  it.each(WIDTHS)('says that no station matches, and clears the filter by keyboard, at %i pixels', async (width) => {
    const { exporter } = await exporterOfSizes({ one: 1, two: 2 });
    const page = await openPage({ viewport: { width, height: 800 } });
    await page.goto(`${exporter.url}/?filter=three&state=failing`);
    await untilText(page, '#shown', '0 of 2 stations shown');
    expect(await page.locator('#no-match').innerText()).toBe('No station matches. Clear the filter');
    expect(await axeViolations(page)).toEqual([]);
    await tabTo(page, '#no-match a');
    await page.keyboard.press('Enter');
    await untilStations(page, ['one', 'two']);
    expect(await page.locator('#no-match').count()).toBe(0);
    await page.waitForURL(({ search }) => search === '');
  });

  it.each(WIDTHS)('shows one box for 120 stations of one account at %i pixels', async (width) => {
    const names = Array.from({ length: 120 }, (_, index) => `edge-${index}`);
    const { service, exporter } = await exporterOfSizes(
      { fine: 5, ...Object.fromEntries(names.map((name) => [name, 1])) },
      Object.fromEntries(names.map((name) => [name, [FORBIDDEN]])),
    );
    const page = await openPage({ viewport: { width, height: 800 } });
    await openPaused(page, exporter.url);
    expect(await page.locator('#summary').innerText()).toBe(
      '1 of 121 stations up; 120 failing, without data: 120 of upstream main (403 Forbidden).',
    );
    expect(await page.locator('.failure-note').count()).toBe(1);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);

    service.setFaults('edge-0', []);
    await exporter.scrape();
    await nextUpdate(page);
    await untilText(page, '#summary', /^2 of 121 stations up; 119 failing/);
    await page.getByRole('link', { name: '119 stations' }).click();
    await page.waitForURL('**/?state=failing&upstream=main&filter=403+Forbidden#stations');
    expect(await shownStations(page)).toHaveLength(119);
  });

  it('stays usable with 1,000 stations', async () => {
    const names = Array.from({ length: 1000 }, (_, index) => `s-${index}`);
    const { exporter } = await exporterOfSizes(Object.fromEntries(names.map((name, index) => [name, index % 7])));
    const page = await openPage();
    await page.goto(exporter.url);
    await untilText(page, '#summary', '1,000 of 1,000 stations up.');
    await page.locator('#stations th:nth-child(3) a').click();
    await page.locator('#filter').fill('s-99');
    await page.locator('#filter').press('Enter');
    await untilText(page, '#shown', '11 of 1000 stations shown');
    await eventually(async () => expect((await shownStations(page)).at(0)).toBe('s-994'));
  }, 180_000);

  it('updates itself', async () => {
    const { service, exporter } = await exporterOfSizes({ one: 3 });
    const page = await openPage();
    await page.goto(exporter.url);
    await untilText(page, '[data-label=Resources]', '3');
    service.setRecords('one', entriesOf(1200));
    await exporter.scrape();
    await untilText(page, '[data-label=Resources]', '1,200');
    await untilText(page, '#totals div:nth-child(7) dd', '1,200');
  });

  it('shows that the service throttles as soon as it does', async () => {
    const { service, exporter } = await exporterOfSizes({ one: 3 });
    const page = await openPage();
    await openPaused(page, exporter.url);
    await untilText(page, '#load', '');
    service.setFaults('one', [{ kind: 'status', code: 429 }]);
    await exporter.scrape();
    await nextUpdate(page);
    await untilText(page, '#load li', /^throttled \(429\): [1-9] of \d requests in 5 min, /);
  });

  it('keeps filter, order, focus and the visible rows when it updates', async () => {
    const sizes = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`ts-${index}`, 10 * index]));
    const { service, exporter } = await exporterOfSizes({ ...sizes, other: 5 });
    const page = await openPage({ viewport: { width: 1280, height: 500 } });
    await openPaused(page, `${exporter.url}/?filter=ts-&sort=-resources`);
    await page.locator('#row-ts-5 th a').focus();
    const place = () => page.evaluate<number>('document.activeElement.getBoundingClientRect().top');
    const before = { order: await shownStations(page) };
    const placeBefore = await place();
    expect(await page.evaluate('scrollY')).toBeGreaterThan(0);
    expect(before.order.at(0)).toBe('ts-29');
    const kept = async () => ({
      filter: await page.locator('#filter').inputValue(),
      sorted: await page.locator('[aria-sort=descending]').textContent(),
      focus: await page.evaluate('document.activeElement.textContent'),
      order: await shownStations(page),
    });
    const expected = { filter: 'ts-', sorted: 'Resources', focus: 'ts-5', ...before };

    service.setRecords('ts-5', entriesOf(55));
    service.setFaults('ts-0', [FORBIDDEN]);
    await exporter.scrape();
    await nextUpdate(page);
    await untilText(page, '#row-ts-5 [data-label=Resources]', '55');
    await untilText(page, '#row-ts-0 [data-label=State]', 'failing: 403 Forbidden');
    expect(await kept()).toEqual(expected);
    // The failure appears above the table; the browser scrolls by its height, so that no row moves by more than its own.
    await eventually(async () => expect(Math.abs((await place()) - placeBefore)).toBeLessThan(60));

    service.setRecords('ts-5', entriesOf(35));
    await exporter.scrape();
    await nextUpdate(page);
    await untilText(page, '#row-ts-5 [data-label=Resources]', '35');
    const [four, five] = [before.order.indexOf('ts-4'), before.order.indexOf('ts-5')];
    const order = before.order.with(five, 'ts-4').with(four, 'ts-5');
    expect(await kept()).toMatchObject({ ...expected, order });
  });

  it('adds and removes stations after a reload', async () => {
    const { service, exporter } = await exporterOfSizes({ old: 1, kept: 2 });
    const page = await openPage();
    await openPaused(page, exporter.url);
    await untilStations(page, ['old', 'kept']);
    exporter.rewrite(configOf(service.url, ['fresh', 'kept']));
    expect(await exporter.exporter.reload()).toEqual([]);
    await nextUpdate(page);
    await untilText(page, '#totals div:first-child dd', '2');
    await untilStations(page, ['fresh', 'kept']);
  });

  it('works without JavaScript', async () => {
    const { exporter } = await exporterOfSizes({ large: 1234, broken: 3 }, { broken: [FORBIDDEN] });
    const page = await openPage({ javaScriptEnabled: false });
    await page.goto(exporter.url);
    expect(await page.locator('#pause').isVisible()).toBe(false);
    await page.locator('#filter').fill('LARGE');
    await page.locator('#controls button').click();
    expect(await shownStations(page)).toEqual(['large']);
    await page.getByRole('link', { name: 'Resources' }).click();
    expect(await page.locator('[aria-sort]').textContent()).toBe('Resources');
    await page.goto(exporter.url);
    expect(await cellOf(page, 'large', 'Resources').innerText()).toBe('1,234');
    expect(await page.locator('.failure-note').innerText()).toContain('What to do:');
    await page.getByRole('link', { name: 'large', exact: true }).click();
    await page.waitForURL('**/stations/large');
  });

  it('shows a note on a shard without stations', async () => {
    const service = await startTestService({ source: () => entriesOf(1) });
    const shards = await Promise.all(
      [0, 1].map((shard) => serve(configOf(service.url, ['one']), `--shard=${shard}`, '--total-shards=2')),
    );
    const page = await openPage();
    const notes = [];
    for (const { port } of shards) {
      await page.goto(`http://127.0.0.1:${port}/`);
      expect(await axeViolations(page)).toEqual([]);
      notes.push(await page.getByText('No stations are configured on this shard.').count());
    }
    expect(notes.toSorted()).toEqual([0, 1]);
  });
});
