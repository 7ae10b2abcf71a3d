import type { RequestHandler } from 'express';
import { sendText } from './respond.ts';

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
