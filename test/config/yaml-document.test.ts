import { describe, expect, it } from 'vitest';
import { substitute } from '../../src/config/yaml-document.ts';

const NAME = '$' + '{NAME}';

describe('substitute', () => {
  it.each([
    ['plain', 'plain'],
    [NAME, 'value'],
    [`a ${NAME} b ${NAME}`, 'a value b value'],
    [`$${NAME}`, NAME],
    [`$$${NAME}`, `$${NAME}`],
    ['$NAME $ {NAME}', '$NAME $ {NAME}'],
    ['$' + '{EMPTY}', ''],
  ])('replaces %j with %j', (text, expected) => {
    expect(substitute(text, { NAME: 'value', EMPTY: '' })).toEqual({ text: expected, problems: [] });
  });

  it('does not substitute inside a value', () => {
    expect(substitute(NAME, { NAME: '$' + '{OTHER} $& $1', OTHER: 'no' }).text).toBe('$' + '{OTHER} $& $1');
  });

  it('reports all unset variables', () => {
    expect(substitute('$' + '{A} $' + '{B}', {}).problems).toEqual([
      'environment variable A is not set',
      'environment variable B is not set',
    ]);
  });

  it('does not accept an inherited property as a variable', () => {
    expect(substitute('$' + '{constructor}', {}).problems).toHaveLength(1);
  });

  it.each(['$' + '{}', '$' + '{NAME', '$' + '{A B}', '$' + '{1}'])('rejects %j', (text) => {
    expect(substitute(text, { NAME: 'value' }).problems).toEqual([`expected $\{NAME}, or $$\{ for a literal $\{`]);
  });
});
