import type { ReadField } from '../station/listing.ts';
import type { Resource } from '../station/resource.ts';
import type { Snapshot } from '../station/snapshot.ts';

/** A resource and the record that it was read from. */
export interface LocatedResource {
  readonly resource: Resource;
  /** Of the page in the listing. */
  readonly pageOffset: number;
  /** Of the record in its page, counted from 0. */
  readonly position: number;
  readonly invalid: readonly ReadField[];
}

/** undefined when the snapshot has no such resource. */
export function locateResource({ parts, origins }: Pick<Snapshot, 'parts' | 'origins'>, id: string): LocatedResource | undefined {
  for (const [at, { offset, positions, invalid }] of origins.entries()) {
    const part = parts[at] ?? [];
    const index = part.findIndex((resource) => resource.id === id);
    const resource = part[index];
    if (resource) return { resource, pageOffset: offset, position: positions?.[index] ?? index, invalid: invalid.get(index) ?? [] };
  }
  return undefined;
}
