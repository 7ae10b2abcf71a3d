/** The thresholds of the alerts, all exceeded only by more: `npm run generate` writes them to the rules, the mixin and the chart. */
export const THRESHOLDS = {
  TelemetryStationDataStale: { seconds: 480 },
  TelemetryStationUnknownState: { resources: 0 },
  TelemetryStationResourcesLost: { share: 0.2, resources: 4 },
  TelemetryStationCapacityDropped: { share: 0.2, units: 1.5 },
  TelemetryStationManyResourcesFiring: { share: 0.05, resources: 20, limit: 500 },
  TelemetryStationAlertableWithoutRules: { resources: 0 },
  TelemetryStationExporterDown: { share: 0.3 },
  TelemetryStationScrapeSlow: { seconds: 8 },
  TelemetryStationOverloaded: { seconds: 120 },
} as const;

/** With the `for` of the alert: data that reaches its threshold with every refresh is not stale. */
export const STALE_SECONDS = THRESHOLDS.TelemetryStationDataStale.seconds + 12 * 60;

/** `most`: the largest number of the last six hours. */
export function isLost(resources: number, most: number): boolean {
  const { share, resources: few } = THRESHOLDS.TelemetryStationResourcesLost;
  return most - resources > Math.max(share * most, few);
}

export function isManyFiring(firing: number, resources: number): boolean {
  const { share, resources: few, limit } = THRESHOLDS.TelemetryStationManyResourcesFiring;
  return firing > Math.min(Math.max(share * resources, few), limit);
}

export function isStale(ageMs: number): boolean {
  return ageMs > 1000 * STALE_SECONDS;
}

export function hasUnknownStates(resources: number): boolean {
  return resources > THRESHOLDS.TelemetryStationUnknownState.resources;
}

/** `waitingMs`: the longest time that a refresh has waited for its upstream. */
export function isOverloaded(waitingMs: number): boolean {
  return waitingMs > 1000 * THRESHOLDS.TelemetryStationOverloaded.seconds;
}
