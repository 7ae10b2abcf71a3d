import { isDeepStrictEqual } from 'node:util';
import type { Part } from '../model/listing.ts';
import { forEachPart } from '../tasks/yield-to-event-loop.ts';
import { type ChurnState, churnWithMeanings, NO_CHURN } from './churn.ts';
import type { Comparison } from './comparison.ts';
import { joinedResource, type Resource, withAbsentFields } from './fields.ts';
import { LabelValues } from './label-values.ts';
import { type LastKnown, lastKnownAs, NOTHING_KNOWN } from './last-known.ts';
import type { Snapshot } from './snapshot.ts';
import type { ResourceSpec } from './spec.ts';

/** What the listings of a station so far leave to the next one. */
export interface History {
  readonly comparison: Pick<Comparison, 'base' | 'nowMs'> | undefined;
  readonly churn: ChurnState;
  readonly lastKnown: LastKnown;
  readonly values: LabelValues;
}

export function noHistory({ labelValues }: ResourceSpec): History {
  const values = new LabelValues(labelValues);
  return { comparison: undefined, churn: NO_CHURN, lastKnown: NOTHING_KNOWN, values };
}

/** A station until a reload: how it was configured, and its latest listing. */
export interface FormerStation extends History {
  readonly spec: ResourceSpec;
  readonly snapshot: Snapshot;
}

/** Whether both list the same resources of a service, whatever they derive from them. */
export function listsSameResources(a: ResourceSpec, b: ResourceSpec): boolean {
  return isDeepStrictEqual([a.path, a.filters], [b.path, b.filters]);
}

/** The history as if the station had always been configured as it is now: a change of the configuration must not look like one of resources. */
export async function historyAfterReload(former: FormerStation, spec: ResourceSpec): Promise<History> {
  const { comparison, churn, lastKnown, snapshot } = former;
  const values = new LabelValues(spec.labelValues, former.values);
  if (isDeepStrictEqual(derivedBy(former.spec), derivedBy(spec))) return { comparison, churn, lastKnown, values };
  const { reference, totals, published } = churn;
  const derive = (resource: Resource) => derivedResource(resource, former.spec, spec);
  const derived = await derivedParts([reference, snapshot], derive);
  const partsOf = ({ parts }: Snapshot) => parts.map((part) => derived.get(part) ?? part);
  return {
    comparison,
    churn: {
      reference: reference && { ...reference, parts: partsOf(reference) },
      totals: churnWithMeanings(totals, spec.states),
      published: churnWithMeanings(published, spec.states),
    },
    lastKnown: await lastKnownAs(derive, lastKnown, partsOf(snapshot)),
    values,
  };
}

/** What decides how resources are described, but not which are listed. */
function derivedBy({ products, states, absentFields, resourceLabels }: ResourceSpec): object {
  return { products, states, absentFields, resourceLabels };
}

async function derivedParts(
  snapshots: readonly (Snapshot | undefined)[],
  derive: (resource: Resource) => Resource,
): Promise<ReadonlyMap<Part<Resource>, Part<Resource>>> {
  const parts = new Set(snapshots.flatMap((snapshot) => snapshot?.parts ?? []));
  const derived = new Map<Part<Resource>, Part<Resource>>();
  await forEachPart([...parts], (part) => derived.set(part, part.map(derive)));
  return derived;
}

/** Whether it belongs to a product that was not configured is unknown until the next listing. */
function derivedResource(
  former: Resource,
  { absentFields: formerAbsentFields = {} }: ResourceSpec,
  { products, states, absentFields = {}, resourceLabels }: ResourceSpec,
): Resource {
  const resource = withAbsentFields(former, formerAbsentFields, absentFields);
  const product = products.includes(resource.product) ? resource.product : '';
  const listed = { ...resource, product, alertState: states.alertStateOf(resource.state) };
  const { labels, exemptBy } = resourceLabels.labelled(listed);
  return joinedResource(listed, { product, listedAlertable: resource.listedAlertable, labels, exemptBy });
}
