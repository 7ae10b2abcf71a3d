import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface RunningPrometheus {
  /** The answer of an instant query, by the values of the given labels. */
  query(expression: string, ...labels: string[]): Promise<Record<string, number>>;
  stop(): Promise<void>;
}

/** Debian's Prometheus in a folder of its own; a clear error when it is not on the machine. */
export async function startPrometheus(config: string): Promise<RunningPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'prometheus-'));
  await writeFile(join(folder, 'prometheus.yml'), config);
  const address = `127.0.0.1:${await freePort()}`;
  const child = spawn('prometheus', [
    `--config.file=${join(folder, 'prometheus.yml')}`,
    `--storage.tsdb.path=${join(folder, 'data')}`,
    `--web.listen-address=${address}`,
    '--log.level=warn',
  ]);
  const output: string[] = [];
  child.stderr.on('data', (chunk) => output.push(String(chunk)));
  await Promise.race([once(child, 'spawn'), once(child, 'error').then(([error]) => missing(error))]);
  const stop = () => stopProcess(child).then(() => rm(folder, { recursive: true }));
  await untilReady(`http://${address}/-/ready`, child, output);
  return {
    stop,
    query: async (expression, ...labels) => {
      const response = await fetch(`http://${address}/api/v1/query?query=${encodeURIComponent(expression)}`);
      const { status, data, error } = (await response.json()) as QueryAnswer;
      if (status !== 'success') throw new Error(error);
      return Object.fromEntries(
        data.result.map(({ metric, value }) => [labels.map((label) => metric[label] ?? '').join('|'), Number(value[1])]),
      );
    },
  };
}

interface QueryAnswer {
  readonly status: string;
  readonly error?: string;
  readonly data: { readonly result: readonly { readonly metric: Record<string, string>; readonly value: readonly [number, string] }[] };
}

function missing(error: Error): never {
  throw new Error('this test needs Prometheus on the machine: install the Debian package prometheus', { cause: error });
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill();
  await once(child, 'exit');
}

async function untilReady(url: string, child: ChildProcess, output: readonly string[]): Promise<void> {
  while (child.exitCode === null) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`Prometheus ended: ${output.join('')}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
