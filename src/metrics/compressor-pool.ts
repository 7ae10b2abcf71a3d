import type { TaskQueue } from '../station/task-queue.ts';
import { Compressor, type Segment } from './segment.ts';
import type { TextBuffer } from './text-buffer.ts';

/**
 * Where the snapshots of all stations are turned into bytes: one piece of text per turn of the event loop, and few at a time,
 * because each piece holds its text and a compressor until it is done.
 */
export class CompressorPool {
  readonly #tasks: TaskQueue;
  readonly #idle: Compressor[];
  readonly #waiting: ((compressor: Compressor) => void)[] = [];

  constructor(tasks: TaskQueue, presses: number) {
    this.#tasks = tasks;
    this.#idle = Array.from({ length: presses }, () => new Compressor());
  }

  /** Writes some texts in one turn, then compresses one after the other. */
  async make<Product>(
    write: (buffer: TextBuffer) => Product,
  ): Promise<{ readonly product: Product; readonly segments: ReadonlyMap<string, Segment> }> {
    const compressor = this.#idle.pop() ?? (await new Promise<Compressor>((resolve) => this.#waiting.push(resolve)));
    try {
      const product = await this.#tasks.run(() => {
        compressor.buffer.clear();
        return write(compressor.buffer);
      });
      return { product, segments: await compressor.segments() };
    } finally {
      const next = this.#waiting.shift();
      if (next) next(compressor);
      else this.#idle.push(compressor);
    }
  }
}
