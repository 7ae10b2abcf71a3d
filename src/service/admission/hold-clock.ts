/**
 * The holds of a service by `Retry-After`, and a clock that stands still during them. The clients of a service before and after a reload
 * share it: a hold applies to both, and its time counts once.
 */
export class HoldClock {
  #untilMs = Number.NEGATIVE_INFINITY;
  /** The duration of all holds, to their end. */
  #heldMs = 0;

  /** No request may start before this time; in the past without a hold. */
  get untilMs(): number {
    return this.#untilMs;
  }

  /** A hold never ends earlier than one before it. */
  hold(untilMs: number, nowMs: number): void {
    const furtherMs = untilMs - Math.max(nowMs, this.#untilMs);
    if (furtherMs <= 0) return;
    this.#heldMs += furtherMs;
    this.#untilMs = untilMs;
  }

  activeMs(nowMs: number): number {
    const remainingMs = Math.max(0, this.#untilMs - nowMs);
    return nowMs - (this.#heldMs - remainingMs);
  }
}
