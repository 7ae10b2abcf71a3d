import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** A fenced block of code. */
interface Block {
  readonly language: string;
  readonly content: string;
}

/** A parsed page of the documentation. */
export interface Page {
  /** Relative to the root of the repository. */
  readonly file: string;
  readonly folder: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** Inline code, blocks excluded. */
  readonly spans: readonly string[];
  readonly links: readonly string[];
  /** Fragments of its headings, as GitHub derives them. */
  readonly anchors: ReadonlySet<string>;
}

/** Every page for operators and contributors, except the changelog. */
export function allPages(): Page[] {
  const documents = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.md'),
  );
  const outside = ['README.md', 'README.zh-CN.md', 'CONTRIBUTING.md', 'SECURITY.md', 'bench/README.md'];
  return [...outside, ...documents.map((name) => `docs/${name}`)].map(readPage);
}

export function readPage(file: string): Page {
  return { file, folder: dirname(file), ...parseMarkdown(readFileSync(join(root, file), 'utf8')) };
}

export function parseMarkdown(text: string): Omit<Page, 'file' | 'folder'> {
  const fenced = [...text.matchAll(/^( *)```(\w*)\n(.*?)^ *```$/gms)];
  const blocks = fenced.map(([, indent = '', language = '', content = '']) => ({
    language,
    content: outdented(content, indent),
  }));
  const prose = text.replaceAll(/^ *```.*?^ *```$/gms, '').replaceAll(/<!--.*?-->/gs, '');
  const spans = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code.replaceAll('\\|', '|'));
  const links = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
  const headings = [...prose.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));
  const anchors = headings.map((anchor, at) => [anchor, ...times(headings.slice(0, at), anchor)].join('-'));
  return { text, blocks, spans, links, anchors: new Set(anchors) };
}

function outdented(content: string, indent: string): string {
  return content.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
}

function anchorOf(heading: string): string {
  return heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** The number that GitHub appends to a repeated heading. */
function times(before: readonly string[], anchor: string): number[] {
  const count = before.filter((other) => other === anchor).length;
  return count === 0 ? [] : [count];
}
