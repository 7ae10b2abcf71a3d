import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** A child process with methods, so that CPU and memory are measured per component. */
export interface Child<Methods extends object> {
  call<Name extends keyof Methods & string>(
    name: Name,
    ...args: Arguments<Methods[Name]>
  ): Promise<Result<Methods[Name]>>;
  stop(): Promise<void>;
}

type Arguments<Method> = Method extends (...args: infer Args) => unknown ? Args : never;
type Result<Method> = Method extends (...args: never[]) => infer Value ? Awaited<Value> : never;

/** Forks a module of this folder that calls `serveMethods`. */
export function startChild<Methods extends object>(
  module: string,
  nodeOptions: readonly string[] = [],
): Child<Methods> {
  const child = fork(new URL(`./${module}.js`, import.meta.url), { execArgv: ['--expose-gc', ...nodeOptions] });
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
  let next = 0;
  child.on('message', ({ id, value, error }: { id: number; value: never; error?: string }) => {
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(new Error(`${module}: ${error}`));
  });
  child.on('exit', (code) => {
    for (const { reject } of waiting.values()) reject(new Error(`${module} exited with code ${code}`));
  });
  return {
    call: (name, ...args) =>
      new Promise((resolve, reject) => {
        next += 1;
        waiting.set(next, { resolve, reject });
        child.send({ id: next, name, args });
      }),
    stop: () => stopChild(child),
  };
}

/** Serves the methods to the parent process. */
export function serveMethods(methods: Record<string, (...args: never[]) => unknown>): void {
  // The parent process is gone.
  process.on('disconnect', () => process.exit());
  process.on('message', async ({ id, name, args }: { id: number; name: string; args: never[] }) => {
    try {
      process.send?.({ id, value: await methods[name]?.(...args) });
    } catch (error) {
      process.send?.({ id, error: String(error) });
    }
  });
}

/** Methods that every measured process has. */
export const processStats = {
  /** CPU time of all threads since start in milliseconds. */
  cpu: () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  },
  /** Resident set size in bytes after garbage collection. */
  memory: async () => {
    for (let round = 0; round < 4; round += 1) {
      globalThis.gc?.();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return process.memoryUsage().rss;
  },
  /** Resident set size in bytes. */
  resident: () => process.memoryUsage().rss,
};

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
