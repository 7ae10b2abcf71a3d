import { startChild } from './child.ts';
import type { ExporterMethods } from './exporter.ts';
import { type Figure, figure, median } from './figure.ts';
import type { HostileServiceMethods } from './hostile-service.ts';
import { HOSTILE_SHAPES, type HostileShape } from './hostile-shapes.ts';
import { scrape } from './load.ts';
import { PAGE_SIZE } from './setup.ts';

const RUNS = 3;

const MAX_TURN_MS = 50;

/** The replies whose IDs are also read for products and joined. */
const JOINED_SHAPES: readonly HostileShape[] = ['records that only have an ID', 'one duplicate among 600,000 IDs'];

export const HOSTILE_NOTE =
  'The longest iteration of the event loop while the exporter reads one reply, by what that reply contains.';

/** One figure per reply that takes long to read. */
export async function hostileFigures(): Promise<Figure[]> {
  return [...(await figuresOf(HOSTILE_SHAPES, [])), ...(await figuresOf(JOINED_SHAPES, ['a', 'b', 'c']))];
}

/** Every listing of the station has the same reply. */
async function figuresOf(shapes: readonly HostileShape[], products: string[]): Promise<Figure[]> {
  const service = startChild<HostileServiceMethods>('hostile-service');
  const exporter = startChild<ExporterMethods>('exporter');
  try {
    const servicePort = await service.call('start');
    const limits = { ttl: '0s', errorTtl: '0s', pageSize: PAGE_SIZE, concurrency: 1, resourceLabels: [] };
    const port = await exporter.call('start', { servicePort, stations: ['ts'], products, ...limits });
    const longestTurn = async (shape: HostileShape) => {
      await service.call('setShape', shape);
      await exporter.call('maxLoopDelay');
      await scrape(port);
      return exporter.call('maxLoopDelay');
    };
    const figures: Figure[] = [];
    for (const shape of shapes) {
      const turns: number[] = [];
      for (let run = 0; run < RUNS; run += 1) turns.push(await longestTurn(shape));
      const name = products.length > 0 ? `${shape}, also for products` : shape;
      figures.push(figure(name, median(turns), 'ms', MAX_TURN_MS));
    }
    return figures;
  } finally {
    await exporter.stop();
    await service.stop();
  }
}
