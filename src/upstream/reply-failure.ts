import { STATUS_CODES } from 'node:http';
import { isObject } from '../station/resource.ts';
import type { Reply } from './exchange.ts';
import { MAX_REDACTED_BYTES, redact } from './redaction.ts';
import { RequestFailure, statusReason } from './request-failure.ts';

interface ReplyContext {
  /** The server's name in the message. */
  readonly endpoint: string;
  readonly secrets: readonly string[];
  readonly nowMs: number;
  readonly hint?: string | undefined;
}

/** The failure for a reply that is not a 2xx. */
export function replyFailure(reply: Reply, { endpoint, secrets, nowMs, hint }: ReplyContext): RequestFailure {
  const { status, headers } = reply;
  const answer = `${endpoint} answered ${[status, STATUS_CODES[status]].join(' ').trim()}`;
  const excerpt = redactedExcerpt(replyText(reply), secrets);
  const message = [`${answer}: ${excerpt}`, ...(hint === undefined ? [] : [hint])].join('; ');
  const waitMs = retryAfterMs(headers['retry-after'], nowMs);
  const retryable = status === 408 || status === 429 || status >= 500;
  return new RequestFailure(statusReason(status), message, {
    retryable,
    retryAfterMs: waitMs,
    unauthorized: status === 401,
    throttled: status === 429,
    tooLarge: status === 413,
  });
}

function replyText({ status, headers, body }: Reply): string {
  if (status >= 300 && status < 400) return `redirects are not followed (location: ${headers['location'] ?? 'none'})`;
  return headers['content-encoding'] === undefined ? describeErrorBody(body) : 'body with a content-encoding, not shown';
}

const MAX_EXCERPT_LENGTH = 200;
const MAX_DETAILS = 3;

/** The code and message of an error reply's body, or its text; an HTML page is named, not shown. */
export function describeErrorBody(body: Buffer): string {
  const text = body.toString().trim();
  if (text === '') return 'empty body';
  if (text.startsWith('<')) return `an HTML or XML page (${body.length} bytes), possibly from a proxy`;
  return statusText(parseJson(text)) ?? text;
}

/** The text as one line of bounded length, with the secrets redacted. */
export function redactedExcerpt(text: string, secrets: readonly string[]): string {
  const start = redact(text, secrets);
  const line = start.replace(/\s+/g, ' ').replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '');
  // A removed character may have split a secret.
  const characters = [...(line === start ? line : redact(line, secrets))];
  const isComplete = characters.length <= MAX_EXCERPT_LENGTH && Buffer.byteLength(text) <= MAX_REDACTED_BYTES;
  return isComplete ? characters.join('') : `${characters.slice(0, MAX_EXCERPT_LENGTH).join('')}…`;
}

/** Reads google.rpc.Status, the same under `error`, OAuth's error pair, or a plain message; undefined for any other shape. */
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

/** The value as text; empty when it is neither text nor a number. */
function printable(value: unknown): string[] {
  if (typeof value === 'number') return [String(value)];
  return typeof value === 'string' && value !== '' ? [value] : [];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/** Longer waits are unrealistic; the limit also stays below the longest delay of a timer. */
const MAX_WAIT_MS = 24 * 60 * 60 * 1000;

/** The delay of a `Retry-After` header in seconds or as an HTTP date; undefined when it is missing or invalid. */
export function retryAfterMs(header: string | readonly string[] | undefined, nowMs: number): number | undefined {
  const text = [header].flat()[0]?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text) * 1000, MAX_WAIT_MS);
  const dateMs = httpDateMs(text);
  return dateMs === undefined ? undefined : Math.min(Math.max(dateMs - nowMs, 0), MAX_WAIT_MS);
}

/** Parses an HTTP date in any of its three formats (asctime has no zone, which is always GMT). */
export function httpDateMs(text: string): number | undefined {
  if (!HTTP_DATE.test(text)) return undefined;
  const timeMs = Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}
