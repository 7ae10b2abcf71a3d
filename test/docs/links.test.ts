import { existsSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { allPages, type Page, root } from './markdown.ts';

const pages = allPages();

describe('links in the documentation', () => {
  it.each(pages)('lead to existing files and headings: $file', (page) => {
    expect(deadLinks(page)).toEqual([]);
  });
});

function deadLinks({ file, folder, links, anchors }: Page): string[] {
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? file : normalize(join(folder, path));
    if (!existsSync(join(root, target))) return true;
    const there = target === file ? anchors : pages.find((page) => page.file === target)?.anchors;
    return anchor !== undefined && !there?.has(anchor);
  });
}
