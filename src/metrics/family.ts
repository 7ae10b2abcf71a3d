import type { Resource } from '../model/resource.ts';
import type { StationSpec } from '../model/station-spec.ts';
import type { AggregateGroup, Aggregates } from '../refresh/aggregates.ts';
import type { Publication, StationView } from '../refresh/station-cache.ts';

/** The static part of a metric family; documentation, checks and dashboards are generated from it. */
export interface FamilyDescription {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly labels: readonly string[];
  /** Also has the labels that `resource_labels` configures. */
  readonly hasResourceLabels?: true;
  /** What the example returns, as a phrase without a period. */
  readonly exampleTitle: string;
  /** A PromQL query that uses the metric. */
  readonly example: string;
}

/** A value and one string per label; a missing label does not compile. */
type Sample<Labels extends readonly string[]> = AnySample &
  readonly [value: number, ...labels: { readonly [Label in keyof Labels]: string }];

type AnySample = readonly [value: number, ...labels: string[]];

/** Published while the station is configured. */
export type HealthSource = Pick<StationView<unknown>, 'spec' | 'health'>;

/** Published while a snapshot is served. */
export interface SnapshotSource extends Publication {
  readonly aggregates: Aggregates;
}

/** A family with samples per station: `station` is the first of `labels` and not part of a sample. */
export interface StationFamily<Source> extends FamilyDescription {
  readonly samples: (source: Source) => Iterable<AnySample>;
  /** Also has the configured labels of the station, which are not part of a sample. */
  readonly hasStationLabels?: true;
}

/** A family with at most one sample per resource: `station, resource_id, name` are the first of `labels` and not part of a sample. */
export interface ResourceFamily extends FamilyDescription {
  /** What a sample depends on besides the id and the name: while these are the same, the encoded samples are reused. */
  readonly fields: readonly (keyof Resource)[];
  readonly sample: (resource: Resource) => AnySample | undefined;
}

/** Name and labels as literal types, so that a reference to an unknown metric or label does not compile. */
export interface Named<Name extends string, Labels extends readonly string[]> {
  readonly name: Name;
  readonly labels: Labels;
}

/** A family in a table: without `labels` it has none, and its name says whether it is a counter. */
export interface Row<Name extends string, Labels extends readonly string[]>
  extends Omit<FamilyDescription, 'type' | 'labels'> {
  readonly name: Name;
  readonly labels?: Labels;
}

/** `first`: labels before those of the row. */
export function described<Name extends string, Labels extends readonly string[], const First extends readonly string[]>(
  { name, labels }: Row<Name, Labels>,
  ...first: First
): Named<Name, readonly [...First, ...Labels]> & Pick<FamilyDescription, 'type'> {
  const all: readonly string[] = [...first, ...(labels ?? [])];
  const type = name.endsWith('_total') ? 'counter' : 'gauge';
  return { name, type, labels: all as readonly [...First, ...Labels] };
}

export const healthFamily = stationFamily<HealthSource>();
export const snapshotFamily = stationFamily<SnapshotSource>();

function stationFamily<Source>() {
  return <const Name extends string, const Labels extends readonly string[] = []>(
    row: Row<Name, Labels> &
      Pick<StationFamily<Source>, 'hasStationLabels'> & {
        readonly samples: (source: Source) => Iterable<NoInfer<Sample<Labels>>>;
      },
  ): StationFamily<Source> & Named<Name, readonly ['station', ...Labels]> => ({
    ...row,
    ...described(row, 'station'),
  });
}

/** A family with samples per resource type and product: `station, resource_type, product` are the first of `labels` and not part of a sample. */
export function groupFamily<const Name extends string, const Labels extends readonly string[] = []>(
  row: Row<Name, Labels> & {
    readonly samples: (group: AggregateGroup, spec: StationSpec) => Iterable<NoInfer<Sample<Labels>>>;
  },
): StationFamily<SnapshotSource> & Named<Name, readonly ['station', 'resource_type', 'product', ...Labels]> {
  return {
    ...row,
    ...described(row, 'station', 'resource_type', 'product'),
    hasResourceLabels: true,
    samples: ({ spec, aggregates }) =>
      [...aggregates.groups].flatMap((group) => {
        const { type, product, labels } = group;
        const extra = spec.resourceLabels.names.map((name) => labels[name] ?? '');
        return Array.from(
          row.samples(group, spec),
          ([value, ...rest]: AnySample) => [value, type, product, ...rest, ...extra] as const,
        );
      }),
  };
}

/** A sample that reads a field which is not among `fields` does not compile. */
export function resourceFamily<
  const Name extends string,
  const Field extends keyof Resource,
  const Labels extends readonly string[] = [],
>(
  row: Row<Name, Labels> & {
    readonly fields: readonly Field[];
    readonly sample: (resource: Pick<Resource, NoInfer<Field>>) => NoInfer<Sample<Labels>> | undefined;
  },
): ResourceFamily & Named<Name, readonly ['station', 'resource_id', 'name', ...Labels]> {
  return { ...row, ...described(row, 'station', 'resource_id', 'name') };
}

/** One sample, or none if the value is unknown: an unknown value is never published as 0. */
export function optionalSample(value: number | undefined): Sample<[]>[] {
  return value === undefined ? [] : [[value]];
}
