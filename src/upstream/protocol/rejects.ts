import { createHash, type Hash } from 'node:crypto';
import { MAX_REJECTED_RECORDS, type RejectedRecord } from '../../model/listing.ts';
import { readRejected, recordDigest } from './record.ts';

/** Rejected records, few enough to count them in one event-loop iteration. In typed arrays, because there may be millions. */
export interface RejectedPart {
  /** Their indexes among the records of the page. */
  readonly positions: Uint32Array;
  /** The digests of their contents. */
  readonly digests: BigUint64Array;
}

/** Records of a page without a valid id, which are not rows. */
export interface PageRejects {
  readonly rejected: number;
  /** All of them, in order. */
  readonly rejectedParts: readonly RejectedPart[];
  /** A digest of their contents and their places in the page; '' when there are none. */
  readonly rejectedSequence: string;
  readonly areRejectedNamed: boolean;
  /** The first ones, with their places in the page. */
  readonly rejectedRecords: readonly RejectedRecord[];
}

const PART_RECORDS = 1000;

/** Collects the rejected records of a page. */
export class Rejects {
  #sequence: Hash | undefined;
  #rejected = 0;
  readonly #parts: RejectedPart[] = [];
  #positions: number[] = [];
  #digests: bigint[] = [];
  #areNamed = true;
  readonly #records: RejectedRecord[] = [];

  /** Returns the characters of the texts that are kept of it: too few for a second byte of some to matter. */
  add(record: unknown, position: number): number {
    const digest = recordDigest(record);
    this.#sequence ??= createHash('sha256');
    this.#sequence.update(`${position} ${digest}\n`);
    this.#rejected += 1;
    this.#positions.push(position);
    this.#digests.push(digestNumber(digest));
    if (this.#positions.length === PART_RECORDS) this.#endPart();
    const read = readRejected(record, position);
    // Without a digest, it cannot be compared with others.
    this.#areNamed &&= digest !== undefined && isNamed(read);
    if (this.#records.length === MAX_REJECTED_RECORDS) return 0;
    this.#records.push(read);
    return read.name.length + read.displayName.length + read.type.length;
  }

  #endPart(): void {
    this.#parts.push({ positions: Uint32Array.from(this.#positions), digests: BigUint64Array.from(this.#digests) });
    this.#positions = [];
    this.#digests = [];
  }

  facts(): PageRejects {
    if (this.#positions.length > 0) this.#endPart();
    return {
      rejected: this.#rejected,
      rejectedParts: this.#parts,
      rejectedSequence: this.#sequence?.digest('base64') ?? '',
      areRejectedNamed: this.#areNamed,
      rejectedRecords: this.#records,
    };
  }
}

/** The first 64 bits; 0 for a record that is nested too deep to have a digest. */
function digestNumber(digest: string | undefined): bigint {
  return digest === undefined ? 0n : BigInt(`0x${digest.slice(0, 16)}`);
}

/** A display name need not be unique. */
function isNamed({ name }: RejectedRecord): boolean {
  return name !== '';
}
