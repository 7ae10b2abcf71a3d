import * as z from 'zod';
import { MAX_TIMER_MS } from '../station/clock.ts';
import { quoted } from './problem.ts';
import { HIDDEN, Secret } from './secret.ts';
import { DURATION_PATTERN, formatDuration, formatSize, parseDuration, parseSize, SIZE_PATTERN } from './units.ts';

/** An address of the service: credentials belong into the keys that are made for them, because those are never shown. */
export const serviceUrl = urlWithout(serviceUrlProblem, (href) => href);

export const proxyUrl = urlWithout(proxyUrlProblem, (href) => href.replace(/:[^:@/]*@/, `:${HIDDEN}@`));

function urlWithout(problemOf: (input: string) => string | undefined, shown: (href: string) => string) {
  return z.codec(z.string({ error: 'an http or https URL' }).meta({ title: 'URL' }), z.instanceof(URL), {
    decode: (input, { issues }) => {
      const message = problemOf(input);
      if (message === undefined) return new URL(input);
      issues.push({ code: 'custom', input, message });
      return z.NEVER;
    },
    // Not `href`: a key that is absent is encoded too, before it is left out.
    encode: (url) => shown(`${url}`),
  });
}

function serviceUrlProblem(input: string): string | undefined {
  if (!isHttpUrl(input)) return 'found a string that is no http or https URL, expected one such as https://host:8443';
  const { username, password } = new URL(input);
  if (username !== '' || password !== '') return 'found a URL with a user or a password, expected none: use basic_auth';
  return /[?#]/.test(input) ? 'found a URL with a query or a fragment, expected neither' : undefined;
}

function proxyUrlProblem(input: string): string | undefined {
  if (!isHttpUrl(input)) return 'found a string that is no http or https URL, expected one such as https://host:8443';
  const { username, password, pathname } = new URL(input);
  if (pathname !== '/' || /[?#]/.test(input)) return 'found a URL with a path, a query or a fragment, expected none of them';
  return isPercentEncoded(username + password) ? undefined : 'found a stray % in the user or the password, expected %25 for it';
}

function isHttpUrl(input: string): boolean {
  return /^https?:\/\//i.test(input) && URL.canParse(input);
}

function isPercentEncoded(input: string): boolean {
  try {
    decodeURIComponent(input);
    return true;
  } catch {
    return false;
  }
}

const headerValueProblem = 'found a character that a header cannot carry, expected printable Latin-1 characters, spaces and tabs';

export const text = z.string().min(1, { error: 'a string that is not empty' });

export const filePath = text.meta({ title: 'file' });

/** TLS versions, oldest first: the names used in Prometheus configuration files, with those of Node. */
export const TLS_VERSIONS = { TLS10: 'TLSv1', TLS11: 'TLSv1.1', TLS12: 'TLSv1.2', TLS13: 'TLSv1.3' } as const;

export const tlsVersion = z.enum(namesOf(TLS_VERSIONS));

/** Of any length, 0 included. */
export const duration = durationBetween(0, Number.MAX_SAFE_INTEGER);

/** What a timer may wait for, 0 included. */
export const timerDuration = durationBetween(0, MAX_TIMER_MS);

/** What must come to an end, but not before it began. */
export const timeoutDuration = durationBetween(1, MAX_TIMER_MS);

export const size = z.codec(textOf('size', SIZE_PATTERN, 'a size such as 16MiB or 1MB'), z.number(), {
  decode: (input, { issues }) => {
    const bytes = parseSize(input);
    if (bytes !== undefined && bytes > 0) return bytes;
    issues.push({ code: 'custom', input, message: `found ${quoted(input)}, expected a size of whole bytes such as 16MiB or 1MB` });
    return z.NEVER;
  },
  encode: formatSize,
});

export const secret = secretFrom(z.string());

export const filledSecret = secretFrom(text);

/** A secret that is sent as the value of a header, or as part of one. */
export const headerSecret = secretFrom(text.refine(isHeaderValue, { error: headerValueProblem }));

export const headerValue = z.string().refine(isHeaderValue, { error: headerValueProblem });

/** Not `z.int`: it stops the cross-checks of every mapping around it. */
export function wholeNumber(min: number, max?: number) {
  const error = `a whole number ${max === undefined ? `of at least ${min}` : `from ${min} to ${max}`}`;
  const number = z.number({ error }).multipleOf(1, { error }).min(min, { error }).meta({ type: 'integer' });
  return max === undefined ? number : number.max(max, { error });
}

function durationBetween(min: number, max: number) {
  const error = 'a duration such as 90s, 1h30m or 250ms';
  const form = z.union([textOf('duration', DURATION_PATTERN, error), z.literal(0, { error })], { error });
  return z.codec(form.meta({ title: 'duration' }), z.number(), {
    decode: (input, { issues }) => {
      const ms = parseDuration(`${input}`);
      if (ms !== undefined && ms >= min && ms <= max) return ms;
      issues.push({ code: 'custom', input, message: `found ${quoted(`${input}`)}, expected ${expectedDuration(ms, min, max)}` });
      return z.NEVER;
    },
    encode: formatDuration,
  });
}

function expectedDuration(ms: number | undefined, min: number, max: number): string {
  if (ms === undefined) return 'a duration of whole milliseconds such as 90s, 1h30m or 250ms';
  return ms < min ? 'more than 0' : `at most ${formatDuration(max)}`;
}

/** The pattern is for editors, which see `${NAME}` where the environment will put the text. */
function textOf(title: string, pattern: RegExp, error: string) {
  return z.string({ error }).meta({ title, pattern: `${pattern.source}|\\$\\{` });
}

function secretFrom(form: z.ZodString) {
  return z.codec(form.meta({ title: 'secret' }), z.instanceof(Secret), { decode: (input) => new Secret(input), encode: () => HIDDEN });
}

function isHeaderValue(value: string): boolean {
  return /^[\t\x20-\x7e\x80-\xff]*$/.test(value);
}

export function namesOf<Table extends object>(table: Table): (keyof Table & string)[] {
  return Object.keys(table) as (keyof Table & string)[];
}
