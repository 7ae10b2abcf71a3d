import { parseMarkdown } from './markdown.ts';

/** What a section of a page has in every language. Within a section, languages may need another order of links and names. */
interface SectionStructure {
  readonly heading: string;
  readonly blocks: readonly object[];
  /** The number of cells of each row. */
  readonly tables: readonly (readonly number[])[];
  readonly links: readonly string[];
  readonly images: readonly string[];
  readonly code: readonly string[];
  readonly numbers: readonly string[];
}

/** `otherLanguages`: files with translations of the page, to which it links. */
export function structureOf(text: string, otherLanguages: readonly string[]): SectionStructure[] {
  const anchors = [...parseMarkdown(text).anchors];
  const target = (link: string) => {
    if (otherLanguages.includes(link)) return 'another language';
    return link.startsWith('#') ? `heading ${anchors.indexOf(link.slice(1))}` : link;
  };
  return sectionsOf(text).map((lines) => {
    const section = lines.join('\n');
    const { blocks, spans, links } = parseMarkdown(section);
    const prose = section
      .replaceAll(/^```.*?^```$/gms, '')
      .replaceAll(/<picture>.*?<\/picture>|\]\([^)]*\)|`[^`]*`/gs, '');
    return {
      heading: lines[0]?.match(/^#+/)?.[0] ?? '',
      blocks,
      tables: tableShapes(lines),
      links: [...links.map(target), ...(section.match(/<https?:[^>]*>/g) ?? [])].sort(),
      images: section.match(/\b(?:src|srcset|width|media)="[^"]*"/g) ?? [],
      code: [...new Set(spans)].sort(),
      numbers: (prose.match(/\d+(?:[.,]\d+)*/g) ?? []).sort(),
    };
  });
}

/** The lines of each section; a line of a block of code is no heading. */
function sectionsOf(text: string): string[][] {
  const sections: string[][] = [];
  let isCode = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('```')) isCode = !isCode;
    if (sections.length === 0 || (!isCode && /^#+ /.test(line))) sections.push([]);
    sections.at(-1)?.push(line);
  }
  return sections;
}

function tableShapes(lines: readonly string[]): number[][] {
  const shapes: number[][] = [];
  for (const [index, line] of lines.entries()) {
    if (!line.startsWith('|')) continue;
    if (!lines[index - 1]?.startsWith('|')) shapes.push([]);
    shapes.at(-1)?.push(line.split(/(?<!\\)\|/).length - 2);
  }
  return shapes;
}
