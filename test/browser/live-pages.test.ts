import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { build } from '../e2e/running-program.ts';
import { configOf, entriesOf, startReadyExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { expectSound, openPage, REFUSED } from './page.ts';
import { nextUpdate, openPaused, restartable, tabTo, untilText, WIDTHS } from './stage.ts';

/** An exporter of the station `one`, whose 30 resources have 15 types. */
async function station(state: (index: number) => unknown = () => 'ALERTSTATE_INACTIVE') {
  const entries = (count: number, from = 0) =>
    Array.from({ length: count }, (_, at) => {
      const index = from + at;
      const type = { key: `resource_type.kind.v1.t${index % 15}`, label: '' };
      return {
        record: wireRecord(`r${index}`, { resource_type: type, state: state(index) }),
        product: 'p',
        alertable: true,
      };
    });
  const service = await startTestService({ source: () => entries(30) });
  const exporter = await startReadyExporter(configOf(service.url, ['one']));
  return { service, exporter, entries, url: `${exporter.url}/stations/one` };
}

/** The row of a resource. */
const row = (id: string) => `[id="row-one%20${id}"]`;

const shownIds = async (page: Page) => {
  // The first rows are there before the last ones have arrived.
  await page.waitForLoadState();
  return page.locator('#resource-table tbody .sub.code').allTextContents();
};

describe('the station page', () => {
  it.each(WIDTHS)(
    'updates itself at %i pixels, and keeps focus, scroll position, opened details and what was typed',
    async (width) => {
      const { service, exporter, entries, url } = await station();
      const page = await openPage({ viewport: { width, height: 500 } });
      await openPaused(page, url);
      await page.locator('#search').fill('not submitted');
      await page.locator('#without-rules').check();
      await page.locator('#filter-state').selectOption('ALERTSTATE_INACTIVE');
      await page.locator('summary').filter({ hasText: 'more' }).click();
      await page.locator(`${row('r20')} th a`).focus();
      const before = {
        scroll: await page.evaluate<number>('scrollY'),
        top: await page.locator(row('r20')).boundingBox(),
      };
      expect(before.scroll).toBeGreaterThan(0);

      const changed = entries(31).map((entry) =>
        entry.record['resource_id'] === 'r3'
          ? { ...entry, record: { ...entry.record, state: 'ALERTSTATE_FIRING' } }
          : entry,
      );
      service.setRecords('one', changed);
      await exporter.scrape();
      await nextUpdate(page);
      await untilText(page, `${row('r3')} td[data-label=State]`, 'Firing');
      await untilText(page, '#status div:nth-child(1) .value', '31');
      expect(await shownIds(page)).toHaveLength(31);
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Display r20');
      // What changed appears above the table; the browser scrolls by its height.
      expect(await page.evaluate('scrollY')).toBeGreaterThanOrEqual(before.scroll);
      // It scrolls by whole pixels.
      const top = await page.locator(row('r20')).boundingBox();
      expect(Math.abs(Number(top?.y) - Number(before.top?.y))).toBeLessThan(1);
      expect(await page.locator('#search').inputValue()).toBe('not submitted');
      expect(await page.locator('#without-rules').isChecked()).toBe(true);
      expect(await page.locator('#filter-state').inputValue()).toBe('ALERTSTATE_INACTIVE');
      expect(await page.locator('.bars details').getAttribute('open')).toBe('');

      service.setRecords('one', entries(12, 10));
      await exporter.scrape();
      await nextUpdate(page);
      await untilText(page, '#status div:nth-child(1) .value', '12');
      expect(await shownIds(page)).toEqual(entries(12, 10).map(({ record }) => record['resource_id']));
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Display r20');
      await page.clock.resume();
      await expectSound(page);
    },
  );

  it('updates the choices of its form while nothing was typed', async () => {
    const { service, exporter, url } = await station();
    const page = await openPage();
    await openPaused(page, url);
    expect(await page.locator('#filter-state option').allTextContents()).toEqual(['any', 'Inactive (30)']);
    service.setRecords('one', entriesOf(2));
    await exporter.scrape();
    await nextUpdate(page);
    await untilText(page, '#filter-state option:nth-child(2)', /\(2\)$/);
  });

  it('works without JavaScript, and shows no control that needs it', async () => {
    const { url } = await station((index) => (index === 7 ? 'ALERTSTATE_FIRING' : 'ALERTSTATE_INACTIVE'));
    const page = await openPage({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
    await page.goto(url);
    expect(await page.locator('#pause').isVisible()).toBe(false);
    await page.locator('#filter-state').selectOption('ALERTSTATE_FIRING');
    await page.locator('#narrow button').click();
    expect(await shownIds(page)).toEqual(['r7']);
    await page.getByRole('link', { name: 'Display r7' }).click();
    expect(await page.locator('h1').innerText()).toBe('Display r7');
  });
});

describe.each([
  ['status', '/', '[data-label=Resources] a'],
  ['station', '/stations/one', '#status div:nth-child(1) .value'],
])('the %s page', (_name, path, resources) => {
  it('does not update while it is paused by keyboard', async () => {
    const { service, exporter, entries } = await station();
    const page = await openPage();
    await openPaused(page, exporter.url + path);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await tabTo(page, '#pause');
    await page.keyboard.press('Enter');
    expect(await page.locator('#pause').innerText()).toBe('Resume updates');
    service.setRecords('one', entries(4));
    await exporter.scrape();
    await page.clock.runFor('10:00');
    expect(requests).toEqual([]);
    await untilText(page, resources, '30');
    await page.keyboard.press('Space');
    await nextUpdate(page);
    await untilText(page, resources, '4');
    expect(await page.locator('#pause').innerText()).toBe('Pause updates');
  });

  it('shows a notice while the exporter is down, and recovers', async () => {
    const service = await startTestService({ source: () => entriesOf(3) });
    const { url: base, start } = await restartable(configOf(service.url, ['one']));
    const first = await start();
    const url = base + path;
    const page = await openPage({}, [REFUSED]);
    await openPaused(page, url);
    await untilText(page, '#currency', '');
    first.signals.emit('SIGTERM');
    await first.exit;
    await Promise.all([page.waitForEvent('requestfailed'), page.clock.fastForward('01:00')]);
    await untilText(page, '#currency', /^This page is no longer current: the exporter has not responded since \d/);
    await untilText(page, resources, '3');

    await start();
    await Promise.all([page.waitForResponse(url), page.clock.fastForward('10:00')]);
    await untilText(page, '#currency', '');
    expect(await page.locator('footer').innerText()).toContain(build.version);
  });
});

describe('the page of a resource', () => {
  it('updates itself, and says when the resource is gone', async () => {
    const { service, exporter, entries, url } = await station();
    const page = await openPage();
    await openPaused(page, `${url}/resources/r3`);
    const [, , , entry = expect.unreachable()] = entries(4);
    service.setRecords('one', [{ ...entry, record: { ...entry.record, state: 'ALERTSTATE_FIRING' } }]);
    await exporter.scrape();
    await nextUpdate(page);
    await untilText(page, '#fields .badge', 'Firing');
    service.setRecords('one', []);
    await exporter.scrape();
    await nextUpdate(page);
    await untilText(page, '#summary', /^removed; not listed since [\d:]+ UTC$/);
    await page.clock.resume();
    await expectSound(page);
  });
});
