import type { buildConnector } from 'undici';
import { RequestFailure } from './request-failure.ts';

type Connector = buildConnector.connector;

/** Gives a connection up after the limit; one that is made after all is closed again. */
export function limitedConnector(connect: Connector, limitMs: number): Connector {
  return (target, callback) => {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      callback(new RequestFailure('timeout', `${target.host}: no connection within ${limitMs} ms`, { retryable: true }), null);
    }, limitMs);
    connect(target, (...outcome) => {
      clearTimeout(timer);
      if (late) outcome[1]?.destroy();
      else callback(...outcome);
    });
  };
}
