import { createLogger } from '../../src/journal/logger.ts';

/** The options of an exporter that logs nothing. */
export const SILENT = {
  build: { version: '1', revision: 'r', nodeVersion: 'v' },
  shard: { ordinal: 0, total: 1 },
  log: createLogger({ level: 'error', format: 'logfmt', write: () => undefined }),
};

/** A log with its own clock. */
export function setUpLog() {
  const lines: string[] = [];
  let nowMs = 0;
  return {
    log: createLogger({ level: 'debug', format: 'logfmt', write: (line) => lines.push(line), now: () => 0 }),
    now: () => nowMs,
    advance: (ms: number) => {
      nowMs += ms;
    },
    /** The lines since the last call, without the timestamp; by default those above debug level. */
    logged: (debug = false) =>
      lines
        .splice(0)
        .map((line) => line.replace(/^ts=\S+ level=/, '').trim())
        .filter((line) => debug || !line.startsWith('debug')),
  };
}
