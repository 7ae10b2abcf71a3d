import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { keySchema, replacedTexts, titledValues } from '../../src/config/key-schema.ts';
import { optionalKey, pemFile, secret, secretFile, TITLES } from '../../src/schema/scalar-schemas.ts';

const schema = z.strictObject({
  token: optionalKey(secretFile, 'A file, whatever the name of its key.'),
  log_file: optionalKey(z.string(), 'Not a file that is read.'),
  password: secret,
  authorities: z.array(pemFile),
  by_name: z.record(z.string(), z.strictObject({ token: secretFile })),
});

const VALUE = {
  token: 'a',
  log_file: 'b',
  password: 'c',
  authorities: ['d', 'e'],
  by_name: { log_file: { token: 'f' } },
};

describe('titledValues', () => {
  it('goes by what the schema says of a value, not by the name of its key', () => {
    const found = [...titledValues(keySchema(schema), VALUE)].map(({ title, path }) => `${path.join('.')}: ${title}`);
    expect(found).toEqual([
      'token: file',
      'password: secret',
      'authorities.0: PEM file',
      'authorities.1: PEM file',
      'by_name.log_file.token: file',
    ]);
  });
});

describe('replacedTexts', () => {
  it('returns a copy, in which only texts with one of the titles are others', () => {
    const before = structuredClone(VALUE);
    const replaced = replacedTexts(keySchema(schema), VALUE, [TITLES.secretFile, TITLES.pemFile], (text) => `/${text}`);
    expect(replaced).toEqual({
      token: '/a',
      log_file: 'b',
      password: 'c',
      authorities: ['/d', '/e'],
      by_name: { log_file: { token: '/f' } },
    });
    expect(VALUE).toEqual(before);
  });
});
