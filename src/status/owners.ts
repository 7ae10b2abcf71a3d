import { getOrCreate } from '../model/sums.ts';
import type { Aggregates } from '../resources/aggregates.ts';
import { resourceLabel } from '../resources/fields.ts';
import { knowsAlertable, type ResourceSpec } from '../resources/spec.ts';
import { yieldToEventLoop } from '../tasks/yield-to-event-loop.ts';
import { knownCounts, type StationStatus } from './station-status.ts';
import { sumOfTotals, type Totals, totalsOfGroup } from './totals.ts';

/** The resources with a value of a label of `resource_labels`, or of a type, of all stations with data; '' is the value of those without one. */
export interface OwnerCount extends Totals {
  readonly label: string;
  readonly value: string;
}

interface CountedStation {
  /** The configuration with which it was listed. */
  readonly spec: Pick<ResourceSpec, 'alertability' | 'resourceLabels'>;
  readonly aggregates: Pick<Aggregates, 'groups'>;
}

/** A pause after each station would take longer than the count. */
const STATIONS_WITHOUT_PAUSE = 100;

/** Among the labels of resources, these stand for their types and stations. */
export const TYPE_LABEL = 'resource_type';
export const STATION_LABEL = 'station';

/** By label and, if requested, by type, the most frequent value first. A station that was listed without a label does not count for it. */
export async function countOwners(
  stations: readonly CountedStation[],
  labels: readonly string[],
  types?: 'with types',
): Promise<readonly OwnerCount[]> {
  const owners = [...labels, ...(types ? [TYPE_LABEL] : [])].map((label) => ({
    label,
    values: new Map<string, Totals[]>(),
  }));
  for (const [at, { spec, aggregates }] of stations.entries()) {
    const listed = owners.filter(({ label }) => label === TYPE_LABEL || spec.resourceLabels.names.includes(label));
    for (const group of aggregates.groups) {
      const totals = totalsOfGroup(group, knowsAlertable(spec));
      for (const { label, values } of listed) {
        const value = label === TYPE_LABEL ? group.type : resourceLabel(group, label);
        getOrCreate(values, value, () => []).push(totals);
      }
    }
    if (at % STATIONS_WITHOUT_PAUSE === 0) await yieldToEventLoop();
  }
  return owners.flatMap(({ label, values }) =>
    Array.from(values, ([value, totals]) => ({ label, value, ...sumOfTotals(totals) })).sort(
      (a, b) => b.resources - a.resources,
    ),
  );
}

/** What is known of the resources of an owner, a type or a station. */
export interface CoverageRow extends Pick<OwnerCount, 'label' | 'value'> {
  /** undefined: a station without data. */
  readonly counts: Totals | undefined;
}

/** By label, the most overdue resources first, then the most that are not covered; stations without data last. */
export function coverageRows(owners: readonly OwnerCount[], stations: readonly StationStatus[]): CoverageRow[] {
  const rows: CoverageRow[] = [
    ...owners.map((counts) => ({ label: counts.label, value: counts.value, counts })),
    ...stations.map(({ name, snapshot }) => ({ label: STATION_LABEL, value: name, counts: knownCounts(snapshot) })),
  ];
  const numberOf = ({ counts }: CoverageRow, by: 'overdue' | 'withoutRules') => counts?.[by] ?? -1;
  const compare = (a: CoverageRow, b: CoverageRow) =>
    numberOf(b, 'overdue') - numberOf(a, 'overdue') || numberOf(b, 'withoutRules') - numberOf(a, 'withoutRules');
  const labels = [...new Set(rows.map(({ label }) => label))];
  return labels.flatMap((name) => rows.filter(({ label }) => label === name).sort(compare));
}
