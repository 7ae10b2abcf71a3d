import { joinedSegment, type Segment } from './segment.ts';

/** Segments up to this size are laid together for fewer writes; larger ones are not copied. */
const SMALL = 16 * 1024;

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
