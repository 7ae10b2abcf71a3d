import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { configOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { openPage } from './page.ts';
import { realisticEntries, realisticIds, TEAMS } from './realistic-names.ts';

/** An exporter of the station `shop` with 100 resources, 20 of which were removed since. */
async function shop() {
  const service = await startTestService({ source: () => realisticEntries(120) });
  const station = { products: ['product.lepton-acp-new', 'product.slb'], alertability: true };
  const config = configOf(service.url, ['shop'], { station, upstream: { page_size: 100 } });
  const resource_labels = TEAMS.map((team) => ({ match: { display_name: `${team}-.*` }, labels: { team } }));
  const exporter = await startReadyExporter({ ...config, resource_labels });
  service.setRecords('shop', realisticEntries(100));
  await exporter.scrape();
  return exporter;
}

/** One resource of each type. */
const RESOURCE_PATHS = realisticIds(4).map((id) => `/stations/shop/resources/${id}`);

const PATHS = ['/', '/stations/shop', '/stations/shop/changes', '/search?search=-', '/changes', ...RESOURCE_PATHS];

/** The cells with a word that continues on the next line. Ids, code and replies of the service may be broken anywhere. */
const brokenCells = (page: Page) =>
  page.evaluate<string[]>(`[...document.querySelectorAll('tbody th, tbody td')].flatMap((cell) => {
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const topOf = (text, at) => {
      range.setStart(text, at);
      range.setEnd(text, at + 1);
      return range.getClientRects()[0]?.top;
    };
    for (let text = texts.nextNode(); text; text = texts.nextNode()) {
      if (text.parentElement.closest('.code, code, .said, .hidden-text')) continue;
      for (const { index } of text.data.matchAll(/[\\p{L}\\p{N}](?=[\\p{L}\\p{N}])/gu))
        if (topOf(text, index + 1) > topOf(text, index) + 5)
          return [text.data.slice(0, index + 1) + '/' + text.data.slice(index + 1)];
    }
    return [];
  })`);

describe('a table', () => {
  it.each([390, 768, 1024, 1280, 1920])('breaks no cell within a word at %i pixels', async (width) => {
    const { url } = await shop();
    const page = await openPage({ viewport: { width, height: 900 } });
    for (const path of PATHS) {
      await page.goto(url + path);
      const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect({ path, broken: await brokenCells(page), wider }).toEqual({ path, broken: [], wider: 0 });
    }
  });
});
