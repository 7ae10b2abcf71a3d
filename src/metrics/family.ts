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
export type Sample<Labels extends readonly string[]> = readonly [
  value: number,
  ...labels: { readonly [Label in keyof Labels]: string },
];

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
  /** Names of labels that the configuration adds: their values are the last ones of a sample. */
  readonly extraLabels?: (spec: StationSpec) => readonly string[];
}

/** A family with at most one sample per resource: `station, resource_id, name` are the first of `labels` and not part of a sample. */
export interface ResourceFamily extends FamilyDescription {
  /** What a sample depends on besides the id and the name: while these are the same, the encoded samples are reused. */
  readonly fields: readonly (keyof Resource)[];
  readonly sample: (resource: Resource) => AnySample | undefined;
}

/** Name and labels as literal types, so that a reference to an unknown metric or label does not compile. */
interface Named<Name extends string, Labels extends readonly string[]> {
  readonly name: Name;
  readonly labels: Labels;
}

interface Row<Name extends string, Labels extends readonly string[]>
  extends Named<Name, Labels>,
    Pick<FamilyDescription, 'help' | 'exampleTitle' | 'example' | 'hasResourceLabels'> {
  readonly type: 'gauge' | 'counter';
}

/** Only a family with `extraLabels` has samples with further values. */
type StationRow<Name extends string, Labels extends readonly string[], Source> = Row<Name, Labels> &
  (
    | { readonly samples: (source: Source) => Iterable<Sample<Labels>> }
    | {
        readonly samples: (source: Source) => Iterable<Sample<readonly [...Labels, ...string[]]>>;
        readonly extraLabels: (spec: StationSpec) => readonly string[];
      }
  );

export const healthFamily = stationFamily<HealthSource>();
export const snapshotFamily = stationFamily<SnapshotSource>();

function stationFamily<Source>() {
  return <const Name extends string, const Labels extends readonly string[]>(
    row: StationRow<Name, Labels, Source>,
  ): StationFamily<Source> & Named<Name, readonly ['station', ...Labels]> => {
    // TypeScript cannot infer that the elements of a mapped tuple of unknown length are strings.
    const samples = row.samples as unknown as StationFamily<Source>['samples'];
    return { ...row, samples, labels: ['station', ...row.labels] };
  };
}

/** A family with samples per resource type and product: `station, resource_type, product` are the first of `labels` and not part of a sample. */
export function groupFamily<const Name extends string, const Labels extends readonly string[]>(
  row: Row<Name, Labels> & {
    readonly samples: (group: AggregateGroup, spec: StationSpec) => Iterable<Sample<Labels>>;
  },
): StationFamily<SnapshotSource> & Named<Name, readonly ['station', 'resource_type', 'product', ...Labels]> {
  const samplesOf = row.samples as (group: AggregateGroup, spec: StationSpec) => Iterable<AnySample>;
  return {
    ...row,
    labels: ['station', 'resource_type', 'product', ...row.labels],
    hasResourceLabels: true,
    extraLabels: ({ resourceLabels }) => resourceLabels.names,
    samples: ({ spec, aggregates }) =>
      [...aggregates.groups].flatMap((group) => {
        const { type, product, labels } = group;
        const extra = spec.resourceLabels.names.map((name) => labels[name] ?? '');
        return Array.from(
          samplesOf(group, spec),
          ([value, ...rest]) => [value, type, product, ...rest, ...extra] as const,
        );
      }),
  };
}

/** A sample that reads a field which is not among `fields` does not compile. */
export function resourceFamily<
  const Name extends string,
  const Labels extends readonly string[],
  const Field extends keyof Resource,
>(
  row: Row<Name, Labels> & {
    readonly fields: readonly Field[];
    readonly sample: (resource: Pick<Resource, NoInfer<Field>>) => Sample<Labels> | undefined;
  },
): ResourceFamily & Named<Name, readonly ['station', 'resource_id', 'name', ...Labels]> {
  const sample = row.sample as ResourceFamily['sample'];
  return { ...row, sample, labels: ['station', 'resource_id', 'name', ...row.labels] };
}

/** One sample, or none if the value is unknown: an unknown value is never published as 0. */
export function optionalSample(value: number | undefined): Sample<[]>[] {
  return value === undefined ? [] : [[value]];
}
