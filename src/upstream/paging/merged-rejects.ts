import { MAX_REJECTED_RECORDS, type RejectedRecord, type RejectedRecords } from '../../model/listing.ts';
import type { Page } from '../protocol/page.ts';
import type { RunTask } from '../protocol/page-json.ts';
import type { RejectedPart } from '../protocol/rejects.ts';

/**
 * Counts the rejected records of a listing. They have no id, so their positions in the listing decide: a record in the overlap of two
 * pages counts once, and equal records at other positions count each.
 */
export class MergedRejects {
  /** Whether the service may have returned a page again at another offset. */
  readonly #mayRepeat: boolean;
  readonly #run: RunTask;
  /** Where the pages added so far end. */
  #end = 0;
  readonly #sequences = new Set<string>();
  #rejected = 0;
  /** The sum of their digests, which is the same in any order. */
  #sum = 0n;
  #areNamed = true;
  readonly #records: RejectedRecord[] = [];

  constructor(mayRepeat: boolean, run: RunTask) {
    this.#mayRepeat = mayRepeat;
    this.#run = run;
  }

  /** Adds the next page in the order of offsets, of which this many rows are not duplicates. */
  async add(offset: number, page: Page<unknown>, keptRows: number): Promise<void> {
    const overlap = Math.max(0, this.#end - offset);
    this.#end = Math.max(this.#end, offset + page.received);
    const isRepeated = this.#isRepeated(page, overlap, keptRows);
    this.#sequences.add(page.rejectedSequence);
    if (page.rejected === 0 || isRepeated) return;
    this.#areNamed &&= page.areRejectedNamed;
    for (const record of page.rejectedRecords) {
      const isKept = record.position >= overlap && this.#records.length < MAX_REJECTED_RECORDS;
      if (isKept) this.#records.push({ ...record, position: offset + record.position });
    }
    const [first, ...others] = page.rejectedParts;
    if (first) this.#count(first, overlap);
    for (const part of others) await this.#run(() => this.#count(part, overlap));
  }

  facts(): RejectedRecords {
    return {
      rejected: this.#rejected,
      rejectedDigest: this.#rejected === 0 ? '' : `${this.#rejected} ${this.#sum.toString(36)}`,
      areRejectedNamed: this.#areNamed,
      rejectedRecords: this.#records,
    };
  }

  /** Whether all of the page was received before, at a smaller offset. */
  #isRepeated({ parts, rejectedSequence }: Page<unknown>, overlap: number, keptRows: number): boolean {
    const lastPart = parts.at(-1);
    const lastRow = lastPart === undefined ? -1 : (lastPart.positions?.at(-1) ?? lastPart.rows.length - 1);
    const hasRowsAfterOverlap = lastRow >= overlap;
    if (hasRowsAfterOverlap) return keptRows === 0 && this.#sequences.has(rejectedSequence);
    return this.#mayRepeat && this.#sequences.has(rejectedSequence);
  }

  #count({ positions, digests }: RejectedPart, overlap: number): void {
    for (const [at, position] of positions.entries()) {
      if (position < overlap) continue;
      this.#rejected += 1;
      this.#sum += digests[at] ?? 0n;
    }
  }
}
