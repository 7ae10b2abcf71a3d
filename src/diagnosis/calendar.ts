const DAY_MS = 86_400_000;

export function lifeText(untilMs: number, nowMs: number): string {
  const days = daysLeft(untilMs, nowMs);
  return days >= 0 ? `${days} days left` : `ended ${isoDay(untilMs)}`;
}

/** Whole days until then; negative when it has passed. */
export function daysLeft(untilMs: number, nowMs: number): number {
  return Math.floor((untilMs - nowMs) / DAY_MS);
}

export function isoDay(timeMs: number): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}
