import { type AuthCheck, authProblem } from './auth-check.ts';
import type { Call, Message, Refusal, StationPath } from './call.ts';
import type { Asked, Effect, Envelope, Rows } from './effect.ts';
import { jsonReply, type Reply, statusReply, withHeaders } from './reply.ts';
import { type Entry, select } from './selection.ts';

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
