import { STATUS_CODES } from 'node:http';
import { describeErrorBody, quotable } from './error-body.ts';
import { statusReason } from './error-reason.ts';
import type { Reply } from './exchange.ts';
import { RequestFailure } from './request-failure.ts';
import { retryAfterMs } from './retry-after.ts';

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
  const said = quotable(replyText(reply), secrets);
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
