import { joinedSegment, type Segment } from './segment.ts';
import type { StationSegments } from './station-encoder.ts';

/** Enough for few and large segments, few enough to lay them together again when one of them has changed. */
const GROUP_SIZE = 32;

/** Segments up to this size are laid together for fewer writes; larger ones are not copied. */
const SMALL = 16 * 1024;

type Families = ReadonlyMap<string, readonly Segment[]>;

/** Lays the small segments of neighbours together, family by family; again only where one of them has changed. */
export class SegmentGroups {
  #groups: readonly { readonly members: readonly StationSegments[]; readonly families: Families }[] = [];

  of(pieces: readonly StationSegments[]): readonly Families[] {
    const count = Math.ceil(pieces.length / GROUP_SIZE);
    this.#groups = Array.from({ length: count }, (_, at) => {
      const members = pieces.slice(at * GROUP_SIZE, (at + 1) * GROUP_SIZE);
      const known = this.#groups[at];
      const isSame = known?.members.length === members.length && known.members.every((member, index) => member === members[index]);
      return isSame ? known : { members, families: joinedFamilies(members) };
    });
    return this.#groups.map(({ families }) => families);
  }
}

/** Runs of small segments become one each. */
export function compacted(segments: readonly Segment[]): Segment[] {
  const result: Segment[] = [];
  let run: Segment[] = [];
  const flush = () => {
    if (run.length > 0) result.push(joinedSegment(run));
    run = [];
  };
  for (const segment of segments) {
    if (segment.deflated.length > SMALL) flush();
    if (segment.deflated.length > SMALL) result.push(segment);
    else run.push(segment);
  }
  flush();
  return result;
}

function joinedFamilies(members: readonly StationSegments[]): Families {
  const families = new Map<string, Segment[]>();
  for (const member of members) {
    for (const [family, segments] of member.families) {
      const known = families.get(family);
      if (known) known.push(...segments);
      else families.set(family, [...segments]);
    }
  }
  return new Map(Array.from(families, ([family, segments]) => [family, compacted(segments)]));
}
