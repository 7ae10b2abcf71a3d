/** A binary heap: the smallest item first. */
export class PriorityQueue<T> {
  readonly #items: T[] = [];
  readonly #isBefore: (a: T, b: T) => boolean;

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.length;
    items.push(item);
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = items[parentAt] as T;
      if (!this.#isBefore(item, parent)) break;
      items[at] = parent;
      at = parentAt;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (items.length === 0 || last === undefined) return first;
    let at = 0;
    for (;;) {
      let childAt = 2 * at + 1;
      if (childAt >= items.length) break;
      const right = items[childAt + 1];
      if (right !== undefined && this.#isBefore(right, items[childAt] as T)) childAt += 1;
      const child = items[childAt] as T;
      if (!this.#isBefore(child, last)) break;
      items[at] = child;
      at = childAt;
    }
    items[at] = last;
    return first;
  }
}
