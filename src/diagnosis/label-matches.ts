import type { LabelEntry } from '../resources/resource-labels.ts';
import type { StationFacts } from './facts.ts';

/** How many of the listed resources an entry of `resource_labels` matches. */
export interface LabelMatch {
  /** Its place and expressions: `resource_labels[0] (name: pay)`. */
  readonly entry: string;
  readonly resources: number;
}

export function labelMatches(
  entries: readonly Pick<LabelEntry, 'match'>[],
  stations: readonly Pick<StationFacts, 'spec' | 'result'>[],
): readonly LabelMatch[] {
  const counts = new Map<LabelEntry['match'], number>();
  for (const { spec, result } of stations) {
    for (const resource of result.ok ? result.snapshot.parts.flat() : [])
      for (const { match } of spec.resourceLabels.matching(resource)) counts.set(match, (counts.get(match) ?? 0) + 1);
  }
  return entries.map(({ match }, at) => {
    const expressions = Object.entries(match).map(([field, { source }]) => `${field}: ${source}`);
    const shown = expressions.length === 0 ? 'all' : expressions.join(', ');
    return { entry: `resource_labels[${at}] (${shown})`, resources: counts.get(match) ?? 0 };
  });
}
