import type { Health } from '../model/health.ts';
import type { StationSpec } from '../model/station-spec.ts';

/** The static part of a metric family; documentation, checks and dashboards are generated from it. */
export interface FamilyDescription {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly labels: readonly string[];
  /** Also has the labels that the configuration gives to the rows of a listing. */
  readonly hasRowLabels?: true;
  /** Also has the configured labels of the station, except for those that its rows have. */
  readonly hasStationLabels?: true;
  /** May change in any release; the others keep their name, type, labels and meaning within a minor version. */
  readonly isExperimental?: true;
  /** What the example returns, as a phrase without a period. */
  readonly exampleTitle: string;
  /** A PromQL query that uses the metric. */
  readonly example: string;
}

/** A value and one string per label; a missing label does not compile. */
export type FamilySample<Labels extends readonly string[]> = AnySample &
  readonly [value: number, ...labels: { readonly [Label in keyof Labels]: string }];

export type AnySample = readonly [value: number, ...labels: string[]];

interface CollectorHealth {
  readonly collector: string;
  readonly health: Health;
}

/** Published while the station is configured. The health of its main collector is that of the station. */
export interface HealthSource extends CollectorHealth {
  readonly spec: StationSpec;
  /** That of its further collectors. */
  readonly further: readonly CollectorHealth[];
}

/** A family with samples per station. The first of `labels` are not part of a sample: `station` and, with the labels of the station, `upstream`. */
export interface StationFamily<Source> extends FamilyDescription {
  readonly samples: (source: Source) => Iterable<AnySample>;
}

/** A family in a table, whose key is its name; without `labels` it has none. */
export interface Row<Labels> extends Omit<FamilyDescription, 'name' | 'type' | 'labels'> {
  readonly labels?: Labels & readonly string[];
}

export type LabelsOf<Given> = Given extends readonly string[] ? Given : [];

/** The families of a table. Name and labels are literal types, so that a reference to an unknown metric or label does not compile. */
export type Families<Family, Labels, First extends readonly string[]> = {
  readonly [Name in keyof Labels & string]: Family & {
    readonly name: Name;
    readonly labels: readonly [...First, ...LabelsOf<Labels[Name]>];
  };
};

/** What all families of a table share. */
interface Shared extends Pick<FamilyDescription, 'hasRowLabels' | 'hasStationLabels'> {
  /** Before the names of the rows. */
  readonly prefix?: string;
}

/** Rows with their names, which say whether they are counters. `first`: labels before those of the row. */
export function described(
  rows: Readonly<Record<string, Row<unknown>>>,
  first: readonly string[],
  { prefix = '', ...shared }: Shared = {},
) {
  const families = Object.entries(rows).map(([key, row]) => {
    const type = key.endsWith('_total') ? 'counter' : 'gauge';
    return [key, { name: prefix + key, type, ...row, ...shared, labels: [...first, ...(row.labels ?? [])] }];
  });
  return Object.fromEntries(families);
}

export interface StationFamilyRow<Labels, Input extends readonly unknown[]> extends Row<Labels> {
  readonly samples: (...input: Input) => Iterable<FamilySample<LabelsOf<Labels>>>;
}

/** Families of a station as a whole: alerts on them are routed by the labels of the station and grouped by its upstream. */
export function stationFamilies<Source>() {
  return <const Labels>(
    rows: { readonly [Name in keyof Labels]: StationFamilyRow<Labels[Name], [source: Source]> },
  ): Families<StationFamily<Source>, Labels, ['station', 'upstream']> =>
    described(rows, ['station', 'upstream'], { hasStationLabels: true });
}

/** One sample, or none if the value is unknown: an unknown value is never published as 0. */
export function optionalSample(value: number | undefined): FamilySample<[]>[] {
  return value === undefined ? [] : [[value]];
}
