import type { RequestHandler } from 'express';
import { basicCredentials } from './access/basic-credentials.ts';
import { PasswordCheck } from './access/password-check.ts';
import { rateLimiter } from './access/rate.ts';
import type { AccessRules } from './access/rules.ts';
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
