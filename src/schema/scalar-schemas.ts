import * as z from 'zod';
import { MAX_TIMER_MS } from '../model/clock.ts';
import { quoted } from '../text/quoted.ts';
import { HIDDEN, Secret } from './secret.ts';
import { DURATION_PATTERN, formatDuration, formatSize, parseDuration, parseSize, SIZE_PATTERN } from './units.ts';

/** A token of RFC 9110: a header name or an authentication scheme. */
export const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;

/** Rejects credentials in the URL, because URLs are shown and the authentication keys are not. */
export const serviceUrl = url(({ username, password, pathname }, input) => {
  if (username !== '' || password !== '') return 'expected a URL without user and password; use basic_auth instead';
  if (/[?#]/.test(input)) return 'expected a URL without query and fragment';
  const [own] = INTERFACE_PATH.exec(pathname) ?? [];
  return own && `expected the URL without ${own}, the path of the interface, which the exporter appends`;
});

/** As documentation of the service shows it, complete or only its beginning. */
const INTERFACE_PATH = /\/monitor\/ts\/data(\/v1(\/subscriptions(\/.*)?)?)?\/?$/;

export const tokenUrl = url(({ username, password }, input) => {
  if (username !== '' || password !== '')
    return 'expected a URL without user and password; use client_id and client_secret';
  return input.includes('#') ? 'expected a URL without fragment' : undefined;
});

export const proxyUrl = url(({ username, password, pathname }, input) => {
  if (pathname !== '/' || /[?#]/.test(input)) return 'expected a URL without path, query and fragment';
  return isPercentEncoded(username + password)
    ? undefined
    : 'invalid percent-encoding in the user or password, expected %25 for a literal %';
});

/** No message shows the input, which may contain a password. */
function url(problemOf: (parsed: URL, input: string) => string | undefined) {
  const form = z.string({ error: 'an http or https URL' }).meta({ title: 'URL' });
  const decode = (input: string, fail: Fail) => {
    if (!/^https?:\/\//i.test(input)) return fail('must begin with http:// or https://');
    if (!URL.canParse(input)) return fail('expected an http or https URL such as https://host:8443');
    const parsed = new URL(input);
    const problem = problemOf(parsed, input);
    return problem === undefined ? parsed : fail(problem);
  };
  // Not `value.href`: zod also encodes an absent key, where `value` is undefined. The user is hidden too: some proxies take a key in its place.
  const encode = (value: URL) => `${value}`.replace(/(?<=^https?:\/\/)[^@/]*@/, `${HIDDEN}@`);
  return codecOf(form, z.instanceof(URL), decode, encode);
}

/** Reports what is wrong with the text. */
export type Fail = (problem: string) => never;

export function codecOf<Form extends z.ZodType<string | number, string | number>, Value extends number | object>(
  form: Form,
  value: z.ZodType<Value, Value>,
  decode: (input: string, fail: Fail) => Value,
  encode: (value: Value) => string,
) {
  return z.codec(form, value, {
    decode: (input, { issues }) =>
      decode(`${input}`, (message) => {
        issues.push({ code: 'custom', input, message });
        return z.NEVER;
      }),
    encode: encode as (value: Value) => z.output<Form>,
  });
}

function isPercentEncoded(input: string): boolean {
  try {
    decodeURIComponent(input);
    return true;
  } catch {
    return false;
  }
}

/** For the JSON Schema: editors see `${NAME}` where the environment will put the text. */
function editorPattern(source: string): string {
  return `${source}|\\$\\{`;
}

export const nonEmptyText = z.string().min(1, { error: 'a non-empty string' });

/** What a text is: warnings and the documentation read it in the schema. */
export const TITLES = { secret: 'secret', secretFile: 'file', pemFile: 'PEM file' } as const;

/** A file that contains a secret of one line. */
export const secretFile = nonEmptyText.meta({ title: TITLES.secretFile });

/** A file that contains certificates or a key. */
export const pemFile = nonEmptyText.meta({ title: TITLES.pemFile });

/** TLS versions, oldest first: the names used in Prometheus configuration files, with those of Node. */
export const TLS_VERSIONS = { TLS10: 'TLSv1', TLS11: 'TLSv1.1', TLS12: 'TLSv1.2', TLS13: 'TLSv1.3' } as const;

export const tlsVersion = z.enum(keysOf(TLS_VERSIONS));

export function optionalKey<Schema extends z.ZodType>(schema: Schema, help: string) {
  return schema.exactOptional().describe(help);
}

export const duration = durationBetween(0, Number.MAX_SAFE_INTEGER);

/** A delay that a timer can hold, including 0. */
export const timerDuration = durationBetween(0, MAX_TIMER_MS);

/** A timeout: a delay that a timer can hold, excluding 0. */
export const timeoutDuration = durationBetween(1, MAX_TIMER_MS);

export const size = codecOf(
  z.string({ error: 'a size such as 16MiB or 1MB' }).meta(formOf('size', SIZE_PATTERN)),
  z.number(),
  (input, fail) => {
    const bytes = parseSize(input);
    if (bytes) return bytes;
    const whole = SIZE_PATTERN.test(input) ? ' in whole bytes' : '';
    return fail(`expected a size${whole} such as 16MiB or 1MB, got ${quoted(input)}`);
  },
  formatSize,
);

const SECRET = { title: TITLES.secret };

export const secret = secretFrom(z.string());

export const filledSecret = secretFrom(nonEmptyText);

export const headerSecret = secretFrom(sentText(nonEmptyText.meta(SECRET)));

export const headerValue = sentText(z.string());

/** Not `z.int`: it aborts the cross-checks of the surrounding mappings. */
export function integer(min: number, max?: number) {
  const error = `an integer ${max === undefined ? `of at least ${min}` : `from ${min} to ${max}`}`;
  const number = z.number({ error }).multipleOf(1, { error }).min(min, { error }).meta({ type: 'integer' });
  return max === undefined ? number : number.max(max, { error });
}

function durationBetween(min: number, max: number) {
  const error = 'a duration such as 90s, 1h30m or 250ms';
  const written = { type: 'string', ...formOf('duration', DURATION_PATTERN) };
  // Any number, so that the message about one without a unit shows it.
  const form = z.union([z.string(), z.number()], { error });
  const meta = { title: 'duration', anyOf: min > 0 ? [written] : [written, { type: 'number', const: 0 }] };
  const decode = (input: string, fail: Fail) => {
    const ms = parseDuration(input);
    const got = `got ${quoted(input)}`;
    const unit = DURATION_PATTERN.test(input) ? ' in whole milliseconds' : '';
    const meant = parseDuration(`${input}s`) === undefined ? '' : `; did you mean ${input}s?`;
    if (ms === undefined) return fail(`expected a duration${unit} such as 90s, 1h30m or 250ms, ${got}${meant}`);
    if (ms < min) return fail(`expected more than 0, ${got}`);
    return ms <= max ? ms : fail(`expected at most ${formatDuration(max)}, ${got}`);
  };
  return codecOf(form.meta(meta), z.number(), decode, formatDuration);
}

/** How the JSON Schema describes the form of the text. */
function formOf(title: string, { source }: RegExp) {
  return { title, pattern: editorPattern(source) };
}

/** Whether a header of requests can have this value, which is sent as UTF-8: a lone surrogate has no bytes there. */
export function isHeaderText(value: string): boolean {
  return /^(?:\t|\P{Cc})*$/u.test(value) && value.isWellFormed();
}

function sentText(form: z.ZodString): z.ZodString {
  const error = 'expected valid Unicode without line breaks and other control characters';
  return textMatching(form, /^[^\r\n]*$/, error, isHeaderText);
}

/** A text of the pattern, or of a stricter check that JSON Schema cannot express. */
export function textMatching(
  form: z.ZodString,
  pattern: RegExp,
  error: string | ((input: string) => string),
  isValid = (input: string) => pattern.test(input),
): z.ZodString {
  const errorOf = typeof error === 'string' ? error : (issue: { readonly input?: unknown }) => error(`${issue.input}`);
  return form.refine(isValid, { error: errorOf }).meta({ pattern: editorPattern(pattern.source) });
}

function secretFrom(form: z.ZodString) {
  return z.codec(form.meta(SECRET), z.instanceof(Secret), {
    decode: (input) => new Secret(input),
    encode: () => HIDDEN,
  });
}

export function keysOf<Table extends object>(table: Table): (keyof Table & string)[] {
  return Object.keys(table) as (keyof Table & string)[];
}
