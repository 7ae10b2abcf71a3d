import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../../', import.meta.url);

/** The built program, as it is shipped. */
export const MAIN = fileURLToPath(new URL('dist/main.js', ROOT));

/** The options of Node in the entry point of the image. */
export function imageOptions(): string[] {
  const [, entryPoint = ''] = /^ENTRYPOINT (\[.*\])$/m.exec(readFileSync(new URL('Dockerfile', ROOT), 'utf8')) ?? [];
  return (JSON.parse(entryPoint) as string[]).filter((argument) => argument.startsWith('-'));
}

/** Node without a program, which prints `started`. */
export const BARE = ['-e', 'process.stderr.write("started\\n"); setInterval(() => {}, 1e6);'];

export interface RunningNode {
  /** Time until the text was printed. */
  readonly startMs: number;
  /** CPU time of all threads so far in milliseconds. */
  cpuMs(): number;
  /** Resident set size in bytes. */
  residentBytes(): number;
  stop(): Promise<void>;
}

/** Runs Node until it prints the text. */
export async function startNode(args: readonly string[], until: string): Promise<RunningNode> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, args, {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const startMs = await new Promise<number>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      output += chunk;
      if (output.includes(until)) resolve(performance.now() - startedAt);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('exit', () => reject(new Error(`${args.join(' ')} ended without printing ${until}: ${output}`)));
  });
  const proc = (file: string) => readFileSync(`/proc/${child.pid}/${file}`, 'utf8');
  return {
    startMs,
    cpuMs: () => {
      const threads = readdirSync(`/proc/${child.pid}/task`).map((id) =>
        Number(proc(`task/${id}/schedstat`).split(' ')[0]),
      );
      return threads.reduce((sum, nanoseconds) => sum + nanoseconds, 0) / 1e6;
    },
    residentBytes: () => Number(/^VmRSS:\s+(\d+) kB$/m.exec(proc('status'))?.[1]) * 1024,
    stop: async () => {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}
