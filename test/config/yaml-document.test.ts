import { describe, expect, it } from 'vitest';
import { substitute } from '../../src/config/yaml-document.ts';

const ENV = { NAME: 'value', EMPTY: '', OTHER: `$\{NAME} $& $1` };
const MALFORMED = `expected $\{NAME}, or $$\{ for a literal $\{`;

describe('substitute', () => {
  it.each<[text: string, substituted: string, ...problems: string[]]>([
    ['plain', 'plain'],
    [`a $\{NAME} b $\{NAME}`, 'a value b value'],
    [`$$\{NAME}`, `$\{NAME}`],
    [`$$$\{NAME}`, `$$\{NAME}`],
    ['$NAME $ {NAME}', '$NAME $ {NAME}'],
    [`$\{EMPTY}`, ''],
    [`$\{OTHER}`, ENV.OTHER],
    [
      `$\{A}$\{constructor}`,
      `$\{A}$\{constructor}`,
      'environment variable A is not set',
      'environment variable constructor is not set',
    ],
    ...[`$\{}`, `$\{NAME`, `$\{A B}`, `$\{1}`].map((text): [string, string, string] => [text, text, MALFORMED]),
  ])('replaces %j with %j', (text, substituted, ...problems) => {
    expect(substitute(text, ENV)).toEqual({ text: substituted, problems });
  });
});
