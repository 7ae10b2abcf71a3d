import { once } from 'node:events';
import { startDemo } from '../demo/demo.ts';
import type { Fault } from '../demo/faults.ts';
import type { Recording } from '../demo/recording.ts';
import { startReplay } from '../demo/replay.ts';
import { sizedStations } from '../demo/sized-stations.ts';

export interface SimulateOptions {
  /** On 127.0.0.1; 0 takes any that is free. */
  readonly port: number;
  readonly seed: number;
  readonly stations?: number | undefined;
  readonly resources?: number | undefined;
  readonly pageCap?: number;
  /** Of every answer. */
  readonly latencyMs?: number;
  readonly faults?: readonly Fault[];
  /** Served instead of a world. */
  readonly recording?: Recording | undefined;
  readonly print: (text: string) => void;
  /** The service runs until it aborts. */
  readonly signal: AbortSignal;
  readonly now?: () => number;
}

/** What it prints is a whole configuration file, so that `simulate > config.yaml` is all it takes to export from it. */
export async function simulate(options: SimulateOptions): Promise<void> {
  const { print, signal } = options;
  const { service, config } = await start(options);
  print(`# Exports from the simulated service on ${service.url}\n${config}`);
  if (!signal.aborted) await once(signal, 'abort');
  await service.stop();
}

function start({ port, seed, pageCap, latencyMs = 0, recording, now = Date.now, ...options }: SimulateOptions) {
  const latency: readonly Fault[] = latencyMs === 0 ? [] : [{ kind: 'latency', ms: latencyMs }];
  const faults = [...latency, ...(options.faults ?? [])];
  if (recording) return startReplay({ recording, port, seed, now, faults });
  return startDemo({ port, seed, now, faults, stations: sizedStations(options), ...(pageCap !== undefined && { pageCap }) });
}
