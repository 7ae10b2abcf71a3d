import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

interface PausableProxy {
  /** Where the service is reached through the valve. */
  readonly url: string;
  pause(): void;
  resume(): void;
}

/** A way to the service that can be shut: what is sent meanwhile arrives when it opens again. */
export async function startPausableProxy(serviceUrl: string): Promise<PausableProxy> {
  const sockets = new Set<Socket>();
  const held: (() => void)[] = [];
  let isOpen = true;
  const relay = createServer((client) => {
    const service = connect(Number(new URL(serviceUrl).port), '127.0.0.1');
    for (const [one, other] of [
      [client, service],
      [service, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => undefined);
      one.once('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    service.on('data', (chunk) => client.write(chunk));
    client.on('data', (chunk) => {
      if (isOpen) service.write(chunk);
      else held.push(() => service.write(chunk));
    });
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => relay.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}`,
    pause: () => {
      isOpen = false;
    },
    resume: () => {
      isOpen = true;
      for (const release of held.splice(0)) release();
    },
  };
}
