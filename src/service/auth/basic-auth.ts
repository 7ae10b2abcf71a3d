import * as z from 'zod';
import { nonEmptyText, optionalKey, secret, secretFile, textMatching } from '../../schema/scalar-schemas.ts';
import { authScheme, encodeBasicCredentials, withSecret } from './scheme.ts';

export const basicAuth = authScheme({
  schema: withSecret(
    'password',
    z.strictObject({
      username: textMatching(nonEmptyText, /^[^:]*$/, 'expected a user name without a colon').describe('User name.'),
      password: optionalKey(secret, 'Password.'),
      password_file: optionalKey(secretFile, 'File to read the password from, instead of `password`.'),
    }),
  ),
  description: 'HTTP basic authentication.',
  setsHeaders: ['authorization'],
  dependsOnClock: false,
  words: () => ({
    credentials: 'the user name and password of basic_auth',
    rejected: 'Check basic_auth.username and the password. Credential files are reread automatically.',
  }),
  signer: ({ username, password, password_file }, { secretReader }) => {
    const readPassword = secretReader(password, password_file);
    return {
      sign: async () => {
        const text = await readPassword();
        const encoded = encodeBasicCredentials(username, text);
        return { headers: [['Authorization', `Basic ${encoded}`]], secrets: [encoded, text] };
      },
    };
  },
});
