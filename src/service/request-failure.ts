import { STATUS_CODES } from 'node:http';
import { clockDifferenceText, isNotableClockDifference } from '../model/clock.ts';
import { type FailureDetails, type FailureReason, ListingFailure } from '../model/failure.ts';
import { isObject } from '../model/values.ts';
import { safeExcerpt } from './redaction.ts';

interface RequestFailureOptions extends FailureDetails, ErrorOptions {
  /** The same request may succeed later. */
  readonly retryable?: boolean;
  /** The minimum delay that the service requested. */
  readonly retryAfterMs?: number | undefined;
  /** The status of the service's reply. */
  readonly status?: number | undefined;
  /** A 401, after which the credentials have been obtained again. */
  readonly isExpired?: boolean;
}

/** One request failed for a reason outside this process; the properties decide whether and how it is retried. */
export class RequestFailure extends ListingFailure {
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly isExpired: boolean;

  constructor(
    reason: FailureReason,
    message: string,
    { retryable = false, retryAfterMs, isExpired = false, ...options }: RequestFailureOptions = {},
  ) {
    super(reason, message, options);
    this.retryable = retryable;
    this.retryAfterMs = retryAfterMs;
    this.isExpired = isExpired;
  }

  /** The same failure with other properties. */
  with({
    reason = this.reason,
    message = this.message,
    ...options
  }: RequestFailureOptions & Partial<Pick<RequestFailure, 'reason' | 'message'>>): RequestFailure {
    const { retryable, retryAfterMs, isExpired, status, details, cause } = this;
    const same = { retryable, retryAfterMs, isExpired, status, cause, ...details };
    return new RequestFailure(reason, message, { ...same, ...options });
  }
}

interface TransportContext extends FailureDetails {
  /** The server's name in the message. */
  readonly endpoint: string;
  readonly secrets?: readonly string[];
}

/** Translates errors of sockets, TLS and HTTP; any other error is a bug and is returned as it is. */
export function transportFailure<E>(
  error: E,
  { endpoint, secrets = [], ...details }: TransportContext,
): E | RequestFailure {
  const reason = errorReason(error);
  if (error instanceof RequestFailure || reason === undefined) return error;
  if (isHttp2(error)) {
    const cause = Object.assign(new Error('HTTP/2'), { code: 'ERR_HTTP2_ERROR' });
    return new RequestFailure('network', `${endpoint}: expected HTTP/1.1, got HTTP/2`, { cause, ...details });
  }
  // The parser's error contains the reply, which may repeat a secret.
  const cause = error instanceof Error && error.name === PARSER_ERROR ? undefined : error;
  // The text may contain names of the service's certificate.
  const message = `${endpoint}: ${safeExcerpt(errorText(error), secrets)}`;
  return new RequestFailure(reason, message, { retryable: reason !== 'tls', cause, ...details });
}

const TIMEOUT = /^(ETIMEDOUT|ERR_SOCKET_CONNECTION_TIMEOUT|UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT)$/;

/** OpenSSL's verification, handshake and key errors, and those of Node, which has no code of its own for some (UNSPECIFIED). */
const TLS =
  /^(EPROTO$|ERR_(TLS|SSL|OSSL)_|CERT_|CRL_|UNABLE_TO_|ERROR_IN_C|DEPTH_ZERO_|SELF_SIGNED_|INVALID_(CA|PURPOSE)$|PATH_LENGTH_|HOSTNAME_MISMATCH$|UNSPECIFIED$)/;

/** The name of the errors of undici's parser. */
const PARSER_ERROR = 'HTTPParserError';

/** Types of the frames that an HTTP/2 server sends before any request. */
const SETTINGS = 4;
const GOAWAY = 7;

/** What came instead of a reply is a frame of HTTP/2: its length in three bytes, type, flags, and stream 0 in four bytes. */
function isHttp2(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== PARSER_ERROR || !('data' in error)) return false;
  const [length, , , type, , ...stream] = Buffer.from(`${error.data}`).subarray(0, 9);
  const isOfConnection = stream.length === 4 && stream.every((byte) => byte === 0);
  return length === 0 && (type === SETTINGS || type === GOAWAY) && isOfConnection;
}

/** Socket and DNS errors of the system, and replies that are not HTTP, that undici considers impossible, or that end too early. */
const NETWORK =
  /^(E[A-Z0-9]+$|EAI_|ERR_ASSERTION$|HTTPParserError$|UND_ERR_(SOCKET|HEADERS_OVERFLOW|RES_CONTENT_LENGTH_MISMATCH)$)/;

/** The reason for an error of a connection or request; undefined when it has none outside this process. */
export function errorReason(error: unknown): Extract<FailureReason, 'timeout' | 'tls' | 'network'> | undefined {
  for (let link = error; link instanceof Error; link = link.cause) {
    // Errors of undici's parser have no code.
    const code = 'code' in link && link.code ? String(link.code) : link.name;
    if (TIMEOUT.test(code)) return 'timeout';
    if (TLS.test(code)) return 'tls';
    if (NETWORK.test(code)) return 'network';
  }
  return undefined;
}

