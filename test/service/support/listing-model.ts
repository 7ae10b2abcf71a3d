import { between, pick, type Random, randomFrom } from '../../../lab/simulator/random.ts';
import type { PageRequest } from './listing-source.ts';

/** How a service reads `page.offset`. */
const OFFSETS = ['honest', 'ignored', 'from one', 'in pages', 'rounded down to a page'] as const;

/** What changes between two requests. */
const CHANGES = ['none', 'rows added', 'rows removed', 'rows swapped', 'rows added and removed', 'rows moved'] as const;

/** A service and its faults, drawn from a seed. `changeShare`: how probable a change is before each request but the first. */
export type World = ReturnType<typeof drawWorld>;

export function drawWorld(seed: number) {
  const random = randomFrom(seed);
  const sometimes = <const T>(share: number, one: () => T, otherwise: T) => (random() < share ? one() : otherwise);
  const pageSize = pick(random, [2, 3, 4, 5, 8, 10, 20]);
  return {
    seed,
    pageSize,
    total: pick(random, ['right', 'none', 'none', 'zero'] as const),
    offset: sometimes(0.4, () => pick(random, OFFSETS), 'honest'),
    size: sometimes(0.5, () => pick(random, ['ignored', 'capped', 'short pages'] as const), 'honest'),
    cap: between(random, 1, pageSize + 2),
    order: sometimes(0.1, () => 'unstable', 'stable'),
    change: sometimes(0.6, () => pick(random, CHANGES), 'none'),
    changeShare: pick(random, [0.1, 0.3, 0.8]),
    withoutId: sometimes(0.2, () => pick(random, [0.1, 0.5, 1]), 0),
    /** Whether records without an id are all equal. */
    areEqual: seed % 2 === 0,
    duplicated: sometimes(0.15, () => 0.2, 0),
    count: between(random, 0, pick(random, [5, 25, 60])),
    concurrency: pick(random, [1, 4]),
  };
}

interface Row {
  readonly resource_id?: string;
  readonly name: string;
}

/** A service as the contract describes it: its records, its faults, and what was there during the whole listing. */
export class ModelService {
  readonly #world: World;
  readonly #random: Random;
  #rows: Row[] = [];
  #named = 0;
  /** Ids that existed at every request. */
  #throughout: Set<string> | undefined;
  requests = 0;

  constructor(world: World) {
    this.#world = world;
    this.#random = randomFrom(world.seed + 1_000_000_007);
    for (let at = 0; at < world.count; at += 1) this.#insert(at);
    const copies = this.#rows.filter(() => this.#random() < world.duplicated);
    for (const copy of copies) this.#rows.splice(between(this.#random, 0, this.#rows.length), 0, copy);
  }

  answer(request: PageRequest): { resources: readonly Row[]; page: object | null } {
    if (this.requests > 0 && this.#random() < this.#world.changeShare) this.#change();
    const ids = new Set(this.#rows.flatMap(({ resource_id }) => resource_id ?? []));
    this.#throughout = new Set([...(this.#throughout ?? ids)].filter((id) => ids.has(id)));
    const { order, total } = this.#world;
    const listed = order === 'stable' ? this.#rows : shuffled(this.#random, this.#rows);
    const start = this.#start(request);
    const rows = listed.slice(start, start + this.#length(request));
    this.requests += 1;
    return { resources: rows, page: total === 'none' ? null : { total: total === 'zero' ? 0 : this.#rows.length } };
  }

  /** Resources that existed during the whole listing and are not among these ids. */
  missing(listed: ReadonlySet<string>): readonly string[] {
    return [...(this.#throughout ?? [])].filter((id) => !listed.has(id));
  }

  #start({ offset, size }: PageRequest): number {
    switch (this.#world.offset) {
      case 'honest':
        return offset;
      case 'ignored':
        return 0;
      case 'from one':
        return Math.max(0, offset - 1);
      case 'in pages':
        return offset * size;
      case 'rounded down to a page':
        return offset - (offset % size);
    }
  }

  #length({ size }: PageRequest): number {
    switch (this.#world.size) {
      case 'honest':
        return size;
      case 'ignored':
        return Number.POSITIVE_INFINITY;
      case 'capped':
        return Math.min(size, this.#world.cap);
      case 'short pages':
        return between(this.#random, 1, size);
    }
  }

  #change(): void {
    const { change } = this.#world;
    if (change === 'none') return;
    const adds =
      change === 'rows added' ||
      change === 'rows swapped' ||
      (change === 'rows added and removed' && this.#random() < 0.5);
    const removes =
      change === 'rows removed' || change === 'rows swapped' || (change === 'rows added and removed' && !adds);
    if (removes) this.#rows.splice(this.#place(), 1);
    if (adds) this.#insert(pick(this.#random, [this.#rows.length, 0, this.#place()]));
    if (change === 'rows moved' && this.#rows.length > 1) {
      const [row] = this.#rows.splice(this.#place(), 1) as [Row];
      this.#rows.splice(this.#place(), 0, row);
    }
  }

  #place(): number {
    return between(this.#random, 0, Math.max(0, this.#rows.length - 1));
  }

  #insert(at: number): void {
    this.#named += 1;
    const name = `record ${this.#named}`;
    this.#rows.splice(
      at,
      0,
      this.#random() < this.#world.withoutId
        ? { name: this.#world.areEqual ? 'equal' : name }
        : { resource_id: `r${this.#named}`, name },
    );
  }
}

function shuffled<T>(random: Random, all: readonly T[]): T[] {
  return all
    .map((one) => ({ one, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ one }) => one);
}
