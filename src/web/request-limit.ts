import type { Request, RequestHandler, Response } from 'express';
import { yieldToEventLoop } from '../tasks/yield-to-event-loop.ts';
import { RequestError, writeToClient } from './respond.ts';

/** The signal aborts when the client disconnects before the handler has ended. */
export type AbortableHandler = (request: Request, response: Response, signal: AbortSignal) => void | Promise<void>;

/** Limits the handlers that it wraps. */
export type RequestLimit = (handle: AbortableHandler) => RequestHandler;

/** Allows `max` concurrent requests of all wrapped handlers together. A request counts until its work has ended and its response is sent. */
export function limitRequests(max: number, reached: (client: string | undefined) => void): RequestLimit {
  let active = 0;
  return (handle) => (request, response) => {
    if (active >= max) {
      reached(request.socket.remoteAddress);
      response.setHeader('Retry-After', '1');
      throw new RequestError(503, `Too many concurrent requests; the limit is ${max}.\n`);
    }
    active += 1;
    const controller = new AbortController();
    const { signal } = controller;
    // Of the response, because that of a request whose body is never sent is not emitted.
    const closed = new Promise<void>((resolve) => {
      response.once('close', () => resolve(controller.abort()));
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

/** Like an AbortableHandler; one that does not send its response returns the pieces of its text. */
export type PageRenderer = (request: Request, response: Response, signal: AbortSignal) => Rendered | Promise<Rendered>;

// biome-ignore lint/suspicious/noConfusingVoidType: what a function without a result returns.
type Rendered = void | Iterable<string>;

/** Renders at most `max` pages at a time, in the order of their requests. Scrapes that have arrived are handled before each. */
export class RenderLimit {
  readonly #max: number;
  #active = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(max: number) {
    this.#max = max;
  }

  /** A page is rendered while it is built, not while its client reads. */
  limited(render: PageRenderer): AbortableHandler {
    return async (request, response, signal) => {
      const pieces = await this.#run(() => render(request, response, signal), signal);
      if (pieces) await writeToClient(response, pieces, signal);
    };
  }

  async #run<T>(work: () => T | Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#active < this.#max) this.#active += 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      await yieldToEventLoop();
      signal.throwIfAborted();
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#active -= 1;
    }
  }
}

/** Whether the count exceeds a limit that the operator set; 0: no limit. */
export function isAbove(limit: number, count: number): boolean {
  return limit > 0 && count > limit;
}
