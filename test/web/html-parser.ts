export interface ParsedHtml {
  readonly tags: readonly { readonly name: string; readonly attributes: Readonly<Record<string, string>> }[];
  readonly text: string;
}

/** Parses the subset of HTML that the pages use: tags with double-quoted attributes, text, decimal character references. */
export function parseHtml(page: string): ParsedHtml {
  const tags: { name: string; attributes: Record<string, string> }[] = [];
  const text = page.replace(
    /<(\/?)([A-Za-z][^\s>]*)((?:[^">]|"[^"]*")*)>/g,
    (_tag, end: string, name: string, attributes: string) => {
      if (end === '') tags.push({ name, attributes: readAttributes(attributes) });
      return '';
    },
  );
  return { tags, text: decode(text) };
}

function readAttributes(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name, value]) => [name, decode(value ?? '')]),
  );
}

/** HTML normalizes line ends before it decodes character references. */
function decode(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/&#(\d+);/g, (_reference, code: string) => String.fromCharCode(Number(code)));
}
