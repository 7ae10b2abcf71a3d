/** The queue and the limits of an upstream at one moment. */
export interface UpstreamLoad {
  /** Infinity: no limit. */
  readonly requestsPerSecond: number;
  /** How long `Retry-After` still holds all requests; 0: not at all. */
  readonly holdMs: number;
  /** Of the last five minutes. */
  readonly recentRequests: number;
  readonly recentThrottled: number;
  /** Refreshes that wait for the admission of their first request. */
  readonly waitingRefreshes: number;
  /** For how long the first of them has waited; 0: none waits. */
  readonly oldestWaitingMs: number;
  readonly hangingStations: number;
  /** Of a request without its time in the queue; undefined: no reply so far. */
  readonly typicalLatencyMs: number | undefined;
}

/** What refreshes of a station cost. */
export interface StationWork {
  readonly name: string;
  readonly ttlMs: number;
  readonly refreshTimeoutMs: number;
  /** Of the latest refresh; undefined: it failed, or there was none. */
  readonly durationMs: number | undefined;
  /** undefined: there is no snapshot. */
  readonly listed: ListedWork | undefined;
}

/** What the latest snapshot of a station took. */
export interface ListedWork {
  /** Of all listings. */
  readonly requests: number;
  /** Of the listings of products and of alertable resources. */
  readonly furtherRequests: number;
  /** Each takes at least one request. */
  readonly listings: number;
  /** In the main listing. */
  readonly records: number;
}

/** The configured limits of an upstream. */
export interface UpstreamLimits {
  readonly concurrency: number;
  /** 0: no limit. */
  readonly requestsPerSecond: number;
  readonly pageSize: number;
}

/** Whether an upstream allows every station to be refreshed once per ttl. */
export interface CapacityForecast {
  /** Of one refresh of every station. */
  readonly requests: number;
  readonly neededPerSecond: number;
  readonly possiblePerSecond: number;
  /** What determines the possible rate. */
  readonly limit: 'concurrency' | 'requests_per_second' | 'throttling';
  readonly concurrency: number;
  readonly latencyMs: number;
  /** How often every station is to be refreshed; undefined: they differ. */
  readonly intervalMs: number | undefined;
  /** How long the requests take. */
  readonly durationMs: number;
  /** How much older than ttl data gets; 0: the capacity suffices. */
  readonly delayMs: number;
  /** undefined: the capacity suffices. */
  readonly remedies: CapacityRemedies | undefined;
  /** The station whose refresh takes the largest share of refresh_timeout; undefined: all take far less. */
  readonly slowRefresh: SlowRefresh | undefined;
  /** Stations left out because they have no snapshot. */
  readonly unknownStations: number;
}

/** Changes of the configuration that make the capacity suffice, each of them alone; undefined: it cannot. */
export interface CapacityRemedies {
  /** Both together, if both are set. */
  readonly limits:
    | { readonly concurrency: number | undefined; readonly requestsPerSecond: number | undefined }
    | undefined;
  /** For every station. */
  readonly ttlMs: number | undefined;
  /** Where ttl differs between stations. */
  readonly ttlFactor: number;
  readonly pageSize: number | undefined;
  /** Without products and alertability there are fewer requests by this number. */
  readonly furtherRequests: number | undefined;
  readonly shards: number | undefined;
}

interface SlowRefresh {
  readonly station: string;
  readonly durationMs: number;
  readonly refreshTimeoutMs: number;
}

type KnownWork = StationWork & { readonly listed: ListedWork };

/** With a ttl of 0 every scrape refreshes: Prometheus scrapes once per minute unless configured otherwise. */
const SCRAPE_INTERVAL_MS = 60_000;

/** The highest concurrency that the configuration allows. */
const MAX_CONCURRENCY = 1000;

/** Few services return more records per page. */
const MAX_PAGE_SIZE = 1000;

/** A refresh that takes a larger share of refresh_timeout fails as soon as the service gets a little slower. */
const MAX_TIMEOUT_SHARE = 0.8;

/** Rounding errors are no overload. */
const TOLERANCE = 1.000001;

/** Compares the requests that the stations of an upstream need with those that it allows; undefined: too little is known. */
export function forecastCapacity(
  stations: readonly StationWork[],
  limits: UpstreamLimits,
  { typicalLatencyMs: latencyMs, requestsPerSecond }: Pick<UpstreamLoad, 'typicalLatencyMs' | 'requestsPerSecond'>,
): CapacityForecast | undefined {
  const known = stations.filter((station): station is KnownWork => station.listed !== undefined);
  if (known.length === 0 || latencyMs === undefined) return undefined;
  const demand = demandOf(known);
  const requests = total(demand);
  const neededPerSecond = neededRate(demand);
  const bySlots = latencyMs > 0 ? (1000 * limits.concurrency) / latencyMs : Number.POSITIVE_INFINITY;
  const possiblePerSecond = Math.min(bySlots, requestsPerSecond);
  const isThrottled = requestsPerSecond < (limits.requestsPerSecond || Number.POSITIVE_INFINITY);
  const rateLimit = isThrottled ? 'throttling' : 'requests_per_second';
  const isEnough = neededPerSecond <= TOLERANCE * possiblePerSecond;
  return {
    requests,
    neededPerSecond,
    possiblePerSecond,
    limit: bySlots <= requestsPerSecond ? 'concurrency' : rateLimit,
    concurrency: limits.concurrency,
    latencyMs,
    intervalMs: onlyInterval(demand),
    durationMs: (1000 * requests) / possiblePerSecond,
    delayMs: isEnough ? 0 : refreshDelayMs(demand, possiblePerSecond),
    remedies: isEnough
      ? undefined
      : remediesFor(known, limits, { latencyMs, requestsPerSecond, isThrottled, possiblePerSecond }),
    slowRefresh: slowestRefresh(known, possiblePerSecond),
    unknownStations: stations.length - known.length,
  };
}

