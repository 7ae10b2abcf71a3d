import * as z from 'zod';
import { SIGNED_HEADERS } from '../model/upstream-options.ts';
import { crossChecked, given, type Mapping, nonEmptyList } from './cross-check.ts';
import {
  anyCase,
  editorPattern,
  filePath,
  filledSecret,
  headerSecret,
  headerValue,
  secret,
  serviceUrl,
  text,
} from './scalar-schemas.ts';

/** A token of RFC 9110: a header name or an authentication scheme. */
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;

/** Set by the exporter or by its connection. */
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
  .regex(TOKEN, { error: 'an HTTP header name', abort: true })
  .refine((name) => !RESERVED.has(name.toLowerCase()), {
    error: 'this header is set by the exporter, expected another one',
  })
  .meta({ pattern: without([...RESERVED], TOKEN) });

const header = crossChecked(
  z.strictObject({
    values: z.array(headerValue).exactOptional().describe('Header values that are not secret.'),
    secrets: z.array(headerSecret).exactOptional().describe('Header values that are secret.'),
    files: z.array(filePath).exactOptional().describe('Files to read header values from.'),
  }),
  function* (value) {
    const lists = [value.values, value.secrets, value.files];
    const empty = lists.every((list) => list === undefined || (Array.isArray(list) && list.length === 0));
    if (empty) yield { path: [], message: 'expected at least one entry in values, secrets or files, got none' };
  },
).meta({ anyOf: ['values', 'secrets', 'files'].map(nonEmptyList) });

export const httpHeaders = z.record(headerName, header);

/** An upstream uses at most one of these. */
export const AUTH_SCHEMES = ['authorization', 'basic_auth', 'hmac', 'oauth2'] as const;

export const authorization = withSecret(
  'credentials',
  z.strictObject({
    type: z
      .string()
      .refine((type) => TOKEN.test(type), { error: 'expected an authentication scheme such as Bearer' })
      .refine((type) => type.toLowerCase() !== 'basic', {
        error: 'expected a scheme other than Basic; use basic_auth instead',
      })
      .meta({ pattern: editorPattern(without(['basic'], TOKEN)) })
      .prefault('Bearer')
      .describe('Authentication scheme of the `Authorization` header.'),
    credentials: headerSecret.exactOptional().describe('Credentials to send after the scheme.'),
    credentials_file: filePath.exactOptional().describe('File to read the credentials from, instead of `credentials`.'),
  }),
);

export const basicAuth = withSecret(
  'password',
  z.strictObject({
    username: text
      .refine((name) => !name.includes(':'), { error: 'expected a user name without a colon' })
      .meta({ pattern: editorPattern('^[^:]*$') })
      .describe('User name.'),
    password: secret.exactOptional().describe('Password.'),
    password_file: filePath.exactOptional().describe('File to read the password from, instead of `password`.'),
  }),
);

/** Printable ASCII without quotes and backslashes. */
const KEY_ID = /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/;

export const hmac = withSecret(
  'secret_access_key',
  z.strictObject({
    access_key_id: text
      .refine((id) => KEY_ID.test(id), { error: 'expected printable ASCII without quotes and backslashes' })
      .meta({ pattern: editorPattern(KEY_ID.source) })
      .describe('Access key ID.'),
    secret_access_key: filledSecret.exactOptional().describe('Secret access key.'),
    secret_access_key_file: filePath
      .exactOptional()
      .describe('File to read the secret access key from, instead of `secret_access_key`.'),
    signed_headers: z
      .array(z.enum(SIGNED_HEADERS))
      .min(1, { error: 'at least one entry' })
      .refine((entries) => new Set(entries).size === entries.length, {
        error: 'expected each entry at most once, got a duplicate',
      })
      .meta({ uniqueItems: true })
      .prefault(['x-date'])
      .describe('Request parts that the signature covers, in this order.'),
  }),
);

export const oauth2 = withSecret(
  'client_secret',
  z.strictObject({
    client_id: text.describe('Client ID.'),
    client_secret: filledSecret.exactOptional().describe('Client secret.'),
    client_secret_file: filePath
      .exactOptional()
      .describe('File to read the client secret from, instead of `client_secret`.'),
    token_url: serviceUrl.describe('URL of the token endpoint.'),
    scopes: z.array(text).prefault([]).describe('Scopes to request.'),
    endpoint_params: z.record(text, secret).prefault({}).describe('Additional parameters of the token request.'),
  }),
);

/** Requires either the secret or the file that contains it. */
function withSecret<Schema extends z.ZodType>(key: string, schema: Schema): Schema {
  const fileKey = `${key}_file`;
  return crossChecked(schema, function* (value: Mapping) {
    const given = [key, fileKey].filter((name) => value[name] !== undefined);
    if (given.length === 0) yield { path: [], message: `expected ${key} or ${fileKey}, got neither` };
    if (given.length === 2)
      yield { path: [fileKey], message: `given together with ${key}, expected only one of the two`, atKey: true };
  }).meta({ oneOf: [given(key), given(fileKey)] });
}

/** The source of a regular expression for tokens other than these, in any case. */
function without(names: readonly string[], token: RegExp): string {
  return token.source.replace('^', `^(?!(?:${names.map(anyCase).join('|')})$)`);
}
