import { once } from 'node:events';
import { startDemo } from '../demo/demo.ts';

interface SimulateOptions {
  /** On 127.0.0.1; 0 takes any that is free. */
  readonly port: number;
  readonly seed: number;
  readonly print: (text: string) => void;
  /** The service runs until it aborts. */
  readonly signal: AbortSignal;
  readonly now?: () => number;
}

/** What it prints is a whole configuration file, so that `simulate > config.yaml` is all it takes to export from it. */
export async function simulate({ port, seed, print, signal, now = Date.now }: SimulateOptions): Promise<void> {
  const { service, config } = await startDemo({ port, seed, now });
  print(`# Exports from the simulated service on ${service.url}\n${config}`);
  if (!signal.aborted) await once(signal, 'abort');
  await service.stop();
}
