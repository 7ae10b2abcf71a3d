import { STATUS_CODES } from 'node:http';
import type { Reply } from './exchange.ts';
import { isObject } from './record.ts';
import { RequestFailure, statusReason } from './request-failure.ts';

interface ReplyContext {
  /** How the message calls the other side. */
  readonly peer: string;
  readonly secrets: readonly string[];
  readonly nowMs: number;
  readonly hint?: string | undefined;
}

/** The failure that a reply other than a success stands for. */
export function replyFailure(reply: Reply, { peer, secrets, nowMs, hint }: ReplyContext): RequestFailure {
  const { status, headers } = reply;
  const answer = `${peer} answered ${[status, STATUS_CODES[status]].join(' ').trim()}`;
  const said = redactedExcerpt(replyText(reply), secrets);
  const message = [`${answer}: ${said}`, ...(hint === undefined ? [] : [hint])].join('; ');
  const waitMs = retryAfterMs(headers['retry-after'], nowMs);
  const retryable = status === 408 || status === 429 || status >= 500;
  return new RequestFailure(statusReason(status), message, {
    retryable,
    retryAfterMs: waitMs,
    unauthorized: status === 401,
    throttled: status === 429 || (retryable && waitMs !== undefined),
    // A gateway whose message limit a page exceeds answers 429 as well, but cannot say when to come back.
    tooLarge: status === 413 || (status === 429 && waitMs === undefined),
  });
}

function replyText({ status, headers, body }: Reply): string {
  if (status >= 300 && status < 400) return `redirects are not followed, this one leads to ${headers['location'] ?? 'nowhere'}`;
  return headers['content-encoding'] === undefined ? describeErrorBody(body) : 'encoded body';
}

const MAX_PRINTED = 200;
const MAX_DETAILS = 3;

/** What the body of an error reply says, in a few words; pages made for people are named, not shown. */
export function describeErrorBody(body: Buffer): string {
  const text = body.toString().trim();
  if (text === '') return 'empty body';
  if (text.startsWith('<')) return `a page of HTML or XML (${body.length} bytes), perhaps from a proxy in between`;
  return statusText(parsed(text)) ?? text;
}

/** A foreign text as a message may show it: one bounded line, without the secrets. */
export function redactedExcerpt(text: string, secrets: readonly string[]): string {
  const line = withoutSecrets(text, secrets)
    .replace(/\s+/g, ' ')
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '')
    .toWellFormed();
  // Once more: what was taken out may have stood inside a secret.
  const characters = [...withoutSecrets(line, secrets)];
  return characters.length <= MAX_PRINTED ? characters.join('') : `${characters.slice(0, MAX_PRINTED).join('')}…`;
}

/** google.rpc.Status, the same under `error`, OAuth's error pair, or a bare message; undefined for any other shape. */
function statusText(json: unknown): string | undefined {
  const status = isObject(json) && isObject(json['error']) ? json['error'] : json;
  if (!isObject(status)) return undefined;
  const reasons = (Array.isArray(status['details']) ? status['details'] : [])
    .flatMap((detail) => (isObject(detail) ? printable(detail['reason']) : []))
    .slice(0, MAX_DETAILS)
    .map((reason) => `reason ${reason}`);
  const code = printable(status['code']).map((value) => `code ${value}`);
  const words = [status['message'], status['error'], status['error_description']].flatMap(printable);
  const parts = [[...code, ...reasons].join(', '), words.join(', ')].filter((part) => part !== '');
  return parts.length === 0 ? undefined : parts.join(': ');
}

/** The value alone when it can be printed as it is, else nothing. */
function printable(value: unknown): string[] {
  if (typeof value === 'number') return [String(value)];
  return typeof value === 'string' && value !== '' ? [value] : [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** As it is and as JSON writes it; the longest first, so that a secret within another one does not leave the rest of it behind. */
function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .filter((secret) => secret !== '')
    .toSorted((a, b) => b.length - a.length)
    .reduce((rest, secret) => rest.replaceAll(secret, '<secret>'), text);
}

const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/** No wait that a service asks for is longer; it also keeps an absurd number within what a timer can hold. */
const MAX_WAIT_MS = 24 * 60 * 60 * 1000;

/** How long a `Retry-After` header asks to wait, from seconds or an HTTP date; undefined when it says nothing usable. */
export function retryAfterMs(header: string | readonly string[] | undefined, nowMs: number): number | undefined {
  const text = [header].flat()[0]?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text) * 1000, MAX_WAIT_MS);
  const dateMs = httpDateMs(text);
  return dateMs === undefined ? undefined : Math.min(Math.max(dateMs - nowMs, 0), MAX_WAIT_MS);
}

/** The time an HTTP date names, in any of its three forms (the oldest one leaves out its zone, which is always GMT). */
export function httpDateMs(text: string): number | undefined {
  if (!HTTP_DATE.test(text)) return undefined;
  const timeMs = Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}
