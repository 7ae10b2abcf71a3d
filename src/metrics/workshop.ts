import type { Turns } from '../station/turns.ts';
import { type Segment, SegmentPress } from './segment.ts';
import type { TextRoom } from './text-room.ts';

/**
 * Where the snapshots of all stations are turned into bytes: one piece of text per turn of the event loop, and few at a time,
 * because each piece holds its text and a compressor until it is done.
 */
export class Workshop {
  readonly #turns: Turns;
  readonly #idle: SegmentPress[];
  readonly #waiting: ((press: SegmentPress) => void)[] = [];

  constructor(turns: Turns, presses: number) {
    this.#turns = turns;
    this.#idle = Array.from({ length: presses }, () => new SegmentPress());
  }

  /** Writes some texts in one turn, then compresses one after the other. */
  async make<Product>(
    write: (room: TextRoom) => Product,
  ): Promise<{ readonly product: Product; readonly segments: ReadonlyMap<string, Segment> }> {
    const press = this.#idle.pop() ?? (await new Promise<SegmentPress>((resolve) => this.#waiting.push(resolve)));
    try {
      const product = await this.#turns.run(() => {
        press.room.clear();
        return write(press.room);
      });
      return { product, segments: await press.segments() };
    } finally {
      const next = this.#waiting.shift();
      if (next) next(press);
      else this.#idle.push(press);
    }
  }
}
