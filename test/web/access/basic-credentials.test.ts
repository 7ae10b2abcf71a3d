import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { basicCredentials } from '../../../src/web/access/password-check.ts';

function header(credentials: string | Uint8Array): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

describe('basicCredentials', () => {
  it('reads any user and any bytes as a password', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }).filter((user) => !user.includes(':')),
        fc.uint8Array(),
        (user, password) => {
          const found = basicCredentials(header(Buffer.concat([Buffer.from(`${user}:`), password])));
          expect(found?.user).toBe(user);
          expect(Buffer.compare(found?.password ?? Buffer.from('?'), password)).toBe(0);
        },
      ),
    );
  });

  it.each(['basic', 'BASIC', 'Basic  '])('knows the scheme as %s', (scheme) => {
    expect(basicCredentials(header('a:b').replace('Basic', scheme))?.user).toBe('a');
  });

  it('takes what follows the first colon as the password', () => {
    expect(String(basicCredentials(header('a:b:c'))?.password)).toBe('b:c');
  });

  it.each([
    undefined,
    '',
    'Basic',
    'Basic ',
    'Bearer YTpi',
    'Basic YTpi, Basic YTpi',
    'Basic YTp',
    'Basic Y',
    'Basic YTp$',
    'Basic YT\npi',
    'Basic =',
    'Basic ====',
    'BasicYTpi',
    header('no colon'),
    header(''),
  ])('finds nobody in %s', (text) => {
    expect(basicCredentials(text)).toBeUndefined();
  });

  it('gives up on any text without a hang or a throw', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        basicCredentials(text);
        basicCredentials(`Basic ${text}`);
      }),
    );
    expect(basicCredentials(`Basic ${'A'.repeat(100_001)}`)).toBeUndefined();
  });
});
