import { coverageOf, type StationStatus } from '../inventory/station-status.ts';
import { numberText } from '../inventory/words.ts';

/** Limits on the resources without alert rules, of all stations together. */
interface GateLimits {
  readonly minCoverage?: number | undefined;
  readonly maxWithoutRules?: number | undefined;
}

/** Why the stations are not within the limits. What is not known is not within them. */
export function gateProblems(
  stations: readonly StationStatus[],
  { minCoverage, maxWithoutRules }: GateLimits,
): readonly string[] {
  if (minCoverage === undefined && maxWithoutRules === undefined) return [];
  const problems: string[] = [];
  const sum = { alertable: 0, withRules: 0, withoutRules: 0 };
  for (const station of stations) {
    const reason = unknownReason(station, minCoverage !== undefined);
    if (reason !== undefined) problems.push(`coverage of ${station.name} is unknown: ${reason}`);
    const { alertable, withRules } = knownCoverage(station);
    sum.alertable += alertable;
    sum.withRules += withRules;
    sum.withoutRules += station.snapshot?.withoutRules ?? 0;
  }
  const share = sum.withRules / sum.alertable;
  if (minCoverage !== undefined && share < minCoverage) {
    const counts = `${numberText(sum.withRules)} of ${numberText(sum.alertable)} alertable resources have alert rules`;
    // Rounded down, so that it never looks like the limit.
    problems.push(`coverage is ${Math.floor(share * 10_000) / 10_000}, expected at least ${minCoverage}: ${counts}`);
  }
  if (maxWithoutRules !== undefined && sum.withoutRules > maxWithoutRules)
    problems.push(`${numberText(sum.withoutRules)} resources have no alert rules, expected at most ${maxWithoutRules}`);
  return problems;
}

/** Of the alertable resources only. */
function gatedCoverage(station: StationStatus): ReturnType<typeof coverageOf> {
  const isUnknown = station.snapshot && station.snapshot.alertable === undefined;
  return isUnknown ? 'alertability is not enabled' : coverageOf(station);
}

function knownCoverage(station: StationStatus) {
  const coverage = gatedCoverage(station);
  return typeof coverage === 'object' ? coverage : { alertable: 0, withRules: 0 };
}

/** Without a limit on the share, it does not matter which resources can have alerts. */
function unknownReason(station: StationStatus, isShareLimited: boolean): string | undefined {
  const { snapshot } = station;
  if (snapshot === undefined) return 'its listing failed';
  if (!snapshot.complete) return 'its listing is incomplete';
  const coverage = gatedCoverage(station);
  const hasResources = snapshot.resources > 0 && snapshot.alertable !== 0;
  const isNeeded = isShareLimited || snapshot.withoutRules === undefined;
  return typeof coverage === 'string' && hasResources && isNeeded ? coverage : undefined;
}
