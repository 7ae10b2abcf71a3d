import * as z from 'zod';
import { SIGNED_HEADERS } from '../station/signed-headers.ts';
import { crossChecked, type Mapping } from './cross-check.ts';
import { filePath, filledSecret, headerSecret, headerValue, secret, serviceUrl, text } from './scalar-schemas.ts';

/** What HTTP allows as a header's name or an authentication scheme. */
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;

/** These belong to the exporter and to its connection. */
const RESERVED = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
  'www-authenticate',
]);

const headerName = z
  .string()
  .regex(TOKEN, { error: 'the name of an HTTP header', abort: true })
  .refine((name) => !RESERVED.has(name.toLowerCase()), { error: 'the exporter sets this header itself, expected another one' });

const header = crossChecked(
  z.strictObject({
    values: z.array(headerValue).exactOptional().describe('Values that anyone may see.'),
    secrets: z.array(headerSecret).exactOptional().describe('Values that are never shown.'),
    files: z.array(filePath).exactOptional().describe('Files that hold values.'),
  }),
  function* (value) {
    const lists = [value.values, value.secrets, value.files];
    const empty = lists.every((list) => list === undefined || (Array.isArray(list) && list.length === 0));
    if (empty) yield { path: [], message: 'found no value, expected at least one in values, secrets or files' };
  },
);

export const httpHeaders = z.record(headerName, header);

/** A request can prove who sent it in one of these ways at most. */
export const AUTH_SCHEMES = ['authorization', 'basic_auth', 'hmac', 'oauth2'] as const;

export const authorization = withSecret(
  'credentials',
  z.strictObject({
    type: z
      .string()
      .refine((type) => TOKEN.test(type), { error: 'found characters that a scheme cannot have, expected one word such as Bearer' })
      .refine((type) => type.toLowerCase() !== 'basic', { error: 'found Basic, expected another scheme: use basic_auth' })
      .prefault('Bearer')
      .describe('The scheme named in the header `Authorization`.'),
    credentials: headerSecret.exactOptional().describe('What follows the scheme.'),
    credentials_file: filePath.exactOptional().describe('The file that holds the credentials, in place of `credentials`.'),
  }),
);

export const basicAuth = withSecret(
  'password',
  z.strictObject({
    username: text
      .refine((name) => !name.includes(':'), { error: 'found a colon, expected a user name without one' })
      .describe('The user name.'),
    password: secret.exactOptional().describe('The password.'),
    password_file: filePath.exactOptional().describe('The file that holds the password, in place of `password`.'),
  }),
);

export const hmac = withSecret(
  'secret_access_key',
  z.strictObject({
    access_key_id: text
      .refine((id) => /^[\x20-\x7e]+$/.test(id) && !/["\\]/.test(id), {
        error: 'found a character that cannot stand in the header, expected printable ASCII without quotes and backslashes',
      })
      .describe('The id of the access key pair.'),
    secret_access_key: filledSecret.exactOptional().describe('The secret of the access key pair.'),
    secret_access_key_file: filePath
      .exactOptional()
      .describe('The file that holds the secret of the access key pair, in place of `secret_access_key`.'),
    signed_headers: z
      .array(z.enum(SIGNED_HEADERS))
      .min(1, { error: 'at least one entry' })
      .refine((entries) => new Set(entries).size === entries.length, { error: 'found an entry twice, expected each at most once' })
      .prefault(['x-date'])
      .describe('What the signature covers, in this order.'),
  }),
);

export const oauth2 = withSecret(
  'client_secret',
  z.strictObject({
    client_id: text.describe('The client.'),
    client_secret: filledSecret.exactOptional().describe('The secret of the client.'),
    client_secret_file: filePath.exactOptional().describe('The file that holds the secret of the client, in place of `client_secret`.'),
    token_url: serviceUrl.describe('Where tokens are fetched.'),
    scopes: z.array(text).prefault([]).describe('The scopes to ask for.'),
    endpoint_params: z.record(text, secret).prefault({}).describe('Further parameters of the token request.'),
  }),
);

/** The secret is given as itself or as a file, one of the two. */
function withSecret<Schema extends z.ZodType>(key: string, schema: Schema): Schema {
  const fileKey = `${key}_file`;
  return crossChecked(schema, function* (value: Mapping) {
    const given = [key, fileKey].filter((name) => value[name] !== undefined);
    if (given.length === 0) yield { path: [], message: `${key} is missing, expected ${key} or ${fileKey}` };
    if (given.length === 2) yield { path: [fileKey], message: `given together with ${key}, expected only one of the two`, atKey: true };
  });
}
