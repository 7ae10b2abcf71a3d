import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { tableLines, textTable } from '../../src/cli/table.ts';
import { printable } from '../../src/station/records.ts';

describe('textTable', () => {
  it('aligns cells under headings, and numbers to the right', () => {
    const table = textTable(
      [{ heading: 'NAME' }, { heading: 'RULES', right: true }, { heading: 'STATE' }],
      [
        ['a', '7', 'firing'],
        ['longer-name', '1200', ''],
      ],
    );
    expect(table).toBe(['NAME         RULES  STATE', 'a                7  firing', 'longer-name   1200', ''].join('\n'));
  });

  it('consists of the headings without rows', () => {
    expect(textTable([{ heading: 'A' }, { heading: 'B' }], [])).toBe('A  B\n');
  });

  it.each(['训练平台', 'naïve', 'ﾊﾝｶｸ', '👩‍👩‍👧', 'e\u0301', '训练-node', 'ガ'])('aligns by the display width of %s', (cell) => {
    const [heading = '', line = ''] = textTable([{ heading: 'X' }, { heading: 'Y' }], [[cell, 'y']]).split('\n');
    expect(stringWidth(line.slice(0, line.lastIndexOf('y')))).toBe(heading.indexOf('Y'));
  });

  it('escapes control characters in cells', () => {
    expect(textTable([{ heading: 'X' }, { heading: 'Y' }], [['\u001b[2J\n', 'y']])).toBe('X               Y\n\\u{1b}[2J\\u{a}  y\n');
  });
});

describe('tableLines', () => {
  it('supports more rows than a call takes arguments', () => {
    const lines = tableLines([{ heading: 'X' }], Array<string[]>(200_000).fill(['x']));
    expect([...lines]).toHaveLength(200_001);
  });
});

describe('printable', () => {
  it.each([
    ['tab\there', 'tab\\u{9}here'],
    ['\u009b31m', '\\u{9b}31m'],
    ['\u202etxt.exe', '\\u{202e}txt.exe'],
    ['a\u2028b', 'a\\u{2028}b'],
    ['\u{e0041}', '\\u{e0041}'],
    ['\ud800', '\ufffd'],
    ['训练 平台: é 👍', '训练 平台: é 👍'],
  ])('shows %j as %j', (text, shown) => {
    expect(printable(text)).toBe(shown);
  });
});
