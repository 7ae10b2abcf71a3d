import { createHash } from 'node:crypto';

/** This process's share of the stations. */
export interface Shard {
  readonly ordinal: number;
  readonly total: number;
}

/** Rendezvous hashing: another shard only takes stations over, and moves none between the existing ones. */
export function isOnShard(station: string, { ordinal, total }: Shard): boolean {
  let heaviest = 0;
  for (let shard = 1; shard < total; shard += 1) {
    if (weight(station, shard) > weight(station, heaviest)) heaviest = shard;
  }
  return heaviest === ordinal;
}

function weight(station: string, shard: number): bigint {
  return createHash('sha256').update(`${shard}\n${station}`).digest().readBigUInt64BE();
}
