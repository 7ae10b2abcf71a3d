/** Counts events of a sliding window in a ring of slots. */
export class RecentCounts<Name extends string> {
  readonly windowMs: number;
  readonly #slotMs: number;
  readonly #slots: { at: number; counts: Partial<Record<Name, number>> }[];

  constructor(windowMs: number, slots = 30) {
    this.windowMs = windowMs;
    this.#slotMs = windowMs / slots;
    this.#slots = Array.from({ length: slots }, () => ({ at: Number.NEGATIVE_INFINITY, counts: {} }));
  }

  add(name: Name, nowMs: number): void {
    const at = Math.floor(nowMs / this.#slotMs);
    const index = at % this.#slots.length;
    let slot = this.#slots[index];
    if (slot?.at !== at) {
      slot = { at, counts: {} };
      this.#slots[index] = slot;
    }
    slot.counts[name] = (slot.counts[name] ?? 0) + 1;
  }

  total(name: Name, nowMs: number): number {
    const oldest = Math.floor(nowMs / this.#slotMs) - this.#slots.length;
    return this.#slots.reduce((sum, { at, counts }) => (at > oldest ? sum + (counts[name] ?? 0) : sum), 0);
  }
}
