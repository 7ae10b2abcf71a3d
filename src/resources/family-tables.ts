import {
  type AnySample,
  described,
  type Families,
  type FamilyDescription,
  type FamilySample,
  type LabelsOf,
  type Row,
  type StationFamily,
  type StationFamilyRow,
  stationFamilies,
} from '../exposition/family.ts';
import type { AggregateGroup, Aggregates } from './aggregates.ts';
import type { ChurnState } from './churn.ts';
import { type Resource, resourceLabel } from './fields.ts';
import type { LabelValues } from './label-values.ts';
import type { LastKnown } from './last-known.ts';
import type { baseQuantity } from './quantities.ts';
import type { Snapshot } from './snapshot.ts';
import type { ResourceSpec } from './spec.ts';

/** A snapshot with what belongs to it of the ones before: counters, and what stays as last known. */
export interface Publication {
  readonly spec: ResourceSpec;
  readonly snapshot: Snapshot;
  readonly churn: ChurnState;
  readonly lastKnown: LastKnown;
  readonly aggregates: Aggregates;
  readonly values: LabelValues;
}

/** What the families of a station are written from while a snapshot is served. */
export interface SnapshotSource extends Publication {
  /** The snapshot, for the families that listings of all collectors have. */
  readonly listing: Pick<Snapshot, 'complete' | 'incompleteReasons'>;
}

export const listingFamilies = stationFamilies<SnapshotSource>();

/** A family of single resources: its `labels` up to `name` are not part of a sample. `quantityOf`: `baseQuantity` that remembers SKUs. */
export interface ResourceFamily extends FamilyDescription {
  readonly sample: (resource: Resource, quantityOf: typeof baseQuantity) => AnySample | undefined;
}

interface TypeFamilyRow<Labels> extends Row<Labels> {
  readonly samples: (source: SnapshotSource) => Iterable<FamilySample<['resource_type', ...LabelsOf<Labels>]>>;
}

/** Families with samples per resource type, which is the first label of a sample. */
export function typeFamilies<const Labels>(
  rows: { readonly [Name in keyof Labels]: TypeFamilyRow<Labels[Name]> },
): Families<StationFamily<SnapshotSource>, Labels, ['station', 'resource_type']> {
  return described(rows, ['station', 'resource_type']);
}

type GroupInput = [group: AggregateGroup, spec: ResourceSpec];

/** Families with samples per resource type and product: `station, resource_type, product` are the first of `labels`. */
export function groupFamilies<const Labels>(
  rows: { readonly [Name in keyof Labels]: StationFamilyRow<Labels[Name], GroupInput> },
): Families<StationFamily<SnapshotSource>, Labels, ['station', 'resource_type', 'product']> {
  const families = Object.entries<StationFamilyRow<readonly string[], GroupInput>>(rows).map(([name, row]) => {
    const samples = ({ spec, aggregates }: SnapshotSource) =>
      aggregates.groups.flatMap((group) => {
        const { type, product } = group;
        const extra = resourceLabelValues(spec, group);
        return Array.from(row.samples(group, spec), ([value, ...rest]) => [value, type, product, ...rest, ...extra]);
      });
    return [name, { ...row, samples }];
  });
  return described(Object.fromEntries(families), ['station', 'resource_type', 'product'], { hasRowLabels: true });
}

interface ResourceFamilyRow<Labels> extends Row<Labels> {
  readonly sample: (resource: Resource, quantityOf: typeof baseQuantity) => FamilySample<LabelsOf<Labels>> | undefined;
}

/** Families with at most one sample per resource. */
export function resourceFamilies<const Labels>(
  rows: { readonly [Name in keyof Labels]: ResourceFamilyRow<Labels[Name]> },
): Families<ResourceFamily, Labels, ['station', 'resource_id', 'name']> {
  return described(rows, ['station', 'resource_id', 'name']);
}

/** The same, on which alerts are routed by the labels of the resource and of its station. */
export function firingFamilies<const Labels>(
  rows: { readonly [Name in keyof Labels]: ResourceFamilyRow<Labels[Name]> },
): Families<ResourceFamily, Labels, ['station', 'upstream', 'resource_id', 'name']> {
  const labels = ['station', 'upstream', 'resource_id', 'name'];
  return described(rows, labels, { hasRowLabels: true, hasStationLabels: true });
}

function resourceLabelValues({ resourceLabels }: ResourceSpec, labelled: Pick<Resource, 'labels'>): string[] {
  return resourceLabels.names.map((label) => resourceLabel(labelled, label));
}
