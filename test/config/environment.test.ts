import { describe, expect, it } from 'vitest';
import { substitute } from '../../src/config/environment.ts';

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
  ])('makes %j %j', (text, expected) => {
    expect(substitute(text, { NAME: 'value', EMPTY: '' })).toEqual({ text: expected, problems: [] });
  });

  it('takes a value as it is, whatever stands in it', () => {
    expect(substitute(NAME, { NAME: '$' + '{OTHER} $& $1', OTHER: 'no' }).text).toBe('$' + '{OTHER} $& $1');
  });

  it('tells every variable that is not set', () => {
    expect(substitute('$' + '{A} $' + '{B}', {}).problems).toEqual([
      'the environment variable A is not set, expected a value for it',
      'the environment variable B is not set, expected a value for it',
    ]);
  });

  it('does not take what every object has for a variable', () => {
    expect(substitute('$' + '{constructor}', {}).problems).toHaveLength(1);
  });

  it.each(['$' + '{}', '$' + '{NAME', '$' + '{A B}', '$' + '{1}'])('refuses %j', (text) => {
    expect(substitute(text, { NAME: 'value' }).problems).toEqual([expect.stringContaining('without a name')]);
  });
});
