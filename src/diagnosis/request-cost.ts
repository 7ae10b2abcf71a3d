const HOUR_MS = 3_600_000;

/** What refreshes cost the service: bounded by the hour, or only by how often someone scrapes. */
export interface RequestCost {
  readonly perHour: number;
  readonly perScrape: number;
}

export const NO_COST: RequestCost = { perHour: 0, perScrape: 0 };

/** At most: a refresh begins no sooner than `ttl` after the one before, whoever asks for it. */
export function requestCost(requestsPerRefresh: number, ttlMs: number): RequestCost {
  if (ttlMs === 0) return { perHour: 0, perScrape: requestsPerRefresh };
  return { perHour: (requestsPerRefresh * HOUR_MS) / ttlMs, perScrape: 0 };
}

export function addedCost(a: RequestCost, b: RequestCost): RequestCost {
  return { perHour: a.perHour + b.perHour, perScrape: a.perScrape + b.perScrape };
}

export function costText({ perHour, perScrape }: RequestCost): string {
  const parts = [...(perHour > 0 ? [`${Math.ceil(perHour)}/h`] : []), ...(perScrape > 0 ? [`${perScrape}/scrape`] : [])];
  return parts.length === 0 ? '0' : parts.join(' + ');
}
