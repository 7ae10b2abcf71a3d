import type { IncomingHttpHeaders } from 'node:http';
import type { RequestHandler } from 'express';
import { basicCredentials, PasswordCheck } from './access/password-check.ts';
import type { AccessRules, RateRules } from './access/rules.ts';
import { sendText } from './respond.ts';

/** Lets pass whom the rules in force let in, and gives every answer their headers. */
export function guard(rules: () => AccessRules, passwords = new PasswordCheck(), inTime = rateLimiter()): RequestHandler {
  return async (request, response, next) => {
    const { headers, users, rate } = rules();
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (!inTime(rate)) {
      sendText(response, 429, 'Too many requests.\n');
      return;
    }
    if (users.size === 0) {
      next();
      return;
    }
    const credentials = basicCredentials(request.headers.authorization);
    const verdict = credentials && (await passwords.check(users, credentials, String(request.socket.remoteAddress)));
    // Nobody is left to answer, and what counts requests until they close would never see this one close.
    if (request.destroyed) return;
    if (verdict === 'right') {
      next();
    } else if (verdict === 'busy') {
      response.setHeader('Retry-After', '1');
      sendText(response, 503, 'Too many passwords to check at once.\n');
    } else {
      response.setHeader('WWW-Authenticate', 'Basic realm="telemetry-station-exporter", charset="UTF-8"');
      sendText(response, 401, 'Unauthorized.\n');
    }
  };
}

/** Far more than a station's name takes. */
const LONGEST_URL = 4096;

/** The path and query of a request's target, which proxies may send as a whole URL; undefined when there are none. */
export function requestTarget(target: string): string | undefined {
  if (target.startsWith('/')) return target;
  const [, path] = /^https?:\/\/[^/?#]+(.*)$/i.exec(target) ?? [];
  if (path === undefined || !URL.canParse(target)) return undefined;
  return path.startsWith('/') ? path : `/${path}`;
}

/** Refuses what no request here needs. */
export const wellFormedRequest: RequestHandler = (request, response, next) => {
  if (request.url.length > LONGEST_URL) {
    sendText(response, 414, `The URL is longer than ${LONGEST_URL} characters.\n`);
  } else if (hasBody(request.headers)) {
    // The body is not read: what follows on this connection could not be told from it.
    response.setHeader('Connection', 'close');
    sendText(response, 413, 'No request here has a body.\n');
  } else if (!isWellFormed(request.url)) {
    // Bad escapes would otherwise be read as if they were meant literally.
    sendText(response, 400, 'The URL holds a malformed percent-encoding.\n');
  } else {
    next();
  }
};

function hasBody({ 'transfer-encoding': encoding, 'content-length': length = '0' }: IncomingHttpHeaders): boolean {
  return encoding !== undefined || Number(length) > 0;
}

function isWellFormed(url: string): boolean {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

/** Lets at most `max` requests through at once; 0 lets all through. */
export function requestLimit(max: number): RequestHandler {
  let inFlight = 0;
  return (request, response, next) => {
    if (max > 0 && inFlight >= max) {
      response.setHeader('Retry-After', '1');
      sendText(response, 503, `Too many requests of this kind at once; at most ${max} are served.\n`);
      return;
    }
    inFlight += 1;
    // The request closes after its response, and also when the connection breaks before a pipelined response had its turn.
    request.once('close', () => {
      inFlight -= 1;
    });
    next();
  };
}

/** Tells for each request whether the rules, as they are then, allow it. */
export function rateLimiter(now: () => number = () => performance.now()): (rules: RateRules | undefined) => boolean {
  // When every request let through so far would have had an interval of its own.
  let settledMs = 0;
  return (rules) => {
    if (rules === undefined) return true;
    const nowMs = now();
    const startMs = Math.max(settledMs, nowMs);
    if (startMs - nowMs > (rules.burst - 1) * rules.intervalMs) return false;
    settledMs = startMs + rules.intervalMs;
    return true;
  };
}
