import * as z from 'zod';
import { filledSecret, nonEmptyText, optionalKey, secret, secretFile, tokenUrl } from '../../schema/scalar-schemas.ts';
import { authScheme, encodeHeader, withSecret } from './scheme.ts';
import { TokenSource } from './token-source.ts';

export const oauth2 = authScheme({
  schema: withSecret(
    'client_secret',
    z.strictObject({
      client_id: nonEmptyText.describe('Client ID.'),
      client_secret: optionalKey(filledSecret, 'Client secret.'),
      client_secret_file: optionalKey(secretFile, 'File to read the client secret from, instead of `client_secret`.'),
      token_url: tokenUrl.describe('URL of the token endpoint.'),
      scopes: z.array(nonEmptyText).prefault([]).describe('Scopes to request.'),
      endpoint_params: z
        .record(nonEmptyText, secret)
        .prefault({})
        .describe('Additional parameters of the token request.'),
    }),
  ),
  description: 'OAuth 2.0 client credentials grant.',
  setsHeaders: ['authorization'],
  dependsOnClock: false,
  words: () => ({
    isIssued: true,
    credentials: 'the access token of oauth2',
    rejected: 'The token endpoint issued a token that the service rejects: check oauth2.scopes and endpoint_params.',
    unobtainable:
      'Check oauth2.token_url, client_id and the client secret. Check that the credential file exists, is not empty and is readable by the exporter.',
  }),
  signer: ({ client_id, client_secret, client_secret_file, token_url, scopes, endpoint_params }, tools) => {
    const readSecret = tools.secretReader(client_secret, client_secret_file);
    const params = Object.entries(endpoint_params).map(([name, value]) => [name, value.reveal()] as const);
    const grant = { clientId: client_id, tokenUrl: token_url, scopes, params: new Map(params) };
    const endpoint = tools.openEndpoint(`token endpoint ${token_url.host}`, token_url);
    const tokens = new TokenSource(grant, readSecret, endpoint, tools);
    return {
      sign: async ({ signal }) => {
        const token = await tokens.read(signal);
        return {
          headers: [encodeHeader('Authorization', `Bearer ${token}`)],
          secrets: [token, ...tokens.secrets()],
          invalidate: () => tokens.invalidate(token),
        };
      },
      forgetFailure: () => tokens.forgetFailure(),
    };
  },
});
