import { chromium, type Page } from 'playwright-core';
import { installedChromium } from '../../test/browser/browser.ts';
import { END_MS, HOUR_MS } from './world.ts';

/** The time range of the day, as parameters of a dashboard. */
export const DAY = `from=${END_MS - 24 * HOUR_MS}&to=${END_MS}&timezone=utc`;

/** Higher than the picture, so that nothing covers its end. */
const WINDOW = { width: 1440, height: 1400 };
/** Between panels. */
const GAP = 8;

/** Takes README's pictures of the fleet dashboard, totals to stations, in a Grafana that shows it without a login. */
export async function takePictures(grafana: string): Promise<void> {
  const browser = await chromium.launch(installedChromium());
  for (const theme of ['light', 'dark']) {
    const page = await browser.newPage({ viewport: WINDOW });
    // Times of today have no date.
    await page.clock.install({ time: END_MS });
    await page.addInitScript("localStorage.setItem('grafana.navigation.docked', 'false')");
    await page.goto(`${grafana}/d/telemetry-station-fleet?${DAY}&theme=${theme}&kiosk`);
    for (const text of ['Last scrape', 'forbidden', 'Failing stations']) await page.getByText(text).first().waitFor();
    // The button that refreshes the dashboard cancels its queries while they run.
    await page.getByText('Cancel', { exact: true }).waitFor({ state: 'detached' });
    const totals = await panelBox(page, 'Exporters');
    const stations = await panelBox(page, 'All stations');
    const top = Math.floor(totals.y - GAP);
    const bottom = Math.ceil(stations.y + stations.height + GAP);
    const clip = { x: 0, y: top, width: WINDOW.width, height: bottom - top };
    await page.screenshot({ path: `docs/images/fleet-${theme}.png`, clip, animations: 'disabled' });
  }
  await browser.close();
}

async function panelBox(page: Page, title: string) {
  const box = await page.getByTestId(`data-testid Panel header ${title}`).boundingBox();
  if (box === null) throw new Error(`no panel ${title}`);
  return box;
}
