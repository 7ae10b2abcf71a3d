import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { parse } from 'yaml';
import { replyWith } from '../../src/simulator/faults.ts';
import { root } from '../docs/markdown.ts';
import { pngOf } from '../docs/png.ts';
import { startExporter } from '../e2e/test-bed.ts';
import { type HealthyDemo, startHealthyDemo } from '../simulator/healthy-demo.ts';
import { wrongTotal } from '../simulator/simulated-service.ts';
import { openPage } from './page.ts';

/** A fixed time, so that the screenshots are reproducible. */
const NOW_MS = Date.UTC(2026, 0, 15, 12, 0, 0);
const SIZE = { width: 1280, height: 800 };

let demo: HealthyDemo;
let exporter: Awaited<ReturnType<typeof startExporter>>;

beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW_MS });
  demo = await startHealthyDemo(NOW_MS);
  demo.setFaults('personal', [wrongTotal(3)]);
  const config = parse(demo.config);
  exporter = await startExporter(
    { ...config, cache: { ttl: '0s', error_ttl: '0s' } },
    { now: () => NOW_MS + 12_000, version: '1.0.0' },
  );
  await exporter.scrape();
  demo.setFaults('edge', [replyWith(403)]);
  await exporter.scrape();
});

afterAll(async () => {
  await exporter?.stop();
  await demo?.service.stop();
  vi.useRealTimers();
});

/** Compares the image dimensions; with --update, writes the image. */
async function expectShot(page: Page, file: string): Promise<void> {
  const shot = await page.screenshot({ animations: 'disabled' });
  const path = join(root, 'docs/images', file);
  if (inject('isUpdating')) writeFileSync(path, shot);
  expect(pngOf(shot).width).toBe(SIZE.width);
  expect(pngOf(readFileSync(path))).toEqual(pngOf(shot));
}

describe('the images of the documentation', () => {
  it.each(['light', 'dark'] as const)('show the stations in %s colours', async (colorScheme) => {
    // With all stations of the demo below what needs attention.
    const page = await openPage({ colorScheme, viewport: { ...SIZE, height: 1140 } });
    await page.goto(exporter.url);
    expect(await page.locator('.state.failing').count()).toBe(1);
    await expectShot(page, `status-${colorScheme}.png`);
  });

  it('show the resources of a station, searched and sorted', async () => {
    const page = await openPage({ viewport: SIZE });
    await page.goto(`${exporter.url}/stations/prod?search=gateway&sort=-alert_rules#resources`);
    expect(await page.locator('#resource-table tbody tr').count()).toBeGreaterThan(10);
    await expectShot(page, 'station.png');
  });
});
