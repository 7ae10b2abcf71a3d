import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readPage, root } from './markdown.ts';
import { pngOf } from './png.ts';

const { text } = readPage('README.md');
const files = readdirSync(join(root, 'docs/images')).map((name) => `docs/images/${name}`);

/** The images of README with what they tell those who do not see them. */
function shown(): { readonly file: string; readonly words: string }[] {
  const markdown = [...text.matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)].map(([, words = '', file = '']) => ({ file, words }));
  const pictures = [...text.matchAll(/<picture>.*?<\/picture>/gs)].flatMap(([picture]) => {
    const [, words = ''] = /<img[^>]* alt="([^"]*)"/.exec(picture) ?? [];
    return [...picture.matchAll(/ src(?:set)?="([^"]+)"/g)].map(([, file = '']) => ({ file, words }));
  });
  return [...pictures, ...markdown];
}

describe('the images of README', () => {
  it('are all that there are', () => {
    expect(
      shown()
        .map(({ file }) => file)
        .toSorted(),
    ).toEqual(files.toSorted());
    expect(files).not.toEqual([]);
  });

  it('are told in words', () => {
    expect(shown().filter(({ words }) => words.length < 30)).toEqual([]);
  });

  it.each(files)('have the width of a page and load fast: %s', (file) => {
    const bytes = readFileSync(join(root, file));
    expect(pngOf(bytes).width).toBe(1280);
    expect(bytes.length).toBeLessThan(250_000);
  });
});
