import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { type Fault, replyWith } from '../../lab/simulator/faults.ts';
import { configOf, entriesOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { eventually } from '../web/eventually.ts';

/** A desktop, a small laptop and a phone. */
export const WIDTHS = [1440, 1024, 390];

export const FORBIDDEN = replyWith(403);

/** An exporter of refreshed stations with the given numbers of resources. */
export async function exporterOfSizes(
  sizes: Readonly<Record<string, number>>,
  faults: Readonly<Record<string, readonly Fault[]>> = {},
) {
  const service = await startTestService({
    source: ({ telemetry_station }) => entriesOf(sizes[telemetry_station] ?? 0),
    faults,
  });
  const exporter = await startReadyExporter(configOf(service.url, Object.keys(sizes)));
  return { service, exporter };
}

/** The stations of the status page, from top to bottom. */
export function shownStations(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    "[...document.querySelectorAll('#stations tbody tr')].map((row) => decodeURIComponent(row.id.slice('row-'.length)))",
  );
}

/** Opens the URL with a paused clock, so that the page updates only by `nextUpdate`, however slowly the test proceeds. */
export async function openPaused(page: Page, url: string): Promise<void> {
  const nowMs = Date.now();
  await page.clock.install({ time: nowMs });
  // Further ahead than the call may take; no timer is set yet that would fire.
  await page.clock.pauseAt(nowMs + 600_000);
  await page.goto(url);
}

/** Advances the paused clock of the page until it fetches the next update. */
export async function nextUpdate(page: Page): Promise<void> {
  await Promise.all([page.waitForResponse(page.url()), page.clock.fastForward('01:00')]);
}

/** Presses Tab until the element has the focus, and checks that the focus is visible. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let steps = 0; steps < 60; steps += 1) {
    await page.keyboard.press('Tab');
    if (await page.evaluate<boolean>(`document.activeElement.matches(${JSON.stringify(selector)})`)) {
      expect(await focusOutline(page)).toMatch(/^solid [2-9]px$/);
      return;
    }
  }
  expect.unreachable(`Tab does not lead to ${selector}`);
}

/** The outline of the focused element. */
function focusOutline(page: Page): Promise<string> {
  return page.evaluate<string>(
    "(({ outlineStyle, outlineWidth }) => outlineStyle + ' ' + outlineWidth)(getComputedStyle(document.activeElement))",
  );
}

/** Waits until the first matching element has the text. */
export async function untilText(page: Page, selector: string, expected: string | RegExp): Promise<void> {
  await eventually(async () => {
    const text = (await page.locator(selector).first().textContent())?.trim();
    if (typeof expected === 'string') expect(text).toBe(expected);
    else expect(text).toMatch(expected);
  });
}

/** Waits until the status page shows these stations, from top to bottom. */
export async function untilStations(page: Page, names: readonly string[]): Promise<void> {
  await eventually(async () => expect(await shownStations(page)).toEqual(names));
}