/** The error's message; a failed connection to several addresses only has those of its attempts. */
export function errorText(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(errorText).join('; ');
  // OpenSSL's message is a log line with memory addresses and source positions.
  if (error instanceof Error && 'library' in error && 'reason' in error) return `${error.library}: ${error.reason}`;
  return error instanceof Error ? error.message : String(error);
}

/**
 * A reply that ends too early although HTTP calls it complete: the same as a connection that is closed early. nginx passes such replies on,
 * because it speaks HTTP/1.0 to its upstream by default, where the end of the connection is the end of the body.
 */
export function cutReply(bytes: number): RequestFailure {
  const cause = Object.assign(new Error('unexpected end of the reply'), { code: 'ERR_REPLY_CUT' });
  return new RequestFailure('network', `the reply ends in the middle, after ${bytes} bytes`, {
    retryable: true,
    cause,
  });
}

/** A reply, with the part of its body that was read. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

interface ReplyContext {
  /** The server's name in the message. */
  readonly endpoint: string;
  readonly secrets: readonly string[];
  readonly nowMs: number;
  /** How far the local clock is ahead of the server's, where that may be why the request was rejected. */
  readonly clockDifferenceMs?: number | undefined;
  /** Of the request, for a reply that does not know it. */
  readonly path?: string;
}

/** What gRPC libraries say of a page above their limit. Gateways send it as 429, because its code is also that of a quota. */
const MESSAGE_TOO_LARGE =
  /\bmessage (after decompression |that decompresses to a size |size \d+ is |length )?(larger than|exceeds|too large)/i;

/** The code of gRPC for Rust beside these words. */
const OUT_OF_RANGE = 11;

/** The failure for a reply that is not a 2xx. */
export function replyFailure(
  reply: Reply,
  { endpoint, secrets, nowMs, clockDifferenceMs, path }: ReplyContext,
): RequestFailure {
  const { body } = reply;
  const answer = `${endpoint} answered ${[reply.status, STATUS_CODES[reply.status]].join(' ').trim()}`;
  const details = bodyDetails(body);
  const mayBeTooLarge = reply.status === 429 || details.rpcCode === OUT_OF_RANGE;
  const status = mayBeTooLarge && MESSAGE_TOO_LARGE.test(body.toString()) ? 413 : reply.status;
  const excerpt = safeExcerpt(replyText(reply, secrets), secrets);
  const requested =
    status === 404 && path !== undefined ? `; requested ${safeExcerpt(path, secrets, MAX_PATH_LENGTH)}` : '';
  const message = `${answer}: ${excerpt}${clockHint(clockDifferenceMs)}${requested}`;
  return new RequestFailure(REASONS.get(status) ?? 'status', message, {
    retryable: RETRYABLE.has(status) || (status >= 500 && status !== 501),
    retryAfterMs: retryAfterMs(retryAfterOf(reply), nowMs),
    status,
    clockDifferenceMs,
    ...details,
  });
}

/** Enough for a path with four names of usual length. */
const MAX_PATH_LENGTH = 300;

/** Aborted, cancelled or throttled: 409 and 499 are what gateways make of gRPC's ABORTED and CANCELLED. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 409, 429, 499]);

/** A common cause of rejected signatures. */
function clockHint(differenceMs = 0): string {
  return isNotableClockDifference(differenceMs)
    ? `; the local clock is ${clockDifferenceText(differenceMs)} the service's, which is enough to invalidate signatures`
    : '';
}

const REASONS: ReadonlyMap<number, FailureReason> = new Map([
  [401, 'auth'],
  [403, 'forbidden'],
  [404, 'not_found'],
  [429, 'rate_limited'],
]);

function replyText({ status, headers, body }: Reply, secrets: readonly string[]): string {
  if (status >= 300 && status < 400) return `redirects are not followed (location: ${headers['location'] ?? 'none'})`;
  const coding = headers['content-encoding'];
  if (coding !== undefined) return `body with content-encoding ${coding}, not shown`;
  const challenge = headers['www-authenticate'];
  return body.length === 0 && challenge !== undefined ? `${challenge}` : describeErrorBody(body, secrets);
}

/** The code and message of an error reply's body, or its text; of an HTML page only the title, or else its first heading. */
export function describeErrorBody(body: Buffer, secrets: readonly string[] = []): string {
  const text = body.toString().trim();
  if (text === '') return 'empty body';
  if (!text.startsWith('<')) return replyMessage(parseJson(text)) ?? text;
  const title = htmlTitle(text, secrets);
  return `an HTML or XML page (${body.length} bytes)${title === undefined ? ', possibly from a proxy' : `: ${title}`}`;
}

/** The title of an HTML page, or else its first heading: often what a proxy has to say. */
export function htmlTitle(html: string, secrets: readonly string[]): string | undefined {
  const title = [TITLE, HEADING].map((pattern) => plainText(pattern.exec(html)?.[1] ?? '')).find(Boolean);
  return title && safeExcerpt(title, secrets, MAX_TITLE_LENGTH);
}

