import { onTestFinished } from 'vitest';
import { type ServiceOptions, type SimulatedService, startSimulatedService } from '../../src/simulator/service.ts';
import { eventually } from '../web/eventually.ts';
import { startExporter } from './harness.ts';

export type RunningExporter = Awaited<ReturnType<typeof startExporter>>;

/** The simulated service, which ends with the test. */
export async function serviceOf(options: ServiceOptions = {}): Promise<SimulatedService> {
  const service = await startSimulatedService(options);
  onTestFinished(() => service.stop());
  return service;
}

/** An exporter that has just started, which ends with the test. */
export async function exporterOf(...[config, options]: Parameters<typeof startExporter>): Promise<RunningExporter> {
  const exporter = await startExporter(config, options);
  onTestFinished(() => exporter.stop());
  return exporter;
}

/** An exporter whose first refreshes are over, so that the next request at the service comes from the test. */
export async function readyExporterOf(...[config, options]: Parameters<typeof startExporter>): Promise<RunningExporter> {
  const exporter = await exporterOf(config, options);
  await eventually(async () => {
    const { status } = await exporter.get('/-/ready');
    if (status !== 200) throw new Error('not ready');
  });
  return exporter;
}
