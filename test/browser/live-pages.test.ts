import { describe, expect, it } from 'vitest';
import { configOf, entriesOf, startReadyExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { expectSound, openPage, REFUSED } from './page.ts';
import { nextUpdate, openPaused, tabTo, untilText, WIDTHS } from './stage.ts';

/** An exporter of the station `one`, whose 30 resources have 15 types. */
async function station() {
  const entries = (count: number) =>
    Array.from({ length: count }, (_, index) => {
      const resource_type = { key: `resource_type.kind.v1.t${index % 15}`, label: '' };
      const record = wireRecord(`r${index}`, { resource_type, state: 'ALERTSTATE_INACTIVE' });
      return { record, product: 'p', alertable: true };
    });
  const service = await startTestService({ source: () => entries(30) });
  const exporter = await startReadyExporter(configOf(service.url, ['one']));
  return { service, exporter, entries, url: `${exporter.url}/stations/one` };
}

/** The number of resources on the status page. */
const RESOURCES = '[data-label=Resources] a';

/** The row of a resource. */
const row = (id: string) => `[id="row-one%20${id}"]`;

describe('the station page', () => {
  it.each(WIDTHS)(
    'updates itself at %i pixels, and keeps focus, scroll position, opened details and what was typed',
    async (width) => {
      const { service, exporter, entries, url } = await station();
      const page = await openPage({ viewport: { width, height: 500 } });
      await openPaused(page, url);
      await page.locator('#search').fill('not submitted');
      await page.locator('#without-rules').check();
      await page.locator('#filter-type').selectOption('resource_type.kind.v1.t7');
      await page.locator('#details summary').click();
      await page.locator(`${row('r20')} th a`).focus();
      const before = {
        scroll: await page.evaluate<number>('scrollY'),
        top: await page.locator(row('r20')).boundingBox(),
      };
      expect(before.scroll).toBeGreaterThan(0);

      const firing = wireRecord('r3', { state: 'ALERTSTATE_FIRING' });
      service.setRecords('one', entries(31).with(3, { record: firing, product: 'p', alertable: true }));
      await exporter.scrape();
      await nextUpdate(page);
      await untilText(page, `${row('r3')} td[data-label=State]`, 'Firing');
      await untilText(page, '#status div:nth-child(1) .value', '31');
      expect(await page.locator('#resource-table tbody tr').count()).toBe(31);
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Display r20');
      // What changed appears above the table; the browser scrolls by its height.
      expect(await page.evaluate('scrollY')).toBeGreaterThanOrEqual(before.scroll);
      // It scrolls by whole pixels.
      const top = await page.locator(row('r20')).boundingBox();
      expect(Math.abs(Number(top?.y) - Number(before.top?.y))).toBeLessThan(1);
      expect(await page.locator('#search').inputValue()).toBe('not submitted');
      expect(await page.locator('#without-rules').isChecked()).toBe(true);
      expect(await page.locator('#filter-type').inputValue()).toBe('resource_type.kind.v1.t7');
      expect(await page.locator('#details').getAttribute('open')).toBe('');
      await page.clock.resume();
      await expectSound(page);
    },
  );

  it('updates the choices of its form while nothing was typed', async () => {
    const { service, exporter, url } = await station();
    const page = await openPage();
    await openPaused(page, url);
    expect(await page.locator('#filter-type option').count()).toBe(1 + 15);
    service.setRecords('one', entriesOf(2));
    await exporter.scrape();
    await nextUpdate(page);
    await untilText(page, '#filter-type option:nth-child(2)', /\(2\)$/);
  });
});

describe('the status page', () => {
  it('does not update while it is paused by keyboard', async () => {
    const { service, exporter, entries } = await station();
    const page = await openPage();
    await openPaused(page, exporter.url);
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await tabTo(page, '#pause');
    await page.keyboard.press('Enter');
    expect(await page.locator('#pause').innerText()).toBe('Resume updates');
    service.setRecords('one', entries(4));
    await exporter.scrape();
    await page.clock.runFor('10:00');
    expect(requests).toEqual([]);
    await untilText(page, RESOURCES, '30');
    await page.keyboard.press('Space');
    await nextUpdate(page);
    await untilText(page, RESOURCES, '4');
    expect(await page.locator('#pause').innerText()).toBe('Pause updates');
  });

  it('shows a notice while the exporter is down, and recovers', async () => {
    const { exporter } = await station();
    const page = await openPage({}, [REFUSED]);
    await openPaused(page, exporter.url);
    await untilText(page, '#currency', '');
    await page.route(page.url(), (route) => route.abort('connectionrefused'));
    await Promise.all([page.waitForEvent('requestfailed'), page.clock.fastForward('01:00')]);
    await untilText(page, '#currency', /^This page is no longer current: the exporter has not responded since \d/);
    await untilText(page, RESOURCES, '30');
    await page.unroute(page.url());
    await Promise.all([page.waitForResponse(page.url()), page.clock.fastForward('10:00')]);
    await untilText(page, '#currency', '');
  });
});
