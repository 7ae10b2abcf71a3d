import { setTimeout as wait } from 'node:timers/promises';
import { startChild } from './child.ts';
import { withConfigFile } from './config-file.ts';
import { type Figure, figure, median } from './figure.ts';
import { type FleetShape, stationNames } from './fleet.ts';
import { BARE, imageOptions, MAIN, type RunningNode, startNode } from './program.ts';
import type { ServiceMethods } from './service.ts';

const FLEETS = [
  { shape: { stations: 1, resourcesPerStation: 10 }, maxRatio: 1.5 },
  { shape: { stations: 10, resourcesPerStation: 1000 }, maxRatio: 2.1 },
];
const IDLE_SECONDS = 30;
const SAMPLES = 10;
const MB = 1e6;

/** Resident memory with the options of the image after half a minute with background refreshes and no scrapes. */
export async function idleFigures(): Promise<Figure[]> {
  const bare = await startNode(BARE, 'started');
  const bareBytes = await idleBytes(bare);
  await bare.stop();
  const figures: Figure[] = [figure('Node without a program, resident memory', bareBytes / MB, 'MB')];
  for (const { shape, maxRatio } of FLEETS) {
    const bytes = await measure(shape);
    const name = `${(shape.stations * shape.resourcesPerStation).toLocaleString('en')} resources, resident memory`;
    figures.push(
      figure(name, bytes / MB, 'MB'),
      figure(`${name} relative to Node without a program`, bytes / bareBytes, '×', maxRatio),
    );
  }
  return figures;
}

async function measure(shape: FleetShape): Promise<number> {
  const service = startChild<ServiceMethods>('service');
  try {
    const servicePort = await service.call('start', { shape });
    return await withConfigFile({ servicePort, stations: stationNames(shape), backgroundTtl: '5s' }, async (file) => {
      const exporter = await startNode(
        [...imageOptions(), MAIN, `--config.file=${file}`, '--web.listen-address=127.0.0.1:0'],
        'msg=listening',
      );
      try {
        return await idleBytes(exporter);
      } finally {
        await exporter.stop();
      }
    });
  } finally {
    await service.stop();
  }
}

/** The median of the last seconds. */
async function idleBytes(node: RunningNode): Promise<number> {
  await wait((IDLE_SECONDS - SAMPLES) * 1000);
  const samples: number[] = [];
  while (samples.length < SAMPLES) {
    await wait(1000);
    samples.push(node.residentBytes());
  }
  return median(samples);
}
