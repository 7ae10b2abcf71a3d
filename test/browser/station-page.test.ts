import { describe, expect, it } from 'vitest';
import { startIncident } from './incident.ts';
import { expectSound, openPage } from './page.ts';

describe('the page of a station in an incident', () => {
  it('is no wider than its window with every part open, and its resources begin on the first screen but one', async () => {
    const { url } = await startIncident(['prod']);
    for (const [width, height] of [
      [360, 800],
      [390, 844],
      [768, 1024],
      [1024, 768],
      [1280, 800],
      [1440, 900],
      [1920, 1080],
    ] as const) {
      const page = await openPage({ viewport: { width, height } });
      await page.goto(`${url}/stations/prod`);
      const top = await page.evaluate<number>("document.querySelector('#resources').getBoundingClientRect().top");
      expect(top).toBeLessThan(2 * height);
      await page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })");
      expect(await page.locator('#refreshes .outcome').allInnerTexts()).toEqual([
        'postponed',
        'incomplete',
        'failed',
        'succeeded',
        'succeeded',
      ]);
      await expectSound(page);
    }
  });
});
