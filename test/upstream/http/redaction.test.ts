import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { redact } from '../../../src/upstream/http/redaction.ts';

/** Encodes a text; which characters it escapes without need is a choice. */
type Encoder = (text: string, choice: () => boolean) => string;

/** Escapes the characters of the pattern, and others by choice. */
const escaping =
  (needed: RegExp, escaped: (character: string, choice: () => boolean) => string): Encoder =>
  (text, choice) =>
    Array.from(text, (character) => (needed.test(character) || choice() ? escaped(character, choice) : character)).join(
      '',
    );

const hex = (value: number, choice: () => boolean, digits = 1) => {
  const text = value.toString(16).padStart(digits, '0');
  return choice() ? text.toUpperCase() : text;
};

const NAMES: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' };

const ENCODERS: Readonly<Record<string, Encoder>> = {
  none: (text) => text,
  percent: escaping(/[^\w.~-]/, (character, choice) =>
    Array.from(Buffer.from(character), (byte) => `%${hex(byte, choice, 2)}`).join(''),
  ),
  form: (text) => new URLSearchParams([['', text]]).toString().slice(1),
  html: escaping(/[&<>"']/, (character, choice) => {
    const code = character.codePointAt(0) as number;
    const name = NAMES[character];
    if (name !== undefined && choice()) return `&${name};`;
    return choice() ? `&#${code};` : `&#x${hex(code, choice)};`;
  }),
  json: escaping(/["\\\p{Cc}]/u, (character, choice) => {
    const short = JSON.stringify(character).slice(1, -1);
    if (short.length === 2 && choice()) return short;
    return Array.from({ length: character.length }, (_, at) => `\\u${hex(character.charCodeAt(at), choice, 4)}`).join(
      '',
    );
  }),
};

const base64: Encoder = (text, choice) => {
  const encoded = Buffer.from(text).toString(choice() ? 'base64url' : 'base64');
  return choice() ? encoded.replace(/=+$/, '') : encoded;
};

const secret = fc.oneof(
  fc.string({ minLength: 4, maxLength: 40, unit: 'grapheme-ascii' }),
  fc.string({ minLength: 4, maxLength: 40, unit: fc.constantFrom(...'%&;#x\\u"\'<>/+= 0aA25', 'amp;', 'é', '𐍈') }),
);

const choices = fc.array(fc.boolean(), { minLength: 1, maxLength: 20 }).map((values) => {
  let at = 0;
  return () => values[at++ % values.length] as boolean;
});

const name = fc.constantFrom(...Object.keys(ENCODERS));
const encode = (encoder: string, text: string, choice: () => boolean) => (ENCODERS[encoder] as Encoder)(text, choice);

// No part of the frame is in a secret, nor in the alphabet of base64.
const framed = (text: string) => `→ ${text} ←`;

describe('redact', () => {
  it('hides a secret behind any two escapings', () => {
    fc.assert(
      fc.property(secret, name, name, choices, (hidden, inner, outer, choice) => {
        expect(redact(framed(encode(outer, encode(inner, hidden, choice), choice)), [hidden])).toBe(framed('<secret>'));
      }),
      { numRuns: 2000 },
    );
  });

  it('hides a secret in base64, alone or in a pair, escaped before or after', () => {
    fc.assert(
      fc.property(
        secret,
        fc.string({ maxLength: 6, unit: fc.constantFrom('u', 's', ':') }),
        name,
        fc.boolean(),
        choices,
        (hidden, user, encoder, first, choice) => {
          const text = first
            ? base64(`${user}${encode(encoder, hidden, choice)}`, choice)
            : encode(encoder, base64(`${user}${hidden}`, choice), choice);
          const shown = redact(framed(text), [hidden]);
          expect(shown).toMatch(/^→ .*<secret>(=|%3d|&#61;|&#x3d;|\\u003d)* ←$/i);
          // At most the user remains, with up to six characters for one of base64.
          expect(shown.indexOf('<secret>')).toBeLessThanOrEqual(2 + 6 * Math.ceil((user.length * 4) / 3));
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('hides a secret in base64 of base64, and in base64 that is broken into lines', () => {
    const hidden = 'Sesame/0pen+now=';
    const pair = Buffer.from(Buffer.from(`client:${hidden}`).toString('base64')).toString('base64');
    expect(redact(`sent Basic ${pair}.`, [hidden])).toMatch(/^sent Basic \w{1,12}<secret>\w?=*\.$/);
    const lines = Buffer.from(hidden).toString('base64').replaceAll(/.{8}/g, '$&\r\n');
    expect(redact(`sent ${lines}.`, [hidden])).toMatch(/^sent <secret>=*\s*\.$/);
  });

  it('hides every secret once, where one contains the other or they overlap', () => {
    expect(redact('key abc, abcdef and abc again', ['abc', 'abcdef'])).toBe(
      'key <secret>, <secret> and <secret> again',
    );
    expect(redact('key abcdefgh.', ['abcdef', 'defgh'])).toBe('key <secret>.');
  });

  it('hides a short secret only as it is', () => {
    expect(redact('a%62c abc', ['abc', ''])).toBe('a%62c <secret>');
  });

  it('leaves other text as it is', () => {
    const text = 'rejected: %zz %E4 &nbsp; &#x110000; \\u12 Zm9v é 𐍈 {"a":"\\n"}';
    expect(redact(text, ['password', 'other-secret'])).toBe(text);
    expect(redact(text, [])).toBe(text);
  });

  it('returns at most 1,024 bytes, and no part of a secret at their end', () => {
    const hidden = 'secret-'.repeat(200);
    for (const encoded of [
      hidden,
      encodeURIComponent(encodeURIComponent(hidden)),
      Buffer.from(hidden).toString('base64'),
    ]) {
      expect(redact(`${'.'.repeat(1020)}${encoded}`, [hidden])).toBe(`${'.'.repeat(1020)}<secret>`);
      expect(redact(`${'.'.repeat(1024)}${encoded}`, [hidden])).toBe('.'.repeat(1024));
    }
  });
});
