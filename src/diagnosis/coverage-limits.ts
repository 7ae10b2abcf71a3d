import { totalsOf } from '../inventory/station-status.ts';
import { countText, numberText } from '../inventory/words.ts';
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
  const sum = { alertable: 0, withRules: 0, withoutRules: 0 };
  for (const station of stations) {
    const { spec, result } = station;
    for (const reason of unknownReasons(station)) problems.push(`coverage of ${spec.name} is unknown: ${reason}`);
    if (!('snapshot' in result)) continue;
    const { coverage, withoutRules = 0 } = totalsOf(result.aggregates.groups, spec.alertability);
    sum.alertable += coverage?.alertable ?? 0;
    sum.withRules += coverage?.withRules ?? 0;
    sum.withoutRules += withoutRules;
  }
  const share = sum.withRules / sum.alertable;
  // Rounded down, so that it never looks like the limit.
  const rounded = Math.floor(share * 10_000) / 10_000;
  const counts = `${numberText(sum.withRules)} of ${numberText(sum.alertable)} resources that can have alerts have alert rules`;
  if (minCoverage !== undefined && share < minCoverage)
    problems.push(`coverage is ${rounded}, expected at least ${minCoverage}: ${counts}`);
  if (maxWithoutRules !== undefined && sum.withoutRules > maxWithoutRules)
    problems.push(`${numberText(sum.withoutRules)} resources have no alert rules, expected at most ${maxWithoutRules}`);
  return {
    problems,
    coverage: sum.alertable === 0 ? 'no resource can have alerts' : `coverage is ${rounded}: ${counts}`,
  };
}

/** A station without resources that can have alerts lacks no alert rules. */
function* unknownReasons({ spec, result }: CheckedStation): Iterable<string> {
  if (!('snapshot' in result)) return yield 'its listing failed';
  const { complete, rejected, parts } = result.snapshot;
  if (!complete) yield 'its listing is incomplete';
  else if (rejected > 0) yield `${countText(rejected, 'record')} rejected`;
  const unreported = parts
    .flat()
    .filter(({ alertRules, alertable = !spec.alertability }) => alertRules === undefined && alertable).length;
  if (unreported > 0) yield `alert rules of ${countText(unreported, 'resource')} are not reported`;
}
