import type { IncomingHttpHeaders } from 'node:http';
import type { RequestHandler } from 'express';
import { basicCredentials, PasswordCheck } from './access/password-check.ts';
import type { RateRules } from './access/rules.ts';
import type { WebOptions } from './port.ts';
import { grantAccess, RequestError } from './respond.ts';

/** Rejects malformed percent-encoding, which express would take literally in a query. */
export const checkRequest: RequestHandler = (request, _response, next) => {
  try {
    decodeURIComponent(request.url);
  } catch {
    throw new RequestError(400, 'The URL has a malformed percent-encoding.\n');
  }
  next();
};

/**
 * Rejects requests of other origins by methods that change state, which a page of another site can make a browser send. Browsers send
 * Sec-Fetch-Site, older ones Origin; other clients send neither.
 */
export function checkCrossSite({ externalUrl }: WebOptions): RequestHandler {
  return ({ method, headers }, _response, next) => {
    if (!SAFE_METHODS.has(method) && isCrossOrigin(headers, externalUrl))
      throw new RequestError(403, 'Requests of other sites are not allowed.\n');
    next();
  };
}

/** Methods that never change state. */
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE']);

function isCrossOrigin(
  { host, origin, 'sec-fetch-site': site }: IncomingHttpHeaders & { readonly 'sec-fetch-site'?: string | undefined },
  externalUrl: URL | undefined,
): boolean {
  if (site !== undefined) return site !== 'same-origin' && site !== 'none';
  if (origin === undefined) return false;
  // A reverse proxy may replace the Host header, and the scheme is unknown behind it.
  return !URL.canParse(origin) || ![host, externalUrl?.host].includes(new URL(origin).host);
}

/**
 * Sets the headers of the rules in force on every response, and enforces their rate limit and basic authentication.
 * `openPaths`: for everyone, because health checks have no credentials.
 */
export function checkAccess(
  { access, observer }: Pick<WebOptions, 'access' | 'observer'>,
  openPaths: ReadonlySet<string>,
  passwords = new PasswordCheck(),
): RequestHandler {
  const isWithinRate = rateLimiter();
  return async (request, response, next) => {
    const { headers, users, rate } = access();
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (openPaths.has(request.path)) {
      grantAccess(response);
      next();
      return;
    }
    const client = request.socket.remoteAddress;
    if (!isWithinRate(rate)) {
      observer.limitReached('rate_limit', client);
      throw new RequestError(429, 'Too many requests.\n');
    }
    const credentials = basicCredentials(request.headers.authorization);
    const check = () => credentials && passwords.check(users, credentials);
    const result = users.size === 0 ? 'valid' : await check();
    // The client has disconnected; its 'close' event was already emitted, and limitRequests would wait for it forever.
    if (request.destroyed) return;
    if (result === 'busy') {
      observer.limitReached('password_checks', client);
      response.setHeader('Retry-After', '1');
      throw new RequestError(503, 'Too many concurrent password checks.\n');
    }
    if (result !== 'valid') {
      response.setHeader('WWW-Authenticate', 'Basic realm="telemetry-station-exporter", charset="UTF-8"');
      throw new RequestError(401, 'Unauthorized.\n');
    }
    grantAccess(response);
    next();
  };
}

/** A limiter that decides for each request by the rules in force at that time. */
export function rateLimiter(now: () => number = () => performance.now()): (rules: RateRules | undefined) => boolean {
  // The theoretical arrival time of the generic cell rate algorithm.
  let arrivalMs = 0;
  return (rules) => {
    if (rules === undefined) return true;
    const nowMs = now();
    const startMs = Math.max(arrivalMs, nowMs);
    if (startMs - nowMs > (rules.burst - 1) * rules.intervalMs) return false;
    arrivalMs = startMs + rules.intervalMs;
    return true;
  };
}
