import type { ExporterPort, WebOptions } from '../../../src/web/port.ts';
import { parseHtml } from '../html-parser.ts';
import { startApp } from '../running-app.ts';

/** As Chromium sends it. */
const ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

export const AS_BROWSER = { headers: { accept: ACCEPT } };

/** The response that a browser gets, and what the main part of the page shows. */
export async function openPage(exporter: Partial<ExporterPort> = {}, path = '/', options: Partial<WebOptions> = {}) {
  const { request } = await startApp(exporter, options);
  const response = await request(path, AS_BROWSER);
  return { ...response, ...shown(contentOf(response.body, 'content')) };
}

/** The text of markup with single spaces, its tags, and where its links lead. */
export function shown(markup: string) {
  const { text, tags } = parseHtml(markup);
  const hrefs = tags.flatMap(({ attributes }) => attributes['href'] ?? []);
  return { text: text.replace(/\s+/g, ' ').trim(), tags, hrefs };
}

/** The markup in the element with the ID, up to the first end tag of that name; '' without one. */
export function contentOf(body: string, id: string): string {
  const [, element, rest = ''] = new RegExp(`<(\\w+)[^>]* id="${id}"[^>]*>([\\s\\S]*)`).exec(body) ?? [];
  return rest.slice(0, rest.indexOf(`</${element}>`));
}

/** The text of the element with the ID. */
export function textOf(body: string, id: string): string {
  return shown(contentOf(body, id)).text;
}

/** The text of each row of the table with the ID, or only that of the columns with these headings, in their order. */
export function rowsOf(body: string, id: string, headings?: readonly string[]): string[] {
  const [, head = '', ...rows] = contentOf(body, id).split('<tr');
  const [first = ''] = elementsOf(head, 'th');
  return rows.map((row) => {
    if (headings === undefined) return shown(`<tr${row}`).text;
    const cells = new Map(elementsOf(row, 'td').map((cell) => [attributeOf(cell, 'data-label'), shown(cell).text]));
    const named = new Map([[shown(first).text, shown(elementsOf(row, 'th').join('')).text], ...cells]);
    return headings.flatMap((heading) => named.get(heading) ?? []).join(' ');
  });
}

function elementsOf(markup: string, element: string): string[] {
  return Array.from(markup.matchAll(new RegExp(`<${element}[ >][\\s\\S]*?</${element}>`, 'g')), ([found]) => found);
}

function attributeOf(markup: string, name: string): string | undefined {
  return shown(markup).tags[0]?.attributes[name];
}
