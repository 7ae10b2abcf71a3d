import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPage, root } from './markdown.ts';
import { pngOf } from './png.ts';

const { text } = readPage('README.md');
const files = readdirSync(join(root, 'docs/images')).map((name) => `docs/images/${name}`);
const shown = [...text.matchAll(/(?: src(?:set)?="|!\[[^\]]*\]\()(docs\/images\/[^")]+)/g)].map(([, file]) => file);

describe('docs/images', () => {
  it('holds exactly the images that README shows', () => {
    expect(files).not.toEqual([]);
    expect(shown.toSorted()).toEqual(files.toSorted());
  });

  it.each(files)('holds an image as wide as the page or dashboard that it shows, below 250 kB: %s', (file) => {
    const bytes = readFileSync(join(root, file));
    // Dashboards are 1600 pixels wide, at twice the density.
    expect(pngOf(bytes).width).toBe(file.includes('/fleet-') ? 3200 : 1280);
    expect(bytes.length).toBeLessThan(250_000);
  });
});
