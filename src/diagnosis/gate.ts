import { type Coverage, coverageOf, type StationStatus } from '../inventory/station-status.ts';
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
    const reason = unknownReason(station);
    if (reason !== undefined) problems.push(`coverage of ${station.name} is unknown: ${reason}`);
    const coverage = coverageOf(station);
    const { alertable, withRules } = typeof coverage === 'object' ? coverage : NOTHING;
    sum.alertable += alertable;
    sum.withRules += withRules;
    sum.withoutRules += station.snapshot?.withoutRules ?? 0;
  }
  const share = sum.withRules / sum.alertable;
  if (minCoverage !== undefined && share < minCoverage) {
    const counts = `${numberText(sum.withRules)} of ${numberText(sum.alertable)} resources that can have alerts have alert rules`;
    // Rounded down, so that it never looks like the limit.
    problems.push(`coverage is ${Math.floor(share * 10_000) / 10_000}, expected at least ${minCoverage}: ${counts}`);
  }
  if (maxWithoutRules !== undefined && sum.withoutRules > maxWithoutRules)
    problems.push(`${numberText(sum.withoutRules)} resources have no alert rules, expected at most ${maxWithoutRules}`);
  return problems;
}

const NOTHING: Coverage = { alertable: 0, withRules: 0 };

/** A station without resources that can have alerts lacks no alert rules. */
function unknownReason({ snapshot }: StationStatus): string | undefined {
  if (snapshot === undefined) return 'its listing failed';
  if (!snapshot.complete) return 'its listing is incomplete';
  const { resources, alertable, withoutRules } = snapshot;
  return withoutRules === undefined && resources > 0 && alertable !== 0 ? 'alert rules are not reported' : undefined;
}
