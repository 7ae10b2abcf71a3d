import { type Coverage, coverageShare, isOnlyRejecting, noShareReason, totalsOf } from '../inventory/station-status.ts';
import { countText, numberText } from '../inventory/words.ts';
import type { AggregateGroup } from '../refresh/aggregates.ts';
import type { StationFacts } from './facts.ts';

/** Limits on the resources without alert rules, of all stations together. */
interface CoverageLimits {
  readonly minCoverage?: number | undefined;
  readonly maxWithoutRules?: number | undefined;
}

type CheckedStation = Pick<StationFacts, 'spec' | 'result'>;

export interface CoverageVerdict {
  /** Why the stations are not within the limits. */
  readonly problems: readonly string[];
  /** undefined: no limit is set. */
  readonly coverage?: string;
}

/** What is not known is not within the limits. */
export function coverageVerdict(
  stations: readonly CheckedStation[],
  { minCoverage, maxWithoutRules }: CoverageLimits,
): CoverageVerdict {
  if (minCoverage === undefined && maxWithoutRules === undefined) return { problems: [] };
  const problems: string[] = [];
  const groups: AggregateGroup[] = [];
  for (const station of stations) {
    const { spec, result } = station;
    for (const reason of unknownReasons(station)) problems.push(`coverage of ${spec.name} is unknown: ${reason}`);
    if (!result.ok) continue;
    for (const group of result.aggregates.groups) groups.push(group);
  }
  const sum = totalsOf(groups, false);
  const share = coverageShare(sum);
  if (share !== undefined && minCoverage !== undefined && share < minCoverage)
    problems.push(`${shareWords(share)}, expected at least ${minCoverage}: ${countWords(sum)}`);
  if (maxWithoutRules !== undefined && sum.withoutRules > maxWithoutRules)
    problems.push(`${numberText(sum.withoutRules)} resources have no alert rules, expected at most ${maxWithoutRules}`);
  return {
    problems,
    coverage: share === undefined ? noShareReason(sum) : `${shareWords(share)}: ${countWords(sum)}`,
  };
}

/** Rounded down, so that it never looks like the limit. */
function shareWords(share: number): string {
  return `coverage is ${Math.floor(share * 10_000) / 10_000}`;
}

function countWords({ withRules, withoutRules, unknownCoverage }: Coverage): string {
  const known = `${numberText(withRules)} of ${numberText(withRules + withoutRules)} resources that can have alerts have alert rules`;
  return unknownCoverage === 0 ? known : `${known}, unknown for ${countText(unknownCoverage, 'more resource')}`;
}

/** A station without resources that can have alerts lacks no alert rules. */
function* unknownReasons({ spec, result }: CheckedStation): Iterable<string> {
  if (!result.ok) return yield 'its listing failed';
  const { complete, rejected, parts } = result.snapshot;
  if (!complete)
    yield isOnlyRejecting(result.snapshot) ? `${countText(rejected, 'record')} rejected` : 'its listing is incomplete';
  let unreported = 0;
  let unknownAlertability = 0;
  for (const { alertRules, alertable } of parts.flat()) {
    if (spec.alertability && alertable === undefined) unknownAlertability += 1;
    else if (alertRules === undefined && alertable !== false) unreported += 1;
  }
  if (unreported > 0) yield `alert rules of ${countText(unreported, 'resource')} are not reported`;
  if (unknownAlertability > 0)
    yield `it is not known whether ${countText(unknownAlertability, 'resource')} can have alerts`;
}
