import { describe, expect, it } from 'vitest';
import { readYaml } from '../../src/config/yaml-document.ts';

const ENV = { NAME: 'value', EMPTY: '', OTHER: `$\{NAME} $& $1` };
const MALFORMED = `expected $\{NAME}, or $$\{ for a literal $\{`;

describe('readYaml', () => {
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
  ])('replaces %j with %j', async (text, substituted, ...problems) => {
    const document = await readYaml({ file: 'f', text: JSON.stringify(text), env: ENV });
    expect(document.raw).toBe(substituted);
    expect(document.problems.map(({ message }) => message)).toEqual(problems);
  });
});
