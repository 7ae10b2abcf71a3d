import type * as z from 'zod';
import type { CredentialWords } from '../../model/failure.ts';
import { keysOf } from '../../schema/scalar-schemas.ts';
import { authorization } from './authorization.ts';
import { basicAuth } from './basic-auth.ts';
import { hmac } from './hmac.ts';
import { oauth2 } from './oauth2.ts';
import type { AuthScheme, Signer, SignerTools } from './scheme.ts';

/** The schemes by their keys in the configuration; an upstream uses at most one. */
export const AUTH_SCHEMES = { authorization, basic_auth: basicAuth, hmac, oauth2 } as const;

export type SchemeName = keyof typeof AUTH_SCHEMES;

export const SCHEME_NAMES = keysOf(AUTH_SCHEMES);

type Schemas = { [Name in SchemeName]: (typeof AUTH_SCHEMES)[Name]['schema'] };

type Settings = { [Name in SchemeName]?: z.output<Schemas[Name]> };

/** The scheme of an upstream with its settings. */
export interface ConfiguredScheme {
  readonly dependsOnClock: boolean;
  readonly words: CredentialWords;
  readonly newSigner: (tools: SignerTools) => Signer;
}

/** The first scheme that has settings: the schema allows one at most. */
export function configuredScheme(settings: Settings): ConfiguredScheme | undefined {
  const name = SCHEME_NAMES.find((candidate) => settings[candidate] !== undefined);
  return name && withSettings(name, settings);
}

function withSettings<Name extends SchemeName>(name: Name, settings: Settings): ConfiguredScheme {
  const schemes: { [Each in SchemeName]: AuthScheme<Schemas[Each]> } = AUTH_SCHEMES;
  const scheme = schemes[name];
  const own = settings[name] as z.output<Schemas[Name]>;
  return {
    dependsOnClock: scheme.dependsOnClock,
    words: scheme.words(own),
    newSigner: (tools) => scheme.signer(own, tools),
  };
}
