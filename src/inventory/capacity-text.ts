import type { CapacityForecast, CapacityRemedies } from './capacity.ts';

/** What a forecast means and, where the capacity does not suffice, what to do. */
interface ForecastText {
  readonly meaning: string;
  readonly advice: string | undefined;
}

/** Of the requests of all stations. */
export function capacityText(forecast: CapacityForecast): ForecastText {
  const { remedies, neededPerSecond } = forecast;
  const unknown =
    forecast.unknownStations === 0
      ? ''
      : ` Stations without data are not included: ${count(forecast.unknownStations)}.`;
  const meaning = `${demandText(forecast)}: ${ageText(forecast)}.${unknown}`;
  return { meaning, advice: remedies && `${adviceText(remedies, forecast.limit, neededPerSecond)}.` };
}

/** Of the slowest station; undefined: all take far less than refresh_timeout. */
export function slowRefreshText({ slowRefresh, limit }: CapacityForecast): Required<ForecastText> | undefined {
  if (slowRefresh === undefined) return undefined;
  const { station, durationMs, refreshTimeoutMs } = slowRefresh;
  const relation = durationMs > refreshTimeoutMs ? 'more than' : 'close to';
  return {
    meaning: `A refresh of station ${station} takes about ${span(durationMs)}, ${relation} its refresh_timeout of ${span(refreshTimeoutMs)}.`,
    advice: `Raise refresh_timeout to ${span(1.5 * durationMs, Math.ceil)}${limit === 'concurrency' ? ', or concurrency' : ''}, or narrow the station with filters.`,
  };
}

function demandText(forecast: CapacityForecast): string {
  const { requests, intervalMs, neededPerSecond, durationMs, possiblePerSecond } = forecast;
  if (intervalMs !== undefined)
    return `${count(requests)} requests every ${span(intervalMs)} take ${span(durationMs)} ${limitText(forecast)}`;
  return `${rate(neededPerSecond)} are needed, ${rate(possiblePerSecond)} are possible ${limitText(forecast)}`;
}

function limitText({ limit, concurrency, latencyMs, possiblePerSecond }: CapacityForecast): string {
  if (limit === 'concurrency')
    return `with concurrency ${concurrency} at ${number(latencyMs, latencyMs < 10 ? 1 : 0)} ms`;
  return `at ${rate(possiblePerSecond)} (${limit === 'throttling' ? 'the service throttles' : limit})`;
}

function ageText({
  delayMs,
  intervalMs,
  durationMs,
  neededPerSecond,
  possiblePerSecond,
  unknownStations,
}: CapacityForecast): string {
  if (delayMs === 0) return `${number((100 * neededPerSecond) / possiblePerSecond, 1)} % of the capacity`;
  const about = unknownStations === 0 ? 'about' : 'at least';
  return intervalMs === undefined
    ? `data will be ${about} ${span(delayMs)} older than ttl`
    : `data will be ${about} ${span(durationMs)} old`;
}

function adviceText(remedies: CapacityRemedies, limit: CapacityForecast['limit'], neededPerSecond: number): string {
  const { limits, ttlMs, ttlFactor, pageSize, furtherRequests, shards } = remedies;
  const raised = [
    ...(limits === undefined ? [] : [both(limits)]),
    ttlMs === undefined ? `ttl by a factor of ${number(ttlFactor, 1, Math.ceil)}` : `ttl to ${span(ttlMs, Math.ceil)}`,
    ...(pageSize === undefined ? [] : [`page_size to ${pageSize}`]),
  ];
  const others = [
    ...(furtherRequests === undefined
      ? []
      : [`remove products and alertability, which take ${count(furtherRequests)} of the requests`]),
    ...(shards === undefined ? [] : [`use ${shards} shards`]),
    ...(limit === 'throttling' ? [`have the service's limit raised to ${rate(neededPerSecond, Math.ceil)}`] : []),
  ];
  return [`Raise ${raised.join(', or ')}`, ...others].join(', or ');
}

function both({ concurrency, requestsPerSecond }: NonNullable<CapacityRemedies['limits']>): string {
  const changes = [
    ...(concurrency === undefined ? [] : [`concurrency to ${concurrency}`]),
    ...(requestsPerSecond === undefined ? [] : [`requests_per_second to ${requestsPerSecond}`]),
  ];
  return changes.join(' and ');
}

type Round = (value: number) => number;

/** In one unit, because these are estimates. */
function span(ms: number, round: Round = Math.round): string {
  if (ms < 100) return `${number(ms, ms < 10 ? 1 : 0, round)} ms`;
  if (ms < 10_000) return `${number(ms / 1000, 1, round)} s`;
  if (ms <= 600_000) return `${number(ms / 1000, 0, round)} s`;
  return ms <= 7_200_000 ? `${number(ms / 60_000, 0, round)} min` : `${number(ms / 3_600_000, 1, round)} h`;
}

function rate(perSecond: number, round: Round = Math.round): string {
  return `${number(perSecond, perSecond < 10 ? 1 : 0, round)} requests/s`;
}

function count(value: number): string {
  return number(value, 0);
}

function number(value: number, digits: number, round: Round = Math.round): string {
  const factor = 10 ** digits;
  return (round(Number((value * factor).toPrecision(12))) / factor).toLocaleString('en-US', {
    maximumFractionDigits: digits,
  });
}
