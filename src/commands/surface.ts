import type { EventEmitter } from 'node:events';
import type { Writable } from 'node:stream';
import type { Build } from '../metrics/own-metrics.ts';

/** What the program needs of the process it runs in. */
export interface Surface {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (text: string) => void;
  readonly printError: (text: string) => void;
  /** The same as `print`, for data that the reader may take slowly or not to its end. */
  readonly stdout: Writable;
  /** How wide the terminal is on which `printError` appears; undefined: on none. */
  readonly errorColumns: () => number | undefined;
  readonly signals: EventEmitter;
  readonly hostName: string;
  readonly build: Build;
}

/**
 * Aborts with the name of the first signal that asks the process to end; a second one is not listened to, so that it ends at once,
 * and neither is any after `over`.
 */
export function endOf({ signals }: Pick<Surface, 'signals'>, over?: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const listeners = ['SIGTERM', 'SIGINT'].map((name) => ({ name, listener: () => end(name) }));
  const forget = () => {
    for (const { name, listener } of listeners) signals.off(name, listener);
  };
  const end = (reason: string) => {
    forget();
    controller.abort(reason);
  };
  for (const { name, listener } of listeners) signals.on(name, listener);
  over?.addEventListener('abort', forget, { once: true });
  return controller.signal;
}

export function say({ print }: Surface, text: string): number {
  print(text);
  return 0;
}

export function complain({ printError }: Surface, lines: readonly string[]): number {
  for (const line of lines) printError(`${line}\n`);
  return 1;
}
