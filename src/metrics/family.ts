import type { Resource } from '../station/resource.ts';
import type { Publication, StationView } from '../station/station-cache.ts';
import type { Aggregates } from './aggregates.ts';

/** What is known of a metric without looking at a sample: documents, checks and dashboards are made from it. */
export interface FamilyDescription {
  readonly name: string;
  readonly help: string;
  readonly type: 'gauge' | 'counter' | 'histogram';
  readonly labels: readonly string[];
  /** The question that the example answers, without a question mark. */
  readonly answers: string;
  /** A query in PromQL that puts the metric to use. */
  readonly example: string;
}

/** A value and one text per label; a label too few does not compile. */
export type Sample<Labels extends readonly string[]> = readonly [value: number, ...labels: { readonly [Label in keyof Labels]: string }];

type AnySample = readonly [value: number, ...labels: string[]];

/** Published as long as the station is configured. */
export type HealthSource = Pick<StationView<unknown>, 'spec' | 'health'>;

/** Published while a snapshot is served. */
export interface SnapshotSource extends Publication {
  readonly aggregates: Aggregates;
}

/** A family whose samples all belong to one station each: `station` comes first in `labels` and is not part of a sample. */
export interface StationFamily<Source> extends FamilyDescription {
  readonly samples: (source: Source) => Iterable<AnySample>;
  /** Further labels that the station's configuration adds. */
  readonly extraLabels?: (source: Source) => Readonly<Record<string, string>>;
}

/** A family with at most one sample per resource: `station, resource_id, name` come first in `labels` and are not part of a sample. */
export interface ResourceFamily extends FamilyDescription {
  readonly sample: (resource: Resource) => AnySample | undefined;
}

/** The name and the labels as literal types, so that who names a metric that is not there does not compile. */
interface Named<Name extends string, Labels extends readonly string[]> {
  readonly name: Name;
  readonly labels: Labels;
}

interface Row<Name extends string, Labels extends readonly string[]>
  extends Named<Name, Labels>,
    Pick<FamilyDescription, 'help' | 'answers' | 'example'> {
  readonly type: 'gauge' | 'counter';
}

interface StationRow<Name extends string, Labels extends readonly string[], Source> extends Row<Name, Labels> {
  readonly samples: (source: Source) => Iterable<Sample<Labels>>;
  readonly extraLabels?: (source: Source) => Readonly<Record<string, string>>;
}

export function healthFamily<const Name extends string, const Labels extends readonly string[]>(
  row: StationRow<Name, Labels, HealthSource>,
): StationFamily<HealthSource> & Named<Name, readonly ['station', ...Labels]> {
  return { ...widened(row), name: row.name, labels: ['station', ...row.labels] };
}

export function snapshotFamily<const Name extends string, const Labels extends readonly string[]>(
  row: StationRow<Name, Labels, SnapshotSource>,
): StationFamily<SnapshotSource> & Named<Name, readonly ['station', ...Labels]> {
  return { ...widened(row), name: row.name, labels: ['station', ...row.labels] };
}

export function resourceFamily<const Name extends string, const Labels extends readonly string[]>(
  row: Row<Name, Labels> & { readonly sample: (resource: Resource) => Sample<Labels> | undefined },
): ResourceFamily & Named<Name, readonly ['station', 'resource_id', 'name', ...Labels]> {
  const sample = row.sample as ResourceFamily['sample'];
  return { ...row, sample, labels: ['station', 'resource_id', 'name', ...row.labels] };
}

/** The compiler cannot see through a mapped tuple of unknown length that its elements are texts. */
function widened<Source>(row: StationRow<string, readonly string[], Source>): StationFamily<Source> {
  return row as unknown as StationFamily<Source>;
}

/** A sample of the value, or none when there is no value: never a 0 for what is not known. */
export function optionalSample(value: number | undefined): Sample<[]>[] {
  return value === undefined ? [] : [[value]];
}
