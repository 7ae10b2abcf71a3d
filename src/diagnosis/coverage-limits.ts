import { labelText } from '../model/values.ts';
import type { AggregateGroup } from '../resources/aggregates.ts';
import { type Resource, resourceLabel } from '../resources/fields.ts';
import type { ResourceSpec } from '../resources/spec.ts';
import { type Coverage, coveredRange, leastCoverage, noShareReason, totalsOf } from '../status/totals.ts';
import { countText, durationText, numberText } from '../text/words.ts';
import type { StationResult } from './check-result.ts';

/** The exact value of a label of `resource_labels`; '' is that of resources without one. */
interface LabelFilter {
  readonly label: string;
  readonly value: string;
}

/** Limits on the resources without alert rules, of all stations together. */
interface CoverageLimits {
  readonly minCoverage?: number | undefined;
  readonly maxWithoutRules?: number | undefined;
  /** How long a resource may exist without alert rules. */
  readonly maxAgeMs?: number | undefined;
  readonly nowMs?: number;
  /** Only resources with all of these count. */
  readonly labels?: readonly LabelFilter[];
}

type CheckedStation = Pick<StationResult, 'spec' | 'listed'>;

export interface CoverageVerdict {
  /** Why the stations are not within the limits. */
  readonly problems: readonly string[];
  /** undefined: no limit is set. */
  readonly coverage?: string;
}

/** What is not known is not within the limits. */
export function coverageVerdict(
  stations: readonly CheckedStation[],
  { minCoverage, maxWithoutRules, maxAgeMs, nowMs = 0, labels = [] }: CoverageLimits,
): CoverageVerdict {
  if (minCoverage === undefined && maxWithoutRules === undefined && maxAgeMs === undefined) return { problems: [] };
  const concerned = stations.filter(({ spec }) => mayHaveLabels(spec, labels));
  const problems = concerned.flatMap((station) =>
    Array.from(unknownReasons(station, labels), (reason) => `coverage of ${station.spec.name} is unknown: ${reason}`),
  );
  const groups = concerned.flatMap((station) => groupsOf(station, labels));
  // Otherwise a mistyped owner would pass.
  if (labels.length > 0 && groups.length === 0) problems.push(`no resource has ${labelWords(labels)}`);
  const sum = totalsOf(groups, false);
  const counts = countWords(sum);
  const least = leastCoverage(sum);
  if (least !== undefined && minCoverage !== undefined && least < minCoverage)
    problems.push(`${shareWords(sum, labels)}, expected at least ${minCoverage}: ${counts}`);
  if (maxWithoutRules !== undefined && sum.withoutRules > maxWithoutRules)
    problems.push(
      `${countText(sum.withoutRules, 'resource')}${ofLabels(labels)} ${sum.withoutRules === 1 ? 'has' : 'have'} no alert rules, expected at most ${maxWithoutRules}`,
    );
  const { oldestUncovered = Infinity, unknownAge } = sum;
  const ageMs = nowMs - 1000 * oldestUncovered;
  if (maxAgeMs !== undefined && ageMs > maxAgeMs)
    problems.push(
      `the oldest resource${ofLabels(labels)} without alert rules is ${durationText(ageMs)} old, expected at most ${durationText(maxAgeMs)}`,
    );
  if (maxAgeMs !== undefined && unknownAge > 0)
    problems.push(
      `the age of ${countText(unknownAge, 'resource')}${ofLabels(labels)} without alert rules is unknown: create_time is not reported`,
    );
  return {
    problems,
    coverage: least === undefined ? noShareReason(sum) : `${shareWords(sum, labels)}: ${counts}`,
  };
}

function groupsOf({ listed }: CheckedStation, labels: readonly LabelFilter[]): readonly AggregateGroup[] {
  return [...(listed?.aggregates.groups ?? [])].filter((group) => hasLabels(group, labels));
}

export function hasLabels(labelled: Pick<Resource, 'labels'>, filters: readonly LabelFilter[]): boolean {
  return filters.every(({ label, value }) => resourceLabel(labelled, label) === value);
}

/** A station that fails does not matter to an owner who has no resources there. */
function mayHaveLabels({ resourceLabels }: ResourceSpec, filters: readonly LabelFilter[]): boolean {
  const values = (label: string) => resourceLabels.entries.map(({ labels = {} }) => labelText(labels[label] ?? ''));
  return filters.every(({ label, value }) => value === '' || values(label).includes(value));
}

function labelWords(labels: readonly LabelFilter[]): string {
  return labels.map(({ label, value }) => `${label}=${value}`).join(' and ');
}

function ofLabels(labels: readonly LabelFilter[]): string {
  return labels.length === 0 ? '' : ` with ${labelWords(labels)}`;
}

/** Rounded down, so that it never looks like the limit. */
function shareWords(coverage: Coverage, labels: readonly LabelFilter[]): string {
  const whose = labels.length === 0 ? '' : ` of resources${ofLabels(labels)}`;
  const { covered = [], all = 0 } = coveredRange(coverage) ?? {};
  const shares = new Set(covered.map((part) => Math.floor((10_000 * part) / all) / 10_000));
  return `coverage${whose} is ${[...shares].join(' to ')}`;
}

function countWords({ withRules, withoutRules, unknownCoverage }: Coverage): string {
  const more = unknownCoverage === 0 ? '' : `, unknown for ${numberText(unknownCoverage)}`;
  const all = withRules + withoutRules + unknownCoverage;
  return `${numberText(withRules)} of ${countText(all, 'resource')} have alert rules${more}`;
}

/** A station without resources that can have alerts lacks no alert rules. */
function* unknownReasons(station: CheckedStation, labels: readonly LabelFilter[]): Iterable<string> {
  if (station.listed === undefined) return yield 'its listing failed';
  if (!station.listed.snapshot.complete) yield 'its listing is incomplete';
  const { unknownCoverage } = totalsOf(groupsOf(station, labels), false);
  if (unknownCoverage > 0)
    yield `alert rules of ${countText(unknownCoverage, 'resource')}, or whether they can have alerts, are not reported`;
}
