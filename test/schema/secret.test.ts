import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../src/schema/secret.ts';

describe('Secret', () => {
  const secret = new Secret('hunter2');

  it('reveals its value on request', () => {
    expect(secret.reveal()).toBe('hunter2');
  });

  it.each([
    ['a template', `${secret}`],
    ['JSON', JSON.stringify(secret).replaceAll('"', '')],
    ['inspect', inspect(secret, { showHidden: true, depth: 9 })],
  ])('is hidden in %s', (_, shown) => {
    expect(shown).toBe('<secret>');
  });
});
