import { MAX_REJECTED_RECORDS, type RejectedRecord, type RejectedRecords } from '../../model/listing.ts';
import { readRejected } from './record.ts';

/** Collects the records of a page without a valid id, which are not rows. Their positions are those in the page. */
export class Rejects {
  #rejected = 0;
  readonly #records: RejectedRecord[] = [];

  /** Returns the characters of the texts that are kept of it: too few for a second byte of some to matter. */
  add(record: unknown, position: number): number {
    this.#rejected += 1;
    if (this.#records.length === MAX_REJECTED_RECORDS) return 0;
    const read = readRejected(record, position);
    this.#records.push(read);
    return read.name.length + read.displayName.length + read.type.length;
  }

  facts(): RejectedRecords {
    return { rejected: this.#rejected, rejectedRecords: this.#records };
  }
}
