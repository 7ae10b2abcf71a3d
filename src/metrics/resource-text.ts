import type { Resource } from '../station/resource.ts';
import { escapeLabelValue } from './encoding.ts';
import type { ResourceFamily } from './family.ts';
import type { TextRoom } from './text-room.ts';

/** Resources whose lines are put together as one string: short enough to be forgotten before it would have to be moved. */
const RESOURCES_PER_TEXT = 64;

/**
 * Writes the lines of some resources, a piece per family, and tells how many there are. The station's name comes as a label can carry it;
 * what all lines of a resource have in common is put together once.
 */
export function writeResources(
  station: string,
  resources: readonly Resource[],
  families: readonly ResourceFamily[],
  room: TextRoom,
): number {
  const prefix = `{station="${escapeLabelValue(station)}",resource_id="`;
  const identities = resources.map(({ id, name }) => `${prefix}${escapeLabelValue(id)}",name="${escapeLabelValue(name)}"`);
  let series = 0;
  for (const { name, labels, sample } of families) {
    // What stands before each label's value; the first closes nothing, because the identity has done so.
    const openings = labels.slice(3).map((label, at) => (at === 0 ? `,${label}="` : `",${label}="`));
    const closing = openings.length === 0 ? '} ' : '"} ';
    room.begin(name);
    let text = '';
    for (let index = 0; index < resources.length; index += 1) {
      const made = sample(resources[index] as Resource);
      if (made !== undefined) {
        series += 1;
        text += name + identities[index];
        for (let at = 0; at < openings.length; at += 1) text += openings[at] + escapeLabelValue(made[at + 1] as string);
        text += `${closing}${made[0]}\n`;
      }
      if (index % RESOURCES_PER_TEXT === RESOURCES_PER_TEXT - 1) {
        room.add(text);
        text = '';
      }
    }
    room.add(text);
  }
  return series;
}

export function resourceSeries(resources: readonly Resource[], families: readonly ResourceFamily[]): number {
  let series = 0;
  for (const resource of resources) for (const { sample } of families) if (sample(resource) !== undefined) series += 1;
  return series;
}
