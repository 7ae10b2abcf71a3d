import { once } from 'node:events';
import { connect } from 'node:net';
import { onTestFinished } from 'vitest';
import { startDaemon } from '../../daemon.ts';
import { closedPort } from '../../service/support/service.ts';
import type { Tool } from './worlds.ts';

export interface ToolOptions {
  /** Of the files, with ADDRESS and PORT for where the tool listens. */
  readonly files: Readonly<Record<string, string>>;
  readonly flags: (folder: string, address: string) => readonly string[];
  /** Default: a free port. */
  readonly address?: string | undefined;
}

/** A tool that has written its files into a temporary folder and accepts connections; stopped when the test finishes. */
export async function startTool({ command, from }: Tool, { files, flags, address }: ToolOptions) {
  const listenAddress = address ?? `127.0.0.1:${await closedPort()}`;
  const port = listenAddress.replace(/.*:/, '');
  const filled = Object.entries(files).map(([name, text]) => [
    name,
    text.replaceAll('ADDRESS', listenAddress).replaceAll('PORT', port),
  ]);
  const daemon = await startDaemon({
    command,
    debianPackage: from,
    files: Object.fromEntries(filled),
    flags,
    address: listenAddress,
    isReady: acceptsConnections,
  });
  onTestFinished(() => daemon.stop());
  return { ...daemon, address: listenAddress };
}

async function acceptsConnections(address: string): Promise<boolean> {
  const [host = '', port] = address.split(':');
  const socket = connect(Number(port), host);
  const isOpen = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isOpen;
}
