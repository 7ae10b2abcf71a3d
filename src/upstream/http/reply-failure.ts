import { STATUS_CODES } from 'node:http';
import type { FailureReason } from '../../model/failure.ts';
import { isObject } from '../../model/resource.ts';
import type { Reply } from './exchange.ts';
import { safeExcerpt } from './redaction.ts';
import { RequestFailure } from './request-failure.ts';

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
  const excerpt = safeExcerpt(replyText(reply), secrets);
  const message = [`${answer}: ${excerpt}`, ...(hint === undefined ? [] : [hint])].join('; ');
  return new RequestFailure(REASONS.get(status) ?? 'status', message, {
    retryable: status === 408 || status === 429 || status >= 500,
    retryAfterMs: retryAfterMs(headers['retry-after'], nowMs),
    unauthorized: status === 401,
    throttled: status === 429,
    overloaded: status === 503,
    tooLarge: status === 413,
  });
}

const REASONS: ReadonlyMap<number, FailureReason> = new Map([
  [401, 'auth'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [429, 'rate_limited'],
]);

function replyText({ status, headers, body }: Reply): string {
  if (status >= 300 && status < 400) return `redirects are not followed (location: ${headers['location'] ?? 'none'})`;
  return headers['content-encoding'] === undefined
    ? describeErrorBody(body)
    : 'body with a content-encoding, not shown';
}

/** The code and message of an error reply's body, or its text; an HTML page is named, not shown. */
export function describeErrorBody(body: Buffer): string {
  const text = body.toString().trim();
  if (text === '') return 'empty body';
  if (text.startsWith('<')) return `an HTML or XML page (${body.length} bytes), possibly from a proxy`;
  return statusText(parseJson(text)) ?? text;
}

const MAX_DETAILS = 3;

/** Reads google.rpc.Status, the same under `error`, OAuth's error pair, or a plain message; undefined for any other shape. */
function statusText(json: unknown): string | undefined {
  const status = isObject(json) && isObject(json['error']) ? json['error'] : json;
  if (!isObject(status)) return undefined;
  const reasons = (Array.isArray(status['details']) ? status['details'] : [])
    .flatMap((detail) => (isObject(detail) ? scalarText(detail['reason']) : []))
    .slice(0, MAX_DETAILS)
    .map((reason) => `reason ${reason}`);
  const code = scalarText(status['code']).map((value) => `code ${value}`);
  const words = [status['message'], status['error'], status['error_description']].flatMap(scalarText);
  const parts = [[...code, ...reasons].join(', '), words.join(', ')].filter((part) => part !== '');
  return parts.length === 0 ? undefined : parts.join(': ');
}

/** Empty when the value is neither text nor a number. */
function scalarText(value: unknown): string[] {
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

/** The longest delay that is obeyed. */
const MAX_RETRY_AFTER_MS = 600_000;

/** The delay of a `Retry-After` header in seconds or as an HTTP date; undefined when it is missing or invalid. */
export function retryAfterMs(header: string | readonly string[] | undefined, nowMs: number): number | undefined {
  const text = [header].flat()[0]?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text) * 1000, MAX_RETRY_AFTER_MS);
  const dateMs = httpDateMs(text);
  return dateMs === undefined ? undefined : Math.min(Math.max(dateMs - nowMs, 0), MAX_RETRY_AFTER_MS);
}

/** Parses an HTTP date in any of its three formats (asctime has no zone, which is always GMT). */
export function httpDateMs(text: string): number | undefined {
  if (!HTTP_DATE.test(text)) return undefined;
  const timeMs = Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}
