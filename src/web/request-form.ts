import type { IncomingHttpHeaders } from 'node:http';
import type { RequestHandler } from 'express';
import { sendText } from './respond.ts';

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
