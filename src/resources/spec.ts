import type { StationSpec } from '../model/station-spec.ts';
import type { StateMeanings } from './alert-state.ts';
import type { AbsentFields } from './fields.ts';
import type { ResourceLabels } from './resource-labels.ts';
import type { ListingFilters } from './station-keys.ts';

/** Which series of a station are published. */
interface MetricsPolicy {
  readonly perResource: boolean;
  /** Above this number of resources, per-resource series are withheld. */
  readonly maxResources: number;
  /** Above this number of firing resources, they have no series each. */
  readonly maxFiringResources: number;
  /** Names of families. */
  readonly disabled: ReadonlySet<string>;
}

/** A configured station and what to collect of its resources. A reload compares two of them, so that they have no functions. */
export interface ResourceSpec extends StationSpec {
  readonly filters: ListingFilters;
  readonly products: readonly string[];
  readonly alertability: boolean;
  /** After which time the listings of products, and that of the alertable resources, are read again; 0: every refresh reads them. */
  readonly productsTtlMs: number;
  readonly alertabilityTtlMs: number;
  readonly metrics: MetricsPolicy;
  readonly resourceLabels: ResourceLabels;
  readonly states: StateMeanings;
  /** How long a resource may exist before it is covered; undefined: for any time. */
  readonly coverageWithinMs: number | undefined;
  /** undefined: what records lack is unknown. */
  readonly absentFields: AbsentFields | undefined;
  /** Maximum number of values of each label that the service supplies. */
  readonly labelValues: number;
  /** Maximum number of listed changes of a refresh. */
  readonly maxChanges: number;
}

/** Whether something says which resources can have alerts: a listing of the service, or exemptions. */
export function knowsAlertable({
  alertability,
  resourceLabels,
}: Pick<ResourceSpec, 'alertability' | 'resourceLabels'>): boolean {
  return alertability || resourceLabels.hasExemptions;
}
