import type { Resource } from '../station/resource.ts';
import { escapeLabelValue } from './encoding.ts';
import type { ResourceFamily } from './family.ts';

/** The lines of some resources, by family. */
export interface ResourceText {
  readonly texts: ReadonlyMap<string, string>;
  readonly series: number;
}

/** The station's name comes as a label can carry it; what all lines of a resource have in common is put together once. */
export function encodeResources(station: string, resources: readonly Resource[], families: readonly ResourceFamily[]): ResourceText {
  const prefix = `{station="${escapeLabelValue(station)}",resource_id="`;
  const identities = resources.map(({ id, name }) => `${prefix}${escapeLabelValue(id)}",name="${escapeLabelValue(name)}"`);
  const texts = new Map<string, string>();
  let series = 0;
  for (const { name, labels, sample } of families) {
    const openings = labels.slice(3).map((label) => `,${label}="`);
    let text = '';
    for (const [index, resource] of resources.entries()) {
      const made = sample(resource);
      if (made === undefined) continue;
      series += 1;
      text += name + identities[index];
      for (const [at, opening] of openings.entries()) text += `${opening}${escapeLabelValue(String(made[at + 1]))}"`;
      text += `} ${made[0]}\n`;
    }
    if (text !== '') texts.set(name, text);
  }
  return { texts, series };
}

export function resourceSeries(resources: readonly Resource[], families: readonly ResourceFamily[]): number {
  let series = 0;
  for (const resource of resources) for (const { sample } of families) if (sample(resource) !== undefined) series += 1;
  return series;
}
