import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { configOf, entriesOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';
import { eventually } from '../web/eventually.ts';
import { openConnection } from '../web/http-client.ts';

interface LeavingClient {
  readonly leaves: string;
  readonly headers?: string;
  /** Requests that it sends without waiting for a response. */
  readonly requests?: number;
  /** Whether it leaves before the response begins. */
  readonly isEarly?: boolean;
}

const LEAVING_CLIENTS: readonly LeavingClient[] = [
  { leaves: 'before the response', isEarly: true },
  { leaves: 'during the response or after it' },
  { leaves: 'without the body that it announced', headers: 'Content-Length: 1\r\n' },
  { leaves: 'when it may send its body', headers: 'Content-Length: 1\r\nExpect: 100-continue\r\n' },
  { leaves: 'before the second of two responses', requests: 2 },
  { leaves: 'before all of two responses', requests: 2, isEarly: true },
];

/** The highest limit of concurrent requests. */
const CLIENTS = 40;

describe('Exporter, when clients leave', () => {
  it.each(LEAVING_CLIENTS)(
    'serves others after clients that leave $leaves',
    async ({ headers = '', requests = 1, isEarly = false }) => {
      const service = await startTestService({ source: () => entriesOf(200) });
      const exporter = await startReadyExporter(configOf(service.url, ['ts']));
      const port = Number(new URL(exporter.url).port);
      const paths = ['/sd', '/search?search=a', '/stations/ts/resources?format=csv'];
      const targets = [...paths.map((path) => `GET ${path}`), 'POST /-/reload'];
      for (const target of targets) {
        const bytes = `${target} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`.repeat(requests);
        const clients = Array.from({ length: CLIENTS }, async () => {
          const { socket, received } = openConnection(port, bytes);
          await once(socket, isEarly ? 'connect' : 'readable');
          socket.destroy();
          await received;
        });
        await Promise.all(clients);
      }
      await eventually(async () => {
        const replies = [
          ...paths.map((path) => exporter.get(path)),
          fetch(new URL('/-/reload', exporter.url), { method: 'POST' }),
        ];
        expect((await Promise.all(replies)).map(({ status }) => status)).toEqual(Array(replies.length).fill(200));
      });
    },
  );
});