interface Capacity {
  readonly latencyMs: number;
  readonly requestsPerSecond: number;
  readonly isThrottled: boolean;
  readonly possiblePerSecond: number;
}

function remediesFor(known: readonly KnownWork[], limits: UpstreamLimits, capacity: Capacity): CapacityRemedies {
  const { latencyMs, requestsPerSecond, isThrottled, possiblePerSecond } = capacity;
  const demand = demandOf(known);
  const needed = neededRate(demand);
  const load = needed / possiblePerSecond;
  const slots = ceil((needed * latencyMs) / 1000);
  const rate = needed > requestsPerSecond ? ceil(needed) : undefined;
  // No setting of ours raises the limit of the service.
  const areLimitsEnough = (rate === undefined || !isThrottled) && slots <= MAX_CONCURRENCY;
  const interval = onlyInterval(demand);
  const withoutFurther = demandOf(known, ({ requests, furtherRequests }) => requests - furtherRequests);
  const isEnoughWithoutFurther = neededRate(withoutFurther) <= possiblePerSecond;
  return {
    limits: areLimitsEnough
      ? { concurrency: slots > limits.concurrency ? slots : undefined, requestsPerSecond: rate }
      : undefined,
    ttlMs: interval && load * interval,
    ttlFactor: load,
    pageSize: largerPageSize(known, limits.pageSize, possiblePerSecond),
    furtherRequests: isEnoughWithoutFurther ? total(demand) - total(withoutFurther) : undefined,
    // Each shard has its own concurrency; a rate limit usually counts all of them together.
    shards: rate === undefined ? ceil(load) : undefined,
  };
}

/** The smallest multiple of the page size that suffices. */
function largerPageSize(known: readonly KnownWork[], pageSize: number, possiblePerSecond: number): number | undefined {
  if (!known.every(({ listed }) => followsPageSize(listed, pageSize))) return undefined;
  for (let factor = 2; factor * pageSize <= MAX_PAGE_SIZE; factor += 1) {
    const larger = demandOf(known, ({ requests, listings }) => Math.max(listings, Math.ceil(requests / factor)));
    if (neededRate(larger) <= possiblePerSecond) return factor * pageSize;
  }
  return undefined;
}

/** Services that limit the page size themselves return many short pages; one more pass is allowed for. */
function followsPageSize({ requests, furtherRequests, records }: ListedWork, pageSize: number): boolean {
  return requests - furtherRequests <= 2 * Math.ceil(records / pageSize) + 1;
}

/** The requests of one refresh of each station, by the interval of the refreshes. */
type Demand = ReadonlyMap<number, number>;

function demandOf(known: readonly KnownWork[], requestsOf = ({ requests }: ListedWork) => requests): Demand {
  const demand = new Map<number, number>();
  for (const { ttlMs, listed } of known) {
    const intervalMs = ttlMs || SCRAPE_INTERVAL_MS;
    demand.set(intervalMs, (demand.get(intervalMs) ?? 0) + requestsOf(listed));
  }
  return demand;
}

function total(demand: Demand): number {
  return [...demand.values()].reduce((sum, requests) => sum + requests, 0);
}

function onlyInterval(demand: Demand): number | undefined {
  return demand.size === 1 ? [...demand.keys()][0] : undefined;
}

/** Per second, when each refresh starts later than due by the delay. */
function neededRate(demand: Demand, delayMs = 0): number {
  return Array.from(demand, ([intervalMs, requests]) => (1000 * requests) / (intervalMs + delayMs)).reduce(
    (sum, rate) => sum + rate,
    0,
  );
}

/** Refreshes start in the order in which they became due, so that each one waits for the same time: it is found by bisection. */
function refreshDelayMs(demand: Demand, possiblePerSecond: number): number {
  let [low, high] = [0, (1000 * total(demand)) / possiblePerSecond];
  while (high - low > 1) {
    const middle = (low + high) / 2;
    if (neededRate(demand, middle) > possiblePerSecond) low = middle;
    else high = middle;
  }
  return high;
}

/** A started refresh gets all of the capacity, so that it takes at least its requests divided by that. */
function slowestRefresh(known: readonly KnownWork[], possiblePerSecond: number): SlowRefresh | undefined {
  const refreshes = known.map(({ name, listed, durationMs = 0, refreshTimeoutMs }) => ({
    station: name,
    durationMs: Math.max(durationMs, (1000 * listed.requests) / possiblePerSecond),
    refreshTimeoutMs,
  }));
  const share = (refresh: SlowRefresh) => refresh.durationMs / refresh.refreshTimeoutMs;
  const slowest = refreshes.reduce((slow, refresh) => (share(refresh) > share(slow) ? refresh : slow));
  return share(slowest) > MAX_TIMEOUT_SHARE ? slowest : undefined;
}

/** Without the rounding error of a double, which would raise an integer to the next one. */
function ceil(value: number): number {
  return Math.ceil(Number(value.toPrecision(12)));
}
