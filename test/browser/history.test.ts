import { describe, expect, it } from 'vitest';
import { configOf, entriesOf, startReadyExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { axeViolations, openPage } from './page.ts';

const WIDTHS = [1440, 1024, 390];

/** An exporter whose station was refreshed successfully, then failed with a hostile message, then recovered with other resources. */
async function startEventful() {
  const service = await startTestService({ source: () => entriesOf(3) });
  const exporter = await startReadyExporter(configOf(service.url, ['a']));
  service.setFaults('a', [{ kind: 'status', code: 503, body: 'overloaded <img src=x onerror=alert(1)>' }]);
  await exporter.scrape();
  service.setFaults('a', []);
  service.setRecords('a', [{ record: wireRecord('r0', { state: 'ALERTSTATE_FIRING' }) }]);
  await exporter.scrape();
  return { service, exporter, url: `${exporter.url}/stations/a` };
}

describe('the history on the station page', () => {
  it.each(WIDTHS)('shows refreshes as timeline, lines and list, accessible and without a horizontal scroll bar at %i px', async (width) => {
    const { exporter, url } = await startEventful();
    const history = (await (await exporter.get('/stations/a/history')).json()) as { outcome: string }[];
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await openPage({ viewport: { width, height: 900 }, colorScheme });
      await page.goto(url);
      const section = page.locator('#history');
      expect(await section.locator('figcaption').first().innerText()).toMatch(/^Last 1 h: \d+ refreshes, 1 failed \(status\)\./);
      expect(await section.getByRole('img').count()).toBe(4);
      expect(await section.locator('#spark-resources').innerText()).toBe('Resources: 1 min 1, max 3');
      expect(await section.locator('#spark-firing').innerText()).toBe('Firing resources: 1 min 0, max 1');
      expect(await section.locator('#refreshes tbody .outcome').allInnerTexts()).toEqual(history.map(({ outcome }) => outcome));
      expect(await section.locator('#refreshes .said').innerText()).toContain('<img src=x onerror=alert(1)>');
      expect(await section.locator('#refreshes tbody tr').first().innerText()).toMatch(/2 removed, 1 changed state/);
      expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
      expect(await axeViolations(page)).toEqual([]);
    }
  });

  it('is drawn in colours that are allowed by the policy, with a bar for each outcome', async () => {
    const { url } = await startEventful();
    const page = await openPage({ colorScheme: 'light' });
    await page.goto(url);
    const fill = (outcome: string) => page.evaluate<string>(`getComputedStyle(document.querySelector('.timeline rect.${outcome}')).fill`);
    expect([await fill('failed')]).toEqual(['rgb(176, 20, 32)']);
    expect(await page.locator('.spark path').first().getAttribute('d')).toMatch(/^M\d/);
  });

  it('links to the same refreshes as JSON and CSV', async () => {
    const { url } = await startEventful();
    const page = await openPage();
    await page.goto(url);
    const href = await page.locator('#history').getByRole('link', { name: 'JSON' }).getAttribute('href');
    const response = await page.request.get(new URL(href ?? '', url).href);
    expect(await response.json()).toMatchObject([{ outcome: 'succeeded' }, { outcome: 'failed' }, { outcome: 'succeeded' }]);
  });
});
