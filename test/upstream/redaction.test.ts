import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { repeatsSecret, safeExcerpt } from '../../src/upstream/redaction.ts';

/** Encodes a text; senders differ where there is a choice. */
type Encoder = (text: string, choice: () => boolean) => string;

const hex = (value: number, choice: () => boolean, digits = 1) => {
  const text = value.toString(16).padStart(digits, '0');
  return choice() ? text.toUpperCase() : text;
};

const NAMES: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

/** None, of URLs, forms, HTML and JSON. */
const escaper = fc.constantFrom<Encoder[]>(
  (text) => text,
  (text, choice) => text.replace(/[^\w.~-]/g, (character) => `%${hex(character.charCodeAt(0), choice, 2)}`),
  (text) => new URLSearchParams([['', text]]).toString().slice(1),
  (text, choice) =>
    text.replace(/[&<>"']/g, (character) => {
      const code = character.charCodeAt(0);
      if (choice()) return `&${NAMES[character]};`;
      return choice() ? `&#${code};` : `&#x${hex(code, choice)};`;
    }),
  (text, choice) =>
    text.replace(/["\\/<>&]/g, (character) =>
      choice() ? `\\${character}` : `\\u${hex(character.charCodeAt(0), choice, 4)}`,
    ),
);

const base64: Encoder = (text, choice) => {
  const encoded = Buffer.from(text).toString(choice() ? 'base64url' : 'base64');
  return choice() ? encoded.replace(/=+$/, '') : encoded;
};

/** As credentials are: tokens, keys, passwords. */
const secret = fc
  .oneof(
    fc.string({ minLength: 6, maxLength: 60, unit: fc.constantFrom(...'abcXYZ0189+/=_-.~') }),
    fc.string({ minLength: 6, maxLength: 60, unit: fc.constantFrom(...'abcdXYZ0189!$%&#;:"\'<>@\\ ') }),
  )
  .filter((text) => /([a-z\d].*){4}/i.test(text));

const choices = fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }).map((values) => {
  let at = 0;
  return () => values[at++ % values.length] as boolean;
});

/** None, base64, alone or in a pair, hex, or another case. */
const encoder = fc.constantFrom<Encoder[]>(
  (text) => text,
  base64,
  (text, choice) => base64(`u${text}`, choice),
  (text, choice) => base64(`us:${text}`, choice),
  (text, choice) => base64(`user:${text}`, choice).toLowerCase(),
  (text, choice) => base64(text, choice).toUpperCase(),
  (text) => Buffer.from(text).toString('hex'),
  (text) => Buffer.from(text).toString('hex').toUpperCase(),
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
);

const framed = (text: string) => `→ ${text} ←`;

describe('repeatsSecret', () => {
  it('finds a secret in any encoding and case, escaped once', () => {
    fc.assert(
      fc.property(secret, encoder, escaper, choices, (hidden, encode, outer, choice) => {
        expect(repeatsSecret(framed(outer(encode(hidden, choice), choice)), [hidden])).toBe(true);
      }),
      { numRuns: 1500 },
    );
  });

  const TOKEN = 'Zx81-spectrum/48K+ninetynine~bottles';

  it.each<[string, (part: string) => string]>([
    ['as they are', (part) => part],
    ['in upper case', (part) => part.toUpperCase()],
    ['in hex', (part) => Buffer.from(part).toString('hex')],
    ['in base64', (part) => Buffer.from(part).toString('base64')],
    ['percent-encoded', (part) => encodeURIComponent(part)],
  ])('finds any 12 characters in a row of a secret %s', (_how, encode) => {
    for (let at = 0; at + 12 <= TOKEN.length; at += 1) {
      expect(repeatsSecret(framed(encode(TOKEN.slice(at, at + 12))), [TOKEN]), `from ${at}`).toBe(true);
    }
  });

  it.each<[string, string]>([
    ['white space', 'Zx8 1-sp\r\nectrum/48K'],
    ['control and invisible characters', 'Zx\u00008\u200b1-spectrum/48K'],
    ['punctuation', 'Z.x.8.1.s.p.e.c.t.r.u.m'],
    ['other forms of its letters', 'Ｚｘ８１-ｓｐｅｃｔｒｕｍ'],
    ['0x before its bytes', Array.from(Buffer.from(TOKEN), (byte) => `0x${byte.toString(16)}`).join(', ')],
    ['line breaks in its base64', Buffer.from(TOKEN).toString('base64').replaceAll(/.{8}/g, '$&\r\n')],
  ])('finds a secret with %s', (_what, text) => {
    expect(repeatsSecret(text, [TOKEN])).toBe(true);
  });

  it('finds a short secret only as a whole', () => {
    expect(repeatsSecret('the key is hunter2', ['hunter2'])).toBe(true);
    expect(repeatsSecret('the key is h-u-n-t-e-r-2', ['hunter2'])).toBe(true);
    expect(repeatsSecret('the key is hunter', ['hunter2'])).toBe(false);
    expect(repeatsSecret('the key is hun\u200bter2', ['hunter2'])).toBe(true);
    expect(repeatsSecret('an é b', ['é'])).toBe(true);
  });

  it('does not find a secret in other text', () => {
    const text = 'rejected: %zz %E4 &nbsp; &#x110000; \\u12 Zm9v é 𐍈 {"a":"\\n"} Zx81-spectr';
    expect(repeatsSecret(text, ['password', 'other-secret', TOKEN, '', '!?'])).toBe(false);
    expect(repeatsSecret(text, [])).toBe(false);
  });
});

const NOT_SHOWN = 'not shown, because it repeats a secret or a part of one';

describe('safeExcerpt', () => {
  it('reduces a text to one line without control characters', () => {
    expect(safeExcerpt('a\r\nlevel=error\t\u0000\u001b[31mb\u2028c\u202ed\u0085', [])).toBe('a level=error [31mb cd');
  });

  it('truncates at 200 characters, never within one', () => {
    expect(safeExcerpt('𐍈'.repeat(200), [])).toBe('𐍈'.repeat(200));
    expect(safeExcerpt('𐍈'.repeat(201), [])).toBe(`${'𐍈'.repeat(200)}…`);
  });

  it('marks a text as truncated whose rest it has not read', () => {
    expect(safeExcerpt(`a${' '.repeat(600)}b`, [])).toBe('a …');
  });

  it('replaces lone surrogates', () => {
    expect(safeExcerpt('a\ud800b', [])).toBe('a\ufffdb');
  });

  it('does not show the start of a secret at the point of truncation', () => {
    expect(safeExcerpt(`${'.'.repeat(195)}hunter2`, ['hunter2'])).toBe(NOT_SHOWN);
    expect(safeExcerpt(`a${' '.repeat(508)}hunter2`, ['hunter2'])).toBe(NOT_SHOWN);
  });
});
