import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { FlagValues } from '../cli/flags.ts';
import type { SimulatedScheme } from '../simulator/auth.ts';
import type { Fault } from '../simulator/faults.ts';
import { parseRecording, type Recording } from '../simulator/recording.ts';
import { startReplay } from '../simulator/replay.ts';
import type { Naming } from '../simulator/resource.ts';
import { startSimulation } from '../simulator/simulation.ts';
import { simulatedStations } from '../simulator/stations.ts';
import { OperatorError, type ProcessContext, terminationSignal } from './process-context.ts';

/** Runs the simulated service until a termination signal. */
export async function simulateCommand(context: ProcessContext, flags: FlagValues): Promise<void> {
  await simulate({
    port: flags['simulate.port'],
    seed: flags['simulate.seed'],
    stations: flags['simulate.stations'],
    resources: flags['simulate.resources'],
    pageCap: flags['simulate.page-cap'],
    naming: flags['simulate.names'],
    latencyMs: flags['simulate.latency'],
    faults: flags['simulate.fault'],
    auth: flags['simulate.auth'],
    recording: flags.from === undefined ? undefined : await loadRecording(flags.from),
    print: context.print,
    printError: context.printError,
    signal: terminationSignal(context),
  });
}

async function loadRecording(file: string): Promise<Recording> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new OperatorError([`${file}: cannot be read: ${(error as Error).message}`], error);
  }
  const read = parseRecording(text);
  if (!read.ok) throw new OperatorError(read.problems.map((problem) => `${file}: ${problem}`));
  return read.recording;
}

export interface SimulateOptions {
  /** On 127.0.0.1; 0 selects a free port. */
  readonly port: number;
  readonly seed: number;
  readonly stations?: number | undefined;
  readonly resources?: number | undefined;
  readonly pageCap?: number;
  readonly naming?: Naming;
  /** Added to every response. */
  readonly latencyMs?: number;
  readonly faults?: readonly Fault[];
  /** undefined: none required. */
  readonly auth?: SimulatedScheme | undefined;
  /** Replayed instead of simulating resources. */
  readonly recording?: Recording | undefined;
  readonly print: (text: string) => void;
  readonly printError?: (text: string) => void;
  /** Stops the service. */
  readonly signal: AbortSignal;
  readonly now?: () => number;
}

/** Prints a complete configuration file for the service, for `simulate > config.yaml`. */
export async function simulate(options: SimulateOptions): Promise<void> {
  const { print, printError = () => undefined, signal } = options;
  const { service, config } = await start(options).catch((error: NodeJS.ErrnoException) => {
    if (error.syscall !== 'listen') throw error;
    throw new OperatorError(
      [`cannot listen on port ${options.port}: ${error.message}; --simulate.port sets the port`],
      error,
    );
  });
  const required = options.auth === undefined ? '' : `; requires the credentials below (${options.auth})`;
  print(`# Simulated service on ${service.url}${required}\n${config}`);
  printError(nextSteps(service.url));
  if (!signal.aborted) await once(signal, 'abort');
  await service.stop();
}

function nextSteps(url: string): string {
  return `The simulated service runs on ${url}; press Ctrl-C to stop it. Save the configuration from standard output
in config.yaml, and start the exporter in a second terminal:

  telemetry-station-exporter --config.file=config.yaml
`;
}

function start({
  port,
  seed,
  pageCap,
  naming = 'random',
  latencyMs = 0,
  auth,
  recording,
  now = Date.now,
  ...options
}: SimulateOptions) {
  const latency: readonly Fault[] = latencyMs === 0 ? [] : [{ kind: 'latency', ms: latencyMs }];
  const faults = [...latency, ...(options.faults ?? [])];
  if (recording) return startReplay({ recording, port, seed, now, faults, auth });
  const stations = simulatedStations(options);
  return startSimulation({
    port,
    seed,
    now,
    faults,
    naming,
    stations,
    auth,
    ...(pageCap !== undefined && { pageCap }),
  });
}
