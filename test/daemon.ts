import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { closedPort } from './service/support/service.ts';

interface DaemonOptions {
  readonly command: string;
  readonly debianPackage: string;
  /** Written to a temporary folder. */
  readonly files: Readonly<Record<string, string>>;
  readonly flags: (folder: string, address: string) => readonly string[];
  /** Default: a free port. */
  readonly address?: string | undefined;
  /** Default: it answers like Prometheus when it is ready. */
  readonly isReady?: (address: string) => Promise<boolean>;
}

/** Starts a program of a Debian package and waits until it is ready. */
export async function startDaemon({
  command,
  debianPackage,
  files,
  flags,
  address,
  isReady = answersReady,
}: DaemonOptions) {
  const folder = await mkdtemp(join(tmpdir(), `${command}-`));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  const listenAddress = address ?? `127.0.0.1:${await closedPort()}`;
  const start = async () => {
    const started = spawn(command, flags(folder, listenAddress));
    const output: string[] = [];
    started.stderr.on('data', (chunk) => output.push(String(chunk)));
    started.stdout.resume();
    await Promise.race([
      once(started, 'spawn'),
      once(started, 'error').then(([error]) => throwMissing(command, debianPackage, error)),
    ]);
    await waitUntil(() => isReady(listenAddress), started, output);
    return started;
  };
  let child = await start();
  return {
    url: `http://${listenAddress}`,
    folder,
    stop: () => stopProcess(child).then(() => rm(folder, { recursive: true, force: true })),
    /** Keeps the address and the folder. */
    restart: async () => {
      await stopProcess(child);
      child = await start();
    },
    signal: (name: NodeJS.Signals) => child.kill(name),
  };
}

function throwMissing(command: string, debianPackage: string, error: Error): never {
  throw new Error(`${command} not found: install the Debian package ${debianPackage}`, { cause: error });
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill();
  await once(child, 'exit');
}

async function waitUntil(
  isReady: () => Promise<boolean>,
  child: ChildProcess,
  output: readonly string[],
): Promise<void> {
  while (child.exitCode === null) {
    if (await isReady()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`${child.spawnfile} exited before it was ready: ${output.join('')}`);
}

async function answersReady(address: string): Promise<boolean> {
  const response = await fetch(`http://${address}/-/ready`).catch(() => undefined);
  return response?.status === 200;
}
