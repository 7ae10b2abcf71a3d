import * as z from 'zod';
import { headerSecret, optionalKey, secretFile, TOKEN } from '../../schema/scalar-schemas.ts';
import { authScheme, encodeHeader, withSecret } from './scheme.ts';

/** Credentials as they are, such as a bearer token. */
export const authorization = authScheme({
  schema: withSecret(
    'credentials',
    z.strictObject({
      type: z
        .string()
        .refine((type) => TOKEN.test(type), { error: 'expected an authentication scheme such as Bearer' })
        .refine((type) => type.toLowerCase() !== 'basic', {
          error: 'expected a scheme other than Basic; use basic_auth instead',
        })
        .prefault('Bearer')
        .describe('Authentication scheme of the `Authorization` header.'),
      credentials: optionalKey(headerSecret, 'Credentials to send after the scheme.'),
      credentials_file: optionalKey(secretFile, 'File to read the credentials from, instead of `credentials`.'),
    }),
  ),
  description: 'Credentials to send in the `Authorization` header.',
  setsHeaders: ['authorization'],
  dependsOnClock: false,
  words: ({ type }) => ({
    credentials: `the ${type} credentials of authorization`,
    rejected:
      'Check whether they have expired, and replace authorization.credentials or the content of its file. Credential files are reread automatically.',
  }),
  signer: ({ type, credentials, credentials_file }, { secretReader }) => {
    const readCredentials = secretReader(credentials, credentials_file);
    return {
      sign: async () => {
        const text = await readCredentials();
        return { headers: [encodeHeader('Authorization', `${type} ${text}`)], secrets: [text] };
      },
    };
  },
});
