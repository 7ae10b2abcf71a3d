import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { type Screen, type TextColumn, tableOf } from '../../src/cli/table.ts';
import { printable } from '../../src/text/records.ts';

type Row = readonly string[];
type Heading = Omit<TextColumn<Row>, 'cell'>;

const tableOfTexts = (headings: readonly Heading[], rows: readonly Row[], screen?: Screen) =>
  tableOf(
    headings.map((heading, at) => ({ ...heading, cell: (row: Row) => row[at] })),
    rows,
    screen,
  );

const textTable = (...table: Parameters<typeof tableOfTexts>) => [...tableOfTexts(...table).lines].join('');

describe('tableOf', () => {
  it('aligns cells under headings, and numbers to the right', () => {
    const table = textTable(
      [{ heading: 'NAME' }, { heading: 'RULES', isNumber: true }, { heading: 'STATE' }],
      [
        ['a', '7', 'firing'],
        ['longer-name', '1200', ''],
      ],
    );
    expect(table).toBe(
      ['NAME         RULES  STATE', 'a                7  firing', 'longer-name   1200', ''].join('\n'),
    );
  });

  it.each(['训练平台', '👩‍👩‍👧', 'e\u0301'])('aligns by the display width of %s', (cell) => {
    const [heading = '', line = ''] = textTable([{ heading: 'X' }, { heading: 'Y' }], [[cell, 'y']]).split('\n');
    expect(stringWidth(line.slice(0, line.lastIndexOf('y')))).toBe(heading.indexOf('Y'));
  });

  it('escapes control characters in cells', () => {
    expect(textTable([{ heading: 'X' }, { heading: 'Y' }], [['\u001b[2J\n', 'y']])).toBe(
      'X               Y\n\\u{1b}[2J\\u{a}  y\n',
    );
  });
});

describe('tableOf, on a terminal', () => {
  const columns: readonly Heading[] = [
    { heading: 'ID', minWidth: 9 },
    { heading: 'NAME', rank: 1, minWidth: 6 },
    { heading: 'STATE', rank: 2, colour: (cell) => (cell === 'firing' ? 'red' : undefined) },
    { heading: 'N', rank: 3, isNumber: true },
  ];
  const rows = [
    ['0123456789abcdef', '训练平台训练平台', 'firing', '7'],
    ['x', 'e\u0301'.repeat(20), 'ok', '12'],
  ];
  const plain = (width: number): Screen => ({ columns: width, hasColours: false });

  it('shortens the widest cells first, then omits the columns with the highest rank', () => {
    expect(textTable(columns, rows, plain(36))).toBe(
      [
        'ID           NAME         STATE    N',
        '01234…bcdef  训练平…平台  firing   7',
        `x            ${'e\u0301'.repeat(5)}…${'e\u0301'.repeat(5)}  ok      12`,
        '',
      ].join('\n'),
    );
    const narrow = tableOfTexts(columns, rows, plain(20));
    expect([...narrow.lines]).toEqual([
      'ID         NAME\n',
      '0123…cdef  训练…平台\n',
      `x          ${'e\u0301'.repeat(4)}…${'e\u0301'.repeat(4)}\n`,
    ]);
    expect(narrow.omitted).toEqual(['STATE', 'N']);
  });

  it('colours cells without moving others, and nothing else', () => {
    const table = textTable(columns, rows, { columns: 200, hasColours: true });
    expect(table).toContain('  \u001b[31mfiring\u001b[0m   7\n');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the colours
    expect(table.replaceAll(/\u001b\[\d+m/g, '')).toBe(textTable(columns, rows));
  });
});

describe('printable', () => {
  it.each([
    ['\u{e0041}', '\\u{e0041}'],
    ['\ud800', '\ufffd'],
    ['训练 平台: é 👍', '训练 平台: é 👍'],
  ])('shows %j as %j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });
});
