import type { Request, RequestHandler, Response } from 'express';
import { RequestError } from './respond.ts';

/** The signal aborts when the client disconnects before the handler has ended. */
export type AbortableHandler = (request: Request, response: Response, signal: AbortSignal) => void | Promise<void>;

/** Limits the handlers that it wraps. */
export type RequestLimit = (handle: AbortableHandler) => RequestHandler;

/** Allows `max` concurrent requests of all wrapped handlers together. A request counts until its work has ended and its response is sent. */
export function limitRequests(max: number, reached: () => void): RequestLimit {
  let active = 0;
  return (handle) => (request, response) => {
    if (active >= max) {
      reached();
      response.setHeader('Retry-After', '1');
      throw new RequestError(503, `Too many concurrent requests; the limit is ${max}.\n`);
    }
    active += 1;
    const controller = new AbortController();
    const { signal } = controller;
    // Emitted after the response, and also when the client disconnects.
    const closed = new Promise<void>((resolve) => {
      request.once('close', () => resolve(controller.abort()));
    });
    const work = (async () => handle(request, response, signal))().catch((error) => {
      // No client waits for the response of work that ends because the signal aborted.
      if (error !== signal.reason) throw error;
    });
    void Promise.allSettled([closed, work]).then(() => {
      active -= 1;
    });
    return work;
  };
}

/** Whether the count exceeds a limit that the operator set; 0: no limit. */
export function isAbove(limit: number, count: number): boolean {
  return limit > 0 && count > limit;
}
