import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

interface PausableProxy {
  readonly url: string;
  pause(): void;
  resume(): void;
}

/** A TCP proxy to the service; while paused, it holds back what the client sends. */
export async function startPausableProxy(serviceUrl: string): Promise<PausableProxy> {
  const sockets = new Set<Socket>();
  const held: (() => void)[] = [];
  let isForwarding = true;
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
      if (isForwarding) service.write(chunk);
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
      isForwarding = false;
    },
    resume: () => {
      isForwarding = true;
      for (const send of held.splice(0)) send();
    },
  };
}
