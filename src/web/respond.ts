import type { ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';
import { cutOffSlowReader } from './body.ts';

const COMMON_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** Nothing we answer may be guessed at, kept, framed, or let anything run; pages widen what they need. */
export function setCommonHeaders(response: ServerResponse): void {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Cache-Control', 'no-store');
  response.setHeader('Referrer-Policy', 'no-referrer');
  response.setHeader('Content-Security-Policy', COMMON_POLICY);
}

/** A page's own policy takes the place of the common one, never of the operator's. */
export function setPolicy(response: ServerResponse, policy: string): void {
  if (response.getHeader('Content-Security-Policy') === COMMON_POLICY) response.setHeader('Content-Security-Policy', policy);
}

export function redirectTo(location: string): RequestHandler {
  return (_request, response) => {
    response.setHeader('Location', location);
    sendText(response, 308, `See ${location}\n`);
  };
}

export function sendText(response: ServerResponse, status: number, text: string): void {
  send(response, status, 'text/plain; charset=utf-8', text);
}

/** Node leaves the body out when the request was a HEAD. */
export function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  cutOffSlowReader(response);
  response.end(body);
}
