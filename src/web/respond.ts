import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { yieldToEventLoop } from '../tasks/yield-to-event-loop.ts';
import { CHUNK_CHARACTERS, chunksOf } from '../text/records.ts';

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

/** Writes the text no faster than the client reads it; rejects with the reason of the signal once it aborts. */
export async function writeToClient(
  response: ServerResponse,
  pieces: Iterable<string>,
  signal: AbortSignal,
): Promise<void> {
  const chunks = chunksOf(pieces);
  const first = String(chunks.next().value);
  limitResponseTime(response);
  if (first.length < CHUNK_CHARACTERS) {
    response.setHeader('Content-Length', Buffer.byteLength(first));
    response.end(first);
  } else if (response.req.method === 'HEAD') {
    response.end();
  } else {
    await pipeline(followedBy(first, chunks), response, { signal }).catch((error) => {
      signal.throwIfAborted();
      throw error;
    });
  }
}

/** Events that have arrived are handled before each further chunk is built. */
async function* followedBy(first: string, chunks: Iterable<string>): AsyncIterable<string> {
  yield first;
  await yieldToEventLoop();
  for (const chunk of chunks) {
    yield chunk;
    await yieldToEventLoop();
  }
}

/** Longer than the usual scrape timeout. */
const RESPONSE_TIMEOUT_MS = 60_000;

/** Closes the connection of a client that has read nothing of the response for this long. A client that reads steadily may take any time. */
export function limitResponseTime(response: ServerResponse, timeoutMs = RESPONSE_TIMEOUT_MS): void {
  // Node destroys a socket whose timeout has no listener, and considers it active while the client reads.
  response.setTimeout(timeoutMs);
}

/** An error of the client that ends a handler: the status, and a message that ends with a line feed. */
export class RequestError extends Error {
  readonly status: number;
  /** Where to read on: a page of the exporter; the path is relative to the root. */
  readonly link: { readonly words: string; readonly path: string } | undefined;

  constructor(status: number, message: string, link?: RequestError['link']) {
    super(message);
    this.status = status;
    this.link = link;
  }
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

export const notFound: RequestHandler = () => {
  throw new RequestError(404, 'Not found.\n');
};

export function methodNotAllowed(allow: string): RequestHandler {
  return (_request, response) => {
    response.setHeader('Allow', allow);
    throw new RequestError(405, `Method not allowed; allowed: ${allow}.\n`);
  };
}

const ACCESS = 'hasAccess';

/** The access rules allow the request: from here on an error may be a page, and the connection is kept. */
export function grantAccess(response: Response): void {
  response.locals[ACCESS] = true;
}

/** Sends an error as a page. */
export type ErrorPage = (response: Response, error: RequestError) => void;

/**
 * Sends errors of the client; anything else is an exporter bug, which is reported and not disclosed to the client. They are a page if the
 * client prefers HTML. A client without access gets plain text, which discloses nothing more, and keeps no connection.
 */
export function failedRequest(report: (error: unknown) => void, page: ErrorPage): ErrorRequestHandler {
  return (error, request, response, _next) => {
    const isExpected = error instanceof RequestError;
    if (!isExpected) report(error);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    const sent = isExpected ? error : new RequestError(500, 'Internal error.\n');
    const hasAccess = response.locals[ACCESS] === true;
    if (hasAccess) response.vary('Accept');
    else response.setHeader('Connection', 'close');
    if (hasAccess && prefersHtml(request)) page(response, sent);
    else sendText(response, sent.status, sent.message);
  };
}
