const HTTP_DATE = /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? /;

/** No wait that a service asks for is longer; it also keeps an absurd number within what a timer can hold. */
const MAX_WAIT_MS = 24 * 60 * 60 * 1000;

/** How long a `Retry-After` header asks to wait, from seconds or an HTTP date; undefined when it says nothing usable. */
export function retryAfterMs(header: string | readonly string[] | undefined, nowMs: number): number | undefined {
  const text = [header].flat()[0]?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text) * 1000, MAX_WAIT_MS);
  const dateMs = httpDateMs(text);
  return dateMs === undefined ? undefined : Math.min(Math.max(dateMs - nowMs, 0), MAX_WAIT_MS);
}

/** The time an HTTP date names, in any of its three forms (the oldest one leaves out its zone, which is always GMT). */
export function httpDateMs(text: string): number | undefined {
  if (!HTTP_DATE.test(text)) return undefined;
  const timeMs = Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`);
  return Number.isNaN(timeMs) ? undefined : timeMs;
}
