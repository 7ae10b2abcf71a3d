import { createLogger } from '../../src/app/logger.ts';

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
