/** Breaks a text between words into lines of at most so many columns; a longer word has a line of its own. */
export function wrapped(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const longer = `${lines.at(-1)} ${word}`;
    if (lines.length > 0 && longer.length <= columns) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

const INDENT = '  ';

export function paragraph(text: string, columns = Number.POSITIVE_INFINITY): string {
  return wrapped(text, columns - INDENT.length).join(`\n${INDENT}`);
}
