import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Fault } from '../../src/simulator/faults.ts';
import { configOf, entriesOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { eventually } from '../web/eventually.ts';

/** An exporter of stations with so many resources each, all of which were refreshed. */
export async function exporterOfSizes(sizes: Readonly<Record<string, number>>, faults: Readonly<Record<string, readonly Fault[]>> = {}) {
  const service = await startTestService({ source: ({ telemetryStation }) => entriesOf(sizes[telemetryStation] ?? 0), faults });
  const exporter = await startReadyExporter(configOf(service.url, Object.keys(sizes)));
  return { service, exporter };
}

/** The names of the stations that the status page shows, from top to bottom. */
export function shownStations(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(
    "[...document.querySelectorAll('#stations tbody')].filter((row) => !row.hidden).map((row) => row.dataset.station)",
  );
}

/** A station's cell of the status page. */
export function cellOf(page: Page, station: string, label: string) {
  return page.locator(`tbody[data-station="${station}"] td[data-label="${label}"]`);
}

/** Lets the page's time pass until it asks the exporter again; its clock must have been installed. */
export async function nextUpdate(page: Page): Promise<void> {
  await Promise.all([page.waitForResponse(page.url()), page.clock.fastForward('01:00')]);
}

/** Moves on with Tab alone until the element has the focus, and sees that it shows. */
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

/** How the element in focus is marked. */
function focusOutline(page: Page): Promise<string> {
  return page.evaluate<string>(
    "(({ outlineStyle, outlineWidth }) => outlineStyle + ' ' + outlineWidth)(getComputedStyle(document.activeElement))",
  );
}

/** Waits until the text of the first such element is this. */
export async function untilText(page: Page, selector: string, expected: string | RegExp): Promise<void> {
  await eventually(async () => {
    const text = (await page.locator(selector).first().textContent())?.trim();
    if (typeof expected === 'string') expect(text).toBe(expected);
    else expect(text).toMatch(expected);
  });
}
