const DAY_MS = 86_400_000;

/** The remaining lifetime of a certificate, or the day on which it expired. */
export function lifetimeText(validToMs: number, nowMs: number): string {
  const days = daysUntil(validToMs, nowMs);
  return days >= 0 ? `${days} days left` : `expired ${isoDate(validToMs)}`;
}

/** In full days, rounded down; negative in the past. */
export function daysUntil(timeMs: number, nowMs: number): number {
  return Math.floor((timeMs - nowMs) / DAY_MS);
}

export function isoDate(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}
