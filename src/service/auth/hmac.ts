import { createHmac } from 'node:crypto';
import * as z from 'zod';
import { filledSecret, nonEmptyText, optionalKey, secretFile, textMatching } from '../../schema/scalar-schemas.ts';
import { authScheme, encodeHeader, type SignableRequest, type Signature, withSecret } from './scheme.ts';

/** What a signature can cover, as the configuration and the service spell it. */
export const SIGNED_HEADERS = ['x-date', 'date', 'host', 'request-line', '@request-target'] as const;

type SignedHeader = (typeof SIGNED_HEADERS)[number];

/** A signed date is also sent. */
const DATE_HEADERS = ['X-Date', 'Date'] as const;

/** Signatures with an access key pair. */
export const hmac = authScheme({
  schema: withSecret(
    'secret_access_key',
    z.strictObject({
      access_key_id: textMatching(
        nonEmptyText,
        /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/,
        'expected printable ASCII without quotes and backslashes',
      ).describe('Access key ID.'),
      secret_access_key: optionalKey(filledSecret, 'Secret access key.'),
      secret_access_key_file: optionalKey(
        secretFile,
        'File to read the secret access key from, instead of `secret_access_key`.',
      ),
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
  ),
  description: 'Request signing with an access key pair.',
  setsHeaders: ['authorization', 'date', 'x-date'],
  dependsOnClock: true,
  words: () => ({
    credentials: 'the signature of hmac',
    rejected:
      'Check hmac.access_key_id, the secret access key, and whether the service expects other signed_headers. Credential files are reread automatically.',
  }),
  signer: ({ access_key_id, secret_access_key, secret_access_key_file, signed_headers }, { secretReader }) => {
    const readSecret = secretReader(secret_access_key, secret_access_key_file);
    const settings = { accessKeyId: access_key_id, signedHeaders: signed_headers };
    return { sign: async (request) => signature({ ...settings, secret: await readSecret() }, request) };
  },
});

interface SigningSettings {
  readonly accessKeyId: string;
  readonly signedHeaders: readonly SignedHeader[];
  readonly secret: string;
}

/** The signing string has one line per signed header, in the configured order. */
function signature(
  { accessKeyId, signedHeaders, secret }: SigningSettings,
  { host, pathAndQuery, nowMs }: SignableRequest,
): Signature {
  const date = new Date(nowMs).toUTCString();
  const lines: Record<SignedHeader, string> = {
    'x-date': `x-date: ${date}`,
    date: `date: ${date}`,
    host: `host: ${host}`,
    'request-line': `GET ${pathAndQuery} HTTP/1.1`,
    '@request-target': `@request-target: get ${pathAndQuery}`,
  };
  const text = signedHeaders.map((entry) => lines[entry]).join('\n');
  const signed = createHmac('sha256', secret).update(text).digest('base64');
  const value = `hmac accesskey="${accessKeyId}", algorithm="hmac-sha256", headers="${signedHeaders.join(' ')}", signature="${signed}"`;
  const dates = DATE_HEADERS.filter((name) => signedHeaders.some((entry) => entry === name.toLowerCase()));
  return {
    headers: [...dates.map((name) => [name, date] as const), encodeHeader('Authorization', value)],
    secrets: [signed, secret],
  };
}
