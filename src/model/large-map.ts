/** A map of this size grows within a few milliseconds. */
const MAX_FIRST = 50_000;

const SHARDS = 64;

/**
 * A map from texts that can have hundreds of thousands of entries: to grow a Map of that size takes 50 milliseconds at once. The first
 * entries are in one Map, and the others in many, each of which stays small.
 */
export class LargeMap<Value extends string | true> {
  readonly #first = new Map<string, Value>();
  readonly #shards: Map<string, Value>[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(key: string): Value | undefined {
    return this.#first.get(key) ?? (this.#shards.length === 0 ? undefined : this.#shards[shardOf(key)]?.get(key));
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  /** Adds an entry for a key that has none: callers know, and to look it up again takes as long as adding it. */
  add(key: string, value: Value): void {
    this.#size += 1;
    if (this.#first.size < MAX_FIRST) {
      this.#first.set(key, value);
      return;
    }
    while (this.#shards.length < SHARDS) this.#shards.push(new Map());
    this.#shards[shardOf(key)]?.set(key, value);
  }
}

/** A hash of all characters: ids may have long parts in common. */
function shardOf(key: string): number {
  let hash = 0;
  for (let at = 0; at < key.length; at += 1) hash = (Math.imul(hash, 31) + key.charCodeAt(at)) | 0;
  // The lowest bits of a sum of products depend on few characters.
  return ((hash ^ (hash >>> 12)) >>> 0) % SHARDS;
}
