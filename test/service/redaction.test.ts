import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repeatsSecret, safeExcerpt } from '../../src/service/redaction.ts';

const TOKEN = 'Zx81-spectrum/48K+ninetynine~bottles';

describe('repeatsSecret', () => {
  it.each<[string, (secret: string) => string]>([
    ['as it is', (secret) => secret],
    ['in base64', (secret) => Buffer.from(secret).toString('base64')],
    ['in base64 without padding', (secret) => Buffer.from(secret).toString('base64').replace(/=+$/, '')],
    ['percent-encoded', (secret) => encodeURIComponent(secret)],
  ])('finds a secret %s', (_how, encode) => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (secret) => {
        expect(repeatsSecret(`→ ${encode(secret)} ←`, ['other', secret])).toBe(true);
      }),
    );
  });

  it('finds one at the end of a long reply', () => {
    expect(repeatsSecret(`${'x'.repeat(60_000)}${TOKEN}`, [TOKEN])).toBe(true);
  });

  it('does not find a secret in other text', () => {
    const text = 'rejected: %zz %E4 &nbsp; &#x110000; \\u12 Zm9v é 𐍈 {"a":"\\n"} Zx81-spectr';
    expect(repeatsSecret(text, ['password', 'other-secret', TOKEN, '', '!?'])).toBe(false);
    expect(repeatsSecret(text, [])).toBe(false);
  });
});

const NOT_SHOWN = 'not shown, because it repeats a secret';

describe('safeExcerpt', () => {
  it('reduces a text to one line without control characters', () => {
    expect(safeExcerpt('a\r\nlevel=error\t\u0000\u001b[31mb\u2028c\u202ed\u0085', [])).toBe('a level=error [31mb cd');
  });

  it('truncates at 200 characters, never within one', () => {
    expect(safeExcerpt('𐍈'.repeat(200), [])).toBe('𐍈'.repeat(200));
    expect(safeExcerpt('𐍈'.repeat(201), [])).toBe(`${'𐍈'.repeat(200)}…`);
  });

  it('replaces lone surrogates', () => {
    expect(safeExcerpt('a\ud800b', [])).toBe('a\ufffdb');
  });

  it('does not show the start of a secret at the point of truncation', () => {
    expect(safeExcerpt(`${'.'.repeat(195)}hunter2`, ['hunter2'])).toBe(NOT_SHOWN);
  });
});
