import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

/** A block of code, by the language that its fence names. */
interface Block {
  readonly language: string;
  readonly content: string;
}

/** A page of the documentation, taken apart. */
export interface Page {
  /** From the root of the project. */
  readonly file: string;
  readonly folder: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  /** Inline code, without that of blocks. */
  readonly spans: readonly string[];
  readonly links: readonly string[];
  /** What follows `#` in links to its headings, as GitHub makes them. */
  readonly anchors: ReadonlySet<string>;
}

/** Every page that tells operators or contributors how things are now. */
export function allPages(): Page[] {
  const documents = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
  return ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...documents.map((name) => `docs/${name}`)].map(readPage);
}

export function readPage(file: string): Page {
  return { file, folder: dirname(file), ...takenApart(readFileSync(join(root, file), 'utf8')) };
}

export function takenApart(text: string): Omit<Page, 'file' | 'folder'> {
  const fenced = [...text.matchAll(/^( *)```(\w*)\n(.*?)^ *```$/gms)];
  const blocks = fenced.map(([, indent = '', language = '', content = '']) => ({ language, content: outdented(content, indent) }));
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

/** The number that tells a repeated heading from those before it. */
function times(before: readonly string[], anchor: string): number[] {
  const count = before.filter((other) => other === anchor).length;
  return count === 0 ? [] : [count];
}
