import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** From .tmp/run/lab/day, where this file is built. */
const MAIN = new URL('../../../../dist/main.js', import.meta.url);
const CLOCK = new URL('clock.js', import.meta.url);

export interface ClockedExporter {
  moveTo(ms: number): Promise<void>;
  /** The exposition. */
  scrape(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts the built exporter with a clock that begins at a given time and can be moved. */
export async function startClockedExporter(configFile: string, atMs: number): Promise<ClockedExporter> {
  const flags = [
    `--config.file=${configFile}`,
    '--web.listen-address=127.0.0.1:0',
    '--log.format=json',
    '--scrape.timeout=5m',
  ];
  const child = fork(MAIN, flags, {
    execArgv: ['--import', CLOCK.href],
    env: { ...process.env, CLOCK_MS: String(atMs) },
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  });
  if (child.stderr === null) throw new Error('no log');
  const log = createInterface(child.stderr);
  const url = await new Promise<string>((resolve, reject) => {
    log.on('line', (line) => {
      const entry = JSON.parse(line) as { msg: string; level: string; url: string };
      if (entry.msg === 'listening') resolve(entry.url);
      if (entry.level === 'error') console.error(line);
    });
    child.once('exit', (code) => reject(new Error(`the exporter exited with code ${code}`)));
  });
  return {
    moveTo: async (ms) => {
      child.send(ms);
      await once(child, 'message');
    },
    scrape: async () => {
      const response = await fetch(new URL('/metrics', url));
      if (response.status !== 200) throw new Error(`/metrics: expected status 200, got ${response.status}`);
      return response.text();
    },
    stop: async () => {
      child.kill();
      await once(child, 'exit');
    },
  };
}
