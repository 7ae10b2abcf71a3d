import type { EventEmitter } from 'node:events';
import type { WebLimit } from '../metrics/web-families.ts';

export interface ScrapeLimits {
  /** Scrapes of one endpoint that wait for refreshes; 0: no limit. */
  readonly maxRequests: number;
  /** Bytes held by responses of one endpoint that clients have not read; 0: no limit. */
  readonly maxResponseMemory: number;
}

/** Limits the scrapes of one endpoint: a waiting scrape costs a timer, a response that is not read costs memory. */
export class ScrapeLimit {
  readonly #limits: ScrapeLimits;
  readonly #reached: (limit: WebLimit) => void;
  #waiting = 0;
  #responseMemory = 0;

  constructor(limits: ScrapeLimits, reached: (limit: WebLimit) => void) {
    this.#limits = limits;
    this.#reached = reached;
  }

  /** Runs the scrape with its deadline, or with 0 while as many as allowed are waiting: it is answered at once from the cache. */
  async wait<T>(deadlineMs: number, scrape: (deadlineMs: number) => Promise<T>): Promise<T> {
    if (isReached(this.#limits.maxRequests, this.#waiting + 1)) {
      this.#reached('max_requests');
      return scrape(0);
    }
    this.#waiting += 1;
    try {
      return await scrape(deadlineMs);
    } finally {
      this.#waiting -= 1;
    }
  }

  /** Whether the memory of the response is within the limit; it counts until the request closes. */
  admit(request: EventEmitter, bytes: number): boolean {
    if (isReached(this.#limits.maxResponseMemory, this.#responseMemory + bytes)) {
      this.#reached('max_response_memory');
      return false;
    }
    this.#responseMemory += bytes;
    // Emitted after the response, and also when the client disconnects.
    request.once('close', () => {
      this.#responseMemory -= bytes;
    });
    return true;
  }
}

function isReached(limit: number, needed: number): boolean {
  return limit > 0 && needed > limit;
}
