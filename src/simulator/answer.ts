import { createHmac } from 'node:crypto';
import type { Call, FilterName, Filters, Message, Refusal, StationPath } from './call.ts';
import type { Asked, Effect, Envelope, Rows } from './faults.ts';
import { jsonReply, type Reply, statusReply, withHeaders } from './reply.ts';

/** Where the content comes from; undefined: there is no such station. */
export type Source = (path: StationPath, atMs: number) => readonly Entry[] | undefined;

/** What was once answered to exactly this question; undefined: it was never asked. */
export type Replay = (call: Call) => Envelope | undefined;

export interface AnswerRules {
  readonly source: Source;
  readonly replay: Replay | undefined;
  readonly auth: AuthCheck | undefined;
  /** How many records a page has when the client does not say. */
  readonly defaultPageSize: number;
  readonly pageCap: number;
}

/** The reply to a request at a time, bent by the effects in their order. */
export function answer(message: Message, call: Call | Refusal, effects: readonly Effect[], rules: AnswerRules, atMs: number): Reply {
  const healthy = healthyReply(message, call, effects, rules, atMs);
  return effects.reduce((reply, { onReply }) => onReply?.(reply) ?? reply, healthy);
}

function healthyReply(message: Message, call: Call | Refusal, effects: readonly Effect[], rules: AnswerRules, atMs: number): Reply {
  const turnedAway = rules.auth && authProblem(rules.auth, message, atMs);
  if (turnedAway !== undefined) return jsonReply(401, { message: turnedAway });
  if ('status' in call) return withHeaders(statusReply(call.status, call.message), call.status === 405 ? { allow: 'GET' } : {});
  const entries = rules.source(call.path, atMs);
  if (entries === undefined) return statusReply(404, `telemetry station ${JSON.stringify(call.path.telemetryStation)} not found`);
  return jsonReply(200, listPage(entries, call, effects, rules));
}

function listPage(entries: readonly Entry[], call: Call, effects: readonly Effect[], rules: AnswerRules): Envelope {
  const asked = { filters: call.filters, offset: call.offset, size: Math.min(call.size || rules.defaultPageSize, rules.pageCap) };
  const isOther = effects.some(({ onAsked, onRows }) => onAsked !== undefined || onRows !== undefined);
  const page = (isOther ? undefined : rules.replay?.(call)) ?? cutPage(entries, asked, effects);
  return effects.reduce((envelope, { onEnvelope }) => onEnvelope?.(envelope, asked) ?? envelope, page);
}

function cutPage(entries: readonly Entry[], asked: Asked, effects: readonly Effect[]): Envelope {
  const { filters, offset, size } = effects.reduce((bent, { onAsked }) => onAsked?.(bent) ?? bent, asked);
  const selected = select(entries, filters);
  const listed: Rows = { records: selected, total: selected.length };
  const { records, total } = effects.reduce((rows, { onRows }) => onRows?.(rows, asked) ?? rows, listed);
  return { resources: records.slice(offset, offset + size), page: { offset, size, total } };
}

/** Any JSON value as a record, with what the service knows of it and does not send. */
export interface Entry {
  readonly record: unknown;
  readonly product?: string;
  readonly alertable?: boolean;
}

/** The records of the entries that pass every filter. */
function select(entries: readonly Entry[], filters: Filters): readonly unknown[] {
  const passes = (Object.keys(filters) as FilterName[]).map((name) => PASS[name](new Set(filters[name])));
  return entries.filter((entry) => passes.every((pass) => pass(entry))).map(({ record }) => record);
}

type Pass = (entry: Entry) => boolean;

const PASS: Readonly<Record<FilterName, (values: ReadonlySet<unknown>) => Pass>> = {
  resource_ids: (ids) => (entry) => ids.has(field(entry.record, 'resource_id')),
  resource_type: typeAmong,
  resource_types: typeAmong,
  product: (products) => (entry) => products.has(entry.product),
  resource_display_name_prefix: (prefixes) => (entry) => {
    const displayName = field(entry.record, 'display_name');
    return typeof displayName === 'string' && [...prefixes].every((prefix) => displayName.startsWith(`${prefix}`));
  },
  enabled_alert: () => (entry) => entry.alertable === true,
};

function typeAmong(types: ReadonlySet<unknown>): Pass {
  return (entry) => types.has(field(field(entry.record, 'resource_type'), 'key'));
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

/** Who may ask. */
export type AuthCheck =
  | { readonly scheme: 'token'; readonly type?: string; readonly token: string }
  | { readonly scheme: 'basic'; readonly username: string; readonly password: string }
  | {
      readonly scheme: 'hmac';
      readonly accessKeyId: string;
      readonly secretAccessKey: string;
      /** Must be among what the client signs. */
      readonly signedHeaders: readonly string[];
      readonly skewMs?: number;
    };

/** Why the request is turned away, in the words of the gateway; undefined: it may pass. */
export function authProblem(check: AuthCheck, message: Message, atMs: number): string | undefined {
  const authorization = message.headers.authorization;
  if (authorization === undefined) return 'Unauthorized';
  if (check.scheme === 'hmac') return hmacProblem(check, authorization, message, atMs);
  const expected =
    check.scheme === 'token'
      ? `${check.type ?? 'Bearer'} ${check.token}`
      : `Basic ${Buffer.from(`${check.username}:${check.password}`).toString('base64')}`;
  return authorization === expected ? undefined : 'Invalid authentication credentials';
}

const HMAC_HEADER = /^hmac accesskey="([^"]*)", algorithm="hmac-sha256", headers="([^"]*)", signature="([^"]*)"$/;
const DEFAULT_SKEW_MS = 300_000;

function hmacProblem(
  check: Extract<AuthCheck, { scheme: 'hmac' }>,
  authorization: string,
  message: Message,
  atMs: number,
): string | undefined {
  const [matched, accessKey, list = '', signature] = HMAC_HEADER.exec(authorization) ?? [];
  if (matched === undefined) return 'HMAC signature cannot be verified';
  if (accessKey !== check.accessKeyId) return 'Invalid authentication credentials';
  const signed = list.split(' ');
  if (!check.signedHeaders.every((name) => signed.includes(name))) return 'enforced header not used for HMAC Authentication';
  const date = Date.parse(`${message.headers['x-date'] ?? message.headers.date}`);
  if (!(Math.abs(date - atMs) <= (check.skewMs ?? DEFAULT_SKEW_MS))) {
    return 'HMAC signature cannot be verified, a valid date or x-date header is required for HMAC Authentication';
  }
  const expected = createHmac('sha256', check.secretAccessKey)
    .update(signed.map((name) => signedLine(name, message)).join('\n'))
    .digest('base64');
  return signature === expected ? undefined : 'HMAC signature does not match';
}

function signedLine(name: string, { method, target, headers }: Message): string {
  if (name === 'request-line') return `${method} ${target} HTTP/1.1`;
  if (name === '@request-target') return `@request-target: ${method.toLowerCase()} ${target}`;
  return `${name}: ${headers[name]}`;
}
