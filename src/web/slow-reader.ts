import type { ServerResponse } from 'node:http';

/** More than Prometheus waits for a scrape as a rule. */
const READING_MS = 60_000;

/** Breaks the connection of a client that has not taken the whole response in time: it would hold its place and its bytes for ever. */
export function cutOffSlowReader({ req: request }: ServerResponse, readingMs = READING_MS): void {
  const timer = setTimeout(() => request.destroy(), readingMs).unref();
  // It closes after its response, and also when the connection breaks before a pipelined response had its turn.
  request.once('close', () => clearTimeout(timer));
}
