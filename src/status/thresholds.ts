import type { ResourceSets } from '../resources/last-known.ts';

/** The thresholds of the alerts, all exceeded only by more: `npm run generate` writes them to the rules, the mixin and the chart. */
export const THRESHOLDS = {
  TelemetryStationDataStale: { seconds: 480 },
  TelemetryStationListingIncomplete: { criticalShare: 0.2 },
  TelemetryStationUnknownState: { resources: 0, criticalShare: 0.2, criticalResources: 4 },
  TelemetryStationResourcesLost: { share: 0.2, resources: 4, all: 2 },
  TelemetryStationCapacityDropped: { share: 0.2, units: 1.5 },
  TelemetryStationManyResourcesFiring: { share: 0.05, resources: 20, limit: 500, smallShare: 0.5, smallResources: 4 },
  TelemetryStationAlertableWithoutRules: { resources: 0 },
  TelemetryStationExporterDown: { share: 0.3 },
  TelemetryStationOverloaded: { seconds: 120 },
} as const;

/** The default of `-promscrape.maxScrapeSize` of vmagent and VictoriaMetrics, in bytes of plain text. */
export const SCRAPER_LIMIT_BYTES = 16 * 1024 * 1024;

/** With the `for` of the alert: data that reaches its threshold with every refresh is not stale. */
export const STALE_SECONDS = THRESHOLDS.TelemetryStationDataStale.seconds + 12 * 60;

/** `lasting`: the largest number that lasted half an hour within the last six. */
export function isLost(resources: number, lasting: number): boolean {
  const { share, resources: few, all } = THRESHOLDS.TelemetryStationResourcesLost;
  if (resources === 0 && lasting > all) return true;
  return lasting - resources > Math.max(share * lasting, few);
}

export function isManyFiring({ all, firing }: Pick<ResourceSets, 'all' | 'firing'>): boolean {
  const { share, resources, limit, smallShare, smallResources } = THRESHOLDS.TelemetryStationManyResourcesFiring;
  const isManyOfLarge = firing > Math.min(Math.max(share * all, resources), limit);
  return isManyOfLarge || firing > Math.max(smallShare * all, smallResources);
}

export function isStale(ageMs: number): boolean {
  return ageMs > 1000 * STALE_SECONDS;
}

export function hasUnknownStates(unknown: number): boolean {
  return unknown > THRESHOLDS.TelemetryStationUnknownState.resources;
}

/** So many that nothing is known of whether the station has a problem. */
export function hasManyUnknownStates({ all, unknown }: Pick<ResourceSets, 'all' | 'unknown'>): boolean {
  const { criticalShare, criticalResources } = THRESHOLDS.TelemetryStationUnknownState;
  return unknown > Math.max(criticalShare * all, criticalResources);
}

export function lacksMany({ all, missing = 0 }: Pick<ResourceSets, 'all' | 'missing'>): boolean {
  return missing > THRESHOLDS.TelemetryStationListingIncomplete.criticalShare * all;
}

/** `waitingMs`: the longest time that a refresh has waited for its upstream. */
export function isOverloaded(waitingMs: number): boolean {
  return waitingMs > 1000 * THRESHOLDS.TelemetryStationOverloaded.seconds;
}