export function isMarkup(body: Buffer): boolean {
  return body.toString().trimStart().startsWith('<');
}

const MAX_TITLE_LENGTH = 100;

const TITLE = /<title\b[^<>]*>([^<]*)/i;

const HEADING = /<h1\b[^<>]*>(.{0,1000}?)<\/h1/is;

/** The text of a piece of HTML. */
function plainText(html: string): string {
  const text = html.replace(/<[^<>]*>/g, ' ').replace(/&(#?\w+);/g, (entity, name) => characterOf(name) ?? entity);
  return text.replace(/\s+/g, ' ').trim();
}

function characterOf(entity: string): string | undefined {
  if (!entity.startsWith('#')) return ENTITIES[entity];
  const code = Number(entity.slice(1).replace(/^x/i, '0x'));
  return code > 0 && code <= MAX_CODE_POINT ? String.fromCodePoint(code) : undefined;
}

const MAX_CODE_POINT = 0x10ffff;

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

const HTML = /^(<\?xml[^>]*>\s*)?<(!doctype html|html|head|title|body|h1)\b/i;

/** The codes of gRPC, from 1. */
const RPC_CODES: readonly string[] = [
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
];

/** What kind of server wrote the body. */
function bodyDetails(body: Buffer): Pick<FailureDetails, 'isJson' | 'isHtml' | 'rpcCode'> {
  const text = body.toString().trim();
  const json = parseJson(text);
  if (json === undefined) return { isJson: false, isHtml: HTML.test(text) };
  return { isJson: true, rpcCode: rpcCodeOf(rpcStatus(json)) };
}

/** As a number, or by its name: in `status` beside the status of HTTP, as of Google's services, or in `code`, as of Connect. */
function rpcCodeOf({ code, status }: Readonly<Record<string, unknown>> = {}): number | undefined {
  const name = String(status ?? code).toUpperCase();
  const number = RPC_CODES.includes(name) ? RPC_CODES.indexOf(name) + 1 : code;
  const isRpcCode = Number.isInteger(number) && Number(number) > 0 && Number(number) <= RPC_CODES.length;
  return isRpcCode ? Number(number) : undefined;
}

const MAX_DETAILS = 3;

/** Reads google.rpc.Status, the same under `error`, OAuth's error pair, or a plain message; undefined for any other shape. */
function replyMessage(json: unknown): string | undefined {
  const status = rpcStatus(json);
  if (status === undefined) return undefined;
  const details = objectsIn(status['details']);
  const reasons = details.flatMap(({ reason }) => scalarText(reason)).map((reason) => `reason ${reason}`);
  const violations = details
    .flatMap((detail) => objectsIn(detail['field_violations'] ?? detail['fieldViolations']))
    .map(({ field, description }) => [...scalarText(field), ...scalarText(description)].join(': '));
  const code = scalarText(status['code']).map((value) => `code ${value}`);
  const words = [status['message'], status['error'], status['error_description']].flatMap(scalarText);
  const facts = [...code, ...reasons.slice(0, MAX_DETAILS), ...violations.slice(0, MAX_DETAILS)];
  const parts = [facts.join(', '), words.join(', ')].filter((part) => part !== '');
  return parts.length === 0 ? undefined : parts.join(': ');
}

/** The object that may have the fields of google.rpc.Status. */
function rpcStatus(json: unknown): Readonly<Record<string, unknown>> | undefined {
  const status = isObject(json) && isObject(json['error']) ? json['error'] : json;
  return isObject(status) ? status : undefined;
}

function objectsIn(list: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

/** Empty when the value is neither text nor a number. */
function scalarText(value: unknown): string[] {
  if (typeof value === 'number') return [String(value)];
  return typeof value === 'string' && value !== '' ? [value] : [];
}

/** undefined: not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `Retry-After`, or what a gateway makes of that of a gRPC service. */
function retryAfterOf({ headers, body }: Reply): string | readonly string[] | undefined {
  return headers['retry-after'] ?? headers['grpc-metadata-retry-after'] ?? retryInfoSeconds(parseJson(body.toString()));
}

/** The delay in the google.rpc.RetryInfo of a google.rpc.Status. */
function retryInfoSeconds(json: unknown): string | undefined {
  const details = objectsIn(rpcStatus(json)?.['details']);
  const info = details.find((detail) => String(detail['@type']).endsWith('google.rpc.RetryInfo'));
  const delay = String(info?.['retry_delay'] ?? info?.['retryDelay']);
  return delay.endsWith('s') ? delay.slice(0, -1) : undefined;
}

const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/** The longest delay that is obeyed. */
const MAX_RETRY_AFTER_MS = 600_000;

/** The delay of a `Retry-After` header in seconds or as an HTTP date; undefined when it is missing or invalid. */
export function retryAfterMs(header: string | readonly string[] | undefined, nowMs: number): number | undefined {
  const first = typeof header === 'object' ? header[0] : header;
  const text = first?.trim() ?? '';
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
