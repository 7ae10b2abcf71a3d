import type { ServerResponse } from 'node:http';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { limitResponseTime } from './body.ts';

const COMMON_POLICY = "default-src 'none'; frame-ancestors 'none'";

/** Responses are not sniffed, cached or framed, and run no scripts; pages relax the policy where they need to. */
export function setCommonHeaders(response: ServerResponse): void {
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Cache-Control', 'no-store');
  // Other sites get no referrer; without one for the own site, browsers would send the forms of the pages with the origin `null`.
  response.setHeader('Referrer-Policy', 'same-origin');
  response.setHeader('Content-Security-Policy', COMMON_POLICY);
}

/** Replaces the common policy, never one that the operator configured. */
export function setPolicy(response: ServerResponse, policy: string): void {
  if (response.getHeader('Content-Security-Policy') === COMMON_POLICY)
    response.setHeader('Content-Security-Policy', policy);
}

export function sendText(response: ServerResponse, status: number, text: string): void {
  send(response, status, 'text/plain; charset=utf-8', text);
}

/** Node omits the body in the response to a HEAD request. */
export function send(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.statusCode = status;
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Length', Buffer.byteLength(body));
  limitResponseTime(response);
  response.end(body);
}

/** Sends an error as a page. */
export type ErrorPage = (response: Response, status: number, message: string) => void;

/** Errors of this response are a page if the client prefers HTML. Without it they are plain text, which discloses nothing more. */
export function setErrorPage(response: Response, page: ErrorPage): void {
  response.locals['errorPage'] = page;
}

/** A page for browsers, the message as plain text for other clients; it ends with a line feed. */
export function sendError(response: Response, status: number, message: string): void {
  const page = response.locals['errorPage'] as ErrorPage | undefined;
  response.vary('Accept');
  if (page !== undefined && prefersHtml(response.req)) page(response, status, message);
  else sendText(response, status, message);
}

/** False without a preference: scripts, curl and Prometheus accept anything. */
export function prefersHtml(request: Pick<Request, 'accepts'>): boolean {
  return request.accepts(['text/plain', 'text/html']) === 'text/html';
}

export function redirectTo(location: string): RequestHandler {
  return (_request, response) => {
    response.setHeader('Location', location);
    sendText(response, 308, `See ${location}\n`);
  };
}

export const notFound: RequestHandler = (_request, response) => {
  sendError(response, 404, 'Not found.\n');
};

export function methodNotAllowed(allow: string): RequestHandler {
  return (_request, response) => {
    response.setHeader('Allow', allow);
    sendError(response, 405, `Method not allowed; allowed: ${allow}.\n`);
  };
}

/** Reports an exporter bug without disclosing it to the client. */
export function internalError(report: (error: unknown) => void): ErrorRequestHandler {
  return (error, _request, response, _next) => {
    report(error);
    if (response.headersSent) response.destroy();
    else sendError(response, 500, 'Internal error.\n');
  };
}
