import { describe, expect, expectTypeOf, it } from 'vitest';
import type { Flag } from '../../src/cli/flag-kind.ts';
import { FLAGS, type FlagValues } from '../../src/cli/flags.ts';

const flags: readonly Flag[] = FLAGS;

describe('FLAGS', () => {
  it('names every flag once', () => {
    expect(new Set(flags.map((flag) => flag.name)).size).toBe(flags.length);
  });

  it.each(flags.filter((flag) => flag.default !== undefined))('has a default for --$name that can be read', (flag) => {
    expect(flag.kind.parse(flag.default ?? '')).toBeDefined();
  });

  it('types every value by its row', () => {
    expectTypeOf<FlagValues['config.file']>().toEqualTypeOf<string>();
    expectTypeOf<FlagValues['demo']>().toEqualTypeOf<boolean>();
    expectTypeOf<FlagValues['web.listen-address']>().toEqualTypeOf<readonly { readonly host?: string; readonly port: number }[]>();
    expectTypeOf<FlagValues['web.external-url']>().toEqualTypeOf<URL | undefined>();
    expectTypeOf<FlagValues['scrape.timeout']>().toEqualTypeOf<number>();
    expectTypeOf<FlagValues['log.level']>().toEqualTypeOf<'debug' | 'info' | 'warn' | 'error'>();
    expectTypeOf<FlagValues['log.format']>().toEqualTypeOf<'logfmt' | 'json'>();
  });
});
