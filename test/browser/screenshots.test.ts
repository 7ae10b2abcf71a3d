import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { END_MS, HOUR_MS, STEP_MS, startWorld } from '../../lab/day/world.ts';
import { root } from '../docs/markdown.ts';
import { pngOf } from '../docs/png.ts';
import { startExporter } from '../e2e/test-bed.ts';
import { openPage } from './page.ts';

const WIDTH = 1280;

let world: Awaited<ReturnType<typeof startWorld>>;
let exporter: Awaited<ReturnType<typeof startExporter>>;

/** After the last hour of the day: a fixed time, so that the screenshots are reproducible. */
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now: END_MS - HOUR_MS });
  world = await startWorld(() => Date.now());
  exporter = await startExporter({ ...world.config, metrics: { per_resource: false } }, { version: '1.0.0' });
  await exporter.scrape();
  while (Date.now() < END_MS) {
    vi.advanceTimersByTime(STEP_MS);
    await exporter.scrape();
  }
  vi.advanceTimersByTime(12_000);
});

afterAll(async () => {
  await exporter?.stop();
  await world?.service.stop();
  vi.useRealTimers();
});

/** Compares the image dimensions; with --update, writes the image. */
async function expectShot(page: Page, file: string): Promise<void> {
  const shot = await page.screenshot({ animations: 'disabled' });
  const path = join(root, 'docs/images', file);
  if (inject('isUpdating')) writeFileSync(path, shot);
  expect(pngOf(shot).width).toBe(WIDTH);
  expect(pngOf(readFileSync(path))).toEqual(pngOf(shot));
}

describe('the images of the documentation', () => {
  it.each(['light', 'dark'] as const)('show the stations in %s colours', async (colorScheme) => {
    // Down to the totals, below what needs attention.
    const page = await openPage({ colorScheme, viewport: { width: WIDTH, height: 825 } });
    await page.goto(exporter.url);
    expect(await page.locator('.state.failing').count()).toBe(1);
    await expectShot(page, `status-${colorScheme}.png`);
  });

  it('show the resources of a station, searched and sorted', async () => {
    // Down to the end of a row.
    const page = await openPage({ viewport: { width: WIDTH, height: 788 } });
    await page.goto(`${exporter.url}/stations/prod?search=gateway&sort=-alert_rules#resources`);
    expect(await page.locator('#resource-table tbody tr').count()).toBeGreaterThan(10);
    await expectShot(page, 'station.png');
  });
});
