import type { Part } from '../model/listing.ts';
import { forEachPart } from '../tasks/yield-to-event-loop.ts';
import type { Resource } from './fields.ts';
import type { Labelled, ResourceLabels } from './resource-labels.ts';

interface LabelledListing {
  readonly parts: readonly Part<Resource>[];
  /** The parts of the listing before, with their labels. */
  readonly formerParts: readonly Part<Resource>[];
  readonly resourceLabels: ResourceLabels;
  readonly productOf: (id: string) => string;
}

/** The labels and exemption of a resource of a part, at its position; undefined as long as they are not known. */
type PartLabel = Labelled | undefined;

/** The labels and exemptions of the resources of these parts; a resource keeps them while all that they depend on is the same. */
export async function labelsOf(
  outdated: readonly Part<Resource>[],
  { parts, formerParts, resourceLabels, productOf }: LabelledListing,
  signal: AbortSignal,
): Promise<ReadonlyMap<Part<Resource>, readonly PartLabel[]>> {
  const labels = new Map<Part<Resource>, PartLabel[]>();
  // Most resources stay in their part, so that they are not searched for in the others.
  const positions = new Map(parts.map((part, at) => [part, at]));
  await forEachPart(outdated, (part) => {
    const formerOf = formerResources(formerParts[positions.get(part) ?? -1] ?? []);
    const keptLabels = part.map((resource, at) => {
      const former = formerOf(resource, at);
      return former && hasSameLabels(former, resource, productOf(resource.id)) ? former : undefined;
    });
    labels.set(part, keptLabels);
  });
  await forEachPart(outdated, (part) => {
    const partLabels = labels.get(part) ?? [];
    for (const [at, resource] of part.entries()) {
      signal.throwIfAborted();
      partLabels[at] ??= resourceLabels.labelled({ ...resource, product: productOf(resource.id) });
    }
  });
  return labels;
}

/** Finds the earlier state of a resource in its part: usually at the same position. */
function formerResources(part: Part<Resource>): (resource: Resource, at: number) => Resource | undefined {
  let byId: ReadonlyMap<string, Resource> | undefined;
  return ({ id }, at) => {
    const former = part[at];
    if (former?.id === id) return former;
    byId ??= new Map(part.map((resource) => [resource.id, resource]));
    return byId.get(id);
  };
}

/** Whether all that labels depend on is the same; `known` is an earlier state of the resource, with its product. */
function hasSameLabels(known: Resource, { name, displayName, type }: Resource, product: string): boolean {
  return known.name === name && known.displayName === displayName && known.type === type && known.product === product;
}
