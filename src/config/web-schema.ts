import * as z from 'zod';
import { isMapping } from './cross-check.ts';
import { duration, headerValue, wholeNumber } from './scalar-schemas.ts';
import { tlsServer } from './web-tls-schema.ts';

/** Those that the toolkit lets an operator set. */
const headers = z.strictObject({
  'Content-Security-Policy': headerValue.exactOptional(),
  'Strict-Transport-Security': headerValue.exactOptional(),
  'X-Content-Type-Options': z.enum(['nosniff']).exactOptional(),
  'X-Frame-Options': z.enum(['deny', 'sameorigin']).exactOptional(),
  'X-XSS-Protection': headerValue.exactOptional(),
});

const BCRYPT = /^\$2[aby]\$(?:0[4-9]|[12]\d|3[01])\$[./A-Za-z\d]{21}[.Oeu][./A-Za-z\d]{30}[.CGKOSWaeimquy26]$/;

/** Its message never shows what was found. */
const bcryptHash = z.string({ error: 'a bcrypt hash' }).refine((hash) => BCRYPT.test(hash), {
  error: 'found something else, expected a bcrypt hash such as `htpasswd -nB` makes',
});

/** The web configuration file, in the format that the exporters of the Prometheus project share. */
export const webConfigSchema = sparse(
  z.strictObject({
    tls_server_config: sparse(tlsServer, [null, '']).prefault({}),
    http_server_config: sparse(
      z.strictObject({
        // Only for the sake of existing files: what is spoken is HTTP/1.1.
        http2: z.boolean().prefault(true),
        headers: sparse(headers, [null, '']).prefault({}),
      }),
    ).prefault({}),
    basic_auth_users: z.record(z.string(), bcryptHash).prefault({}),
    rate_limit: sparse(z.strictObject({ interval: duration.prefault(0), burst: wholeNumber(0).prefault(0) })).prefault({}),
  }),
);

export type WebConfig = z.output<typeof webConfigSchema>;

/** As the toolkit reads it: a key without a value is a key left out. */
function sparse<Schema extends z.ZodType>(schema: Schema, blanks: readonly unknown[] = [null]) {
  return z.preprocess((value) => {
    if (!isMapping(value)) return value ?? {};
    return Object.fromEntries(Object.entries(value).filter(([, inner]) => !blanks.includes(inner)));
  }, schema);
}
