import { describe, expect, it } from 'vitest';
import { configOf, entriesOf, startReadyExporter, startTestService, wireRecord } from '../e2e/test-bed.ts';
import { axeViolations, openPage } from './page.ts';
import { tabTo, WIDTHS } from './stage.ts';

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
  it.each(WIDTHS)(
    'shows refreshes as timeline, lines and list, accessible and without a horizontal scroll bar at %i px',
    async (width) => {
      const { exporter, url } = await startEventful();
      const history = (await (await exporter.get('/stations/a/history')).json()) as { outcome: string }[];
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await openPage({ viewport: { width, height: 900 }, colorScheme });
        await page.goto(url);
        const section = page.locator('#history');
        expect(await section.locator('figcaption').first().innerText()).toMatch(
          /^Last 1 h: \d+ refreshes, 1 failed \(status\)\./,
        );
        expect(await section.getByRole('img').count()).toBe(4);
        expect(await section.locator('#spark-resources').innerText()).toBe('Resources: 1 min 1, max 3');
        expect(await section.locator('#spark-firing').innerText()).toBe('Firing resources: 1 min 0, max 1');
        expect(await section.locator('#refreshes tbody .outcome').allInnerTexts()).toEqual(
          history.map(({ outcome }) => outcome),
        );
        const { outages } = (await (await exporter.get('/stations/a?format=json')).json()) as { outages: object[] };
        expect(outages).toMatchObject([{ failed_refreshes: 1, failure_reasons: ['status'] }]);
        expect(await section.locator('.outages li').allInnerTexts()).toEqual([
          expect.stringMatching(/^[\d:]+–[\d:]+ \(.*\) 1 failed: status$/),
        ]);
        expect(await section.locator('#refreshes .said').innerText()).toContain('<img src=x onerror=alert(1)>');
        expect(await section.locator('#refreshes tbody tr').first().innerText()).toMatch(/2 removed, 1 changed state/);
        expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
        expect(await axeViolations(page)).toEqual([]);
      }
    },
  );

  it('is drawn in colours that are allowed by the policy, and links to the same refreshes as JSON', async () => {
    const { url } = await startEventful();
    const page = await openPage({ colorScheme: 'light' });
    await page.goto(url);
    const fill = (outcome: string) =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('.timeline rect.${outcome}')).fill`);
    expect(await fill('failed')).toBe('rgb(176, 20, 32)');
    expect(await page.locator('.spark path').first().getAttribute('d')).toMatch(/^M\d/);
    const href = await page.locator('#history').getByRole('link', { name: 'JSON' }).getAttribute('href');
    const response = await page.request.get(new URL(href ?? '', url).href);
    expect(await response.json()).toMatchObject([
      { outcome: 'succeeded' },
      { outcome: 'failed' },
      { outcome: 'succeeded' },
    ]);
  });
});

describe('the button "Refresh now"', () => {
  /** No refresh except on request. */
  const LONG_TTL = { ttl: '1h', error_ttl: '1h' };

  async function startFailing(options = {}) {
    const service = await startTestService({
      source: () => entriesOf(3),
      faults: { a: [{ kind: 'status', code: 403 }] },
    });
    const exporter = await startReadyExporter(configOf(service.url, ['a'], { cache: LONG_TTL }), {
      scrapeTimeoutMs: 60_000,
      ...options,
    });
    service.setFaults('a', []);
    return { service, exporter };
  }

  it.each(WIDTHS)('refreshes the station and leads back to the page, with the keyboard, at %i px', async (width) => {
    const { exporter } = await startFailing();
    const page = await openPage({ viewport: { width, height: 900 } });
    await page.goto(`${exporter.url}/stations/a?sort=name`);
    expect(await page.locator('#status').innerText()).toMatch(/failing/i);
    expect(await axeViolations(page)).toEqual([]);
    await tabTo(page, '#refresh button');
    await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')]);
    expect(page.url()).toBe(`${exporter.url}/stations/a?sort=name`);
    expect(await page.locator('#status').innerText()).toMatch(/up/i);
    expect(await page.locator('#refreshes tbody .outcome').allInnerTexts()).toEqual(['succeeded', 'failed']);
    expect(await axeViolations(page)).toEqual([]);
  });

  it('works without a secure context, where browsers send the origin only', async () => {
    const { exporter } = await startFailing();
    const page = await openPage();
    await page.goto(`${exporter.url.replace('127.0.0.1', 'exporter.test')}/stations/a`);
    const [request] = await Promise.all([
      page.waitForRequest((sent) => sent.method() === 'POST'),
      page.waitForEvent('load'),
      page.locator('#refresh button').click(),
    ]);
    expect(Object.keys(await request.allHeaders())).not.toContain('sec-fetch-site');
    expect(page.url()).toMatch(/^http:\/\/exporter\.test:\d+\/stations\/a$/);
    expect(await page.locator('#refreshes tbody .outcome').allInnerTexts()).toEqual(['succeeded', 'failed']);
  });

  it('is absent when requests that change state are not enabled', async () => {
    const { exporter } = await startFailing({ enableLifecycle: false });
    const page = await openPage();
    await page.goto(`${exporter.url}/stations/a`);
    expect(await page.locator('#history').count()).toBe(1);
    expect(await page.getByRole('button', { name: 'Refresh now' }).count()).toBe(0);
  });
});
