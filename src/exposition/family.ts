import type { StationSpec } from '../model/station-spec.ts';
import type { AggregateGroup, Aggregates } from '../resources/aggregates.ts';
import { type Resource, resourceLabel } from '../resources/fields.ts';
import type { Publication, StationView } from '../stations/station-cache.ts';

/** The static part of a metric family; documentation, checks and dashboards are generated from it. */
export interface FamilyDescription {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly labels: readonly string[];
  /** Also has the labels that `resource_labels` configures. */
  readonly hasResourceLabels?: true;
  /** Also has the configured labels of the station, except for those that it has from `resource_labels`. */
  readonly hasStationLabels?: true;
  /** What the example returns, as a phrase without a period. */
  readonly exampleTitle: string;
  /** A PromQL query that uses the metric. */
  readonly example: string;
}

/** A value and one string per label; a missing label does not compile. */
type FamilySample<Labels extends readonly string[]> = AnySample &
  readonly [value: number, ...labels: { readonly [Label in keyof Labels]: string }];

type AnySample = readonly [value: number, ...labels: string[]];

/** Published while the station is configured. */
export type HealthSource = Pick<StationView<unknown>, 'spec' | 'health'>;

/** Published while a snapshot is served. */
export interface SnapshotSource extends Publication {
  readonly aggregates: Aggregates;
}

/** A family with samples per station. The first of `labels` are not part of a sample: `station` and, with the labels of the station, `upstream`. */
export interface StationFamily<Source> extends FamilyDescription {
  readonly samples: (source: Source) => Iterable<AnySample>;
}

/** A family with at most one sample per resource: its `labels` up to `name` are not part of a sample. */
export interface ResourceFamily extends FamilyDescription {
  readonly sample: (resource: Resource) => AnySample | undefined;
}

/** A family that `metrics.per_resource` enables. */
export interface PerResourceFamily extends ResourceFamily {
  /** What a sample depends on besides the id and the name: while these are the same, the encoded samples are reused. */
  readonly fields: readonly (keyof Resource)[];
}

/** A family in a table, whose key is its name; without `labels` it has none. */
export interface Row<Labels> extends Omit<FamilyDescription, 'name' | 'type' | 'labels'> {
  readonly labels?: Labels & readonly string[];
}

export type LabelsOf<Given> = Given extends readonly string[] ? Given : [];

/** The families of a table. Name and labels are literal types, so that a reference to an unknown metric or label does not compile. */
type Families<Family, Labels, First extends readonly string[]> = {
  readonly [Name in keyof Labels & string]: Family & {
    readonly name: Name;
    readonly labels: readonly [...First, ...LabelsOf<Labels[Name]>];
  };
};

/** What all families of a table share. */
interface Shared extends Pick<FamilyDescription, 'hasResourceLabels' | 'hasStationLabels'> {
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

interface StationFamilyRow<Labels, Input extends readonly unknown[]> extends Row<Labels> {
  readonly samples: (...input: Input) => Iterable<FamilySample<LabelsOf<Labels>>>;
}

interface TypeFamilyRow<Labels> extends Row<Labels> {
  readonly samples: (source: SnapshotSource) => Iterable<FamilySample<['resource_type', ...LabelsOf<Labels>]>>;
}

export const healthFamilies = stationFamilies<HealthSource>();
export const listingFamilies = stationFamilies<SnapshotSource>();

/** Families of a station as a whole: alerts on them are routed by the labels of the station and grouped by its upstream. */
function stationFamilies<Source>() {
  return <const Labels>(
    rows: { readonly [Name in keyof Labels]: StationFamilyRow<Labels[Name], [source: Source]> },
  ): Families<StationFamily<Source>, Labels, ['station', 'upstream']> =>
    described(rows, ['station', 'upstream'], { hasStationLabels: true });
}

/** Families with samples per resource type, which is the first label of a sample. */
export function typeFamilies<const Labels>(
  rows: { readonly [Name in keyof Labels]: TypeFamilyRow<Labels[Name]> },
): Families<StationFamily<SnapshotSource>, Labels, ['station', 'resource_type']> {
  return described(rows, ['station', 'resource_type']);
}

type GroupInput = [group: AggregateGroup, spec: StationSpec];

/** Families with samples per resource type and product: `station, resource_type, product` are the first of `labels`. */
export function groupFamilies<const Labels>(
  rows: { readonly [Name in keyof Labels]: StationFamilyRow<Labels[Name], GroupInput> },
): Families<StationFamily<SnapshotSource>, Labels, ['station', 'resource_type', 'product']> {
  const families = Object.entries<StationFamilyRow<readonly string[], GroupInput>>(rows).map(([name, row]) => {
    const samples = ({ spec, aggregates }: SnapshotSource) =>
      [...aggregates.groups].flatMap((group) => {
        const { type, product } = group;
        const extra = resourceLabelValues(spec, group);
        return Array.from(row.samples(group, spec), ([value, ...rest]) => [value, type, product, ...rest, ...extra]);
      });
    return [name, { ...row, samples }];
  });
  return described(Object.fromEntries(families), ['station', 'resource_type', 'product'], { hasResourceLabels: true });
}

interface FiringFamilyRow<Labels> extends Row<Labels> {
  readonly sample: (resource: Resource) => FamilySample<LabelsOf<Labels>>;
}

/** Families with one sample per firing resource: on each, alerts are routed by the labels of the resource and of its station. */
export function firingFamilies<const Labels>(
  rows: { readonly [Name in keyof Labels]: FiringFamilyRow<Labels[Name]> },
): Families<ResourceFamily, Labels, ['station', 'upstream', 'resource_id', 'name']> {
  const labels = ['station', 'upstream', 'resource_id', 'name'];
  return described(rows, labels, { hasResourceLabels: true, hasStationLabels: true });
}

function resourceLabelValues({ resourceLabels }: StationSpec, labelled: Pick<Resource, 'labels'>): string[] {
  return resourceLabels.names.map((label) => resourceLabel(labelled, label));
}

/** A family of resources in a table. */
type ResourceRow<Labels> = Row<Labels> & Pick<PerResourceFamily, 'fields' | 'sample'>;

/** Checks one row: a sample that reads a field which is not among `fields`, or misses a label, does not compile. */
export function resourceRow<const Labels extends readonly string[] = [], Field extends keyof Resource = never>(
  row: Row<Labels> & {
    readonly fields: readonly Field[];
    readonly sample: (resource: Pick<Resource, Field>) => FamilySample<Labels> | undefined;
  },
): ResourceRow<Labels> {
  return row;
}

export function resourceFamilies<Labels>(
  rows: {
    readonly [Name in keyof Labels]: ResourceRow<Labels[Name]>;
  },
): Families<PerResourceFamily, Labels, ['station', 'resource_id', 'name']> {
  return described(rows, ['station', 'resource_id', 'name']);
}

/** One sample, or none if the value is unknown: an unknown value is never published as 0. */
export function optionalSample(value: number | undefined): FamilySample<[]>[] {
  return value === undefined ? [] : [[value]];
}
