import { gzipSync } from 'node:zlib';
import type { Effect } from './effect.ts';
import type { Failure } from './faults.ts';
import { between, type Random } from './random.ts';
import { type Delivery, jsonReply, type Reply, statusReply, textReply, withHeaders } from './reply.ts';

type FailureOf<Kind extends Failure['kind']> = Extract<Failure, { readonly kind: Kind }>;

export const failureEffects: { readonly [Kind in Failure['kind']]: (failure: FailureOf<Kind>, random: Random) => Effect } = {
  reset: ({ at = 'start' }) => delivered({ how: 'reset', at }),
  hang: () => delivered({ how: 'hang' }),
  headersOnly: () => delivered({ how: 'headersOnly' }),
  drip: ({ everyMs = 50 }) => delivered({ how: 'drip', everyMs }),
  truncate: () => delivered({ how: 'truncate' }),
  endless: () => delivered({ how: 'endless' }),
  html: () => instead(textReply(200, 'text/html; charset=utf-8', '<!doctype html><title>Sign in</title><p>Please sign in to continue.')),
  notJson: () => instead(textReply(200, 'application/json', '{"resources": [')),
  wrongJson: ({ value }) => instead(jsonReply(200, value)),
  bytes: ({ body }) => instead({ ...textReply(200, 'application/json', ''), body }),
  redirect: ({ location }) => instead(withHeaders(textReply(302, 'text/plain', ''), { location })),
  status: (failure) => instead(failedReply(failure)),
  latency: ({ ms }, random) => {
    const delayMs = typeof ms === 'number' ? ms : between(random, ...ms);
    return { onReply: (reply) => ({ ...reply, delayMs: reply.delayMs + delayMs }) };
  },
  gzip: () => ({
    onReply: (reply) => ({ ...withHeaders(reply, { 'content-encoding': 'gzip' }), body: gzipSync(reply.body) }),
  }),
};

function delivered(delivery: Delivery): Effect {
  return { onReply: (reply) => ({ ...reply, delivery }) };
}

/** Another reply, as late and by the same way as the one it replaces. */
function instead(other: Reply): Effect {
  return { onReply: ({ delayMs, delivery }) => ({ ...other, delayMs, delivery }) };
}

function failedReply({ code, retryAfter, body, headers = {} }: FailureOf<'status'>): Reply {
  const reply = body === undefined ? statusReply(code, `simulated ${code}`) : textReply(code, 'text/plain', body);
  return withHeaders(reply, retryAfter === undefined ? headers : { 'retry-after': String(retryAfter), ...headers });
}
