import { createHash } from 'node:crypto';

/** The part of the stations this process is responsible for. */
export interface Shard {
  readonly ordinal: number;
  readonly total: number;
}

/** Each station belongs to the shard that weighs heaviest with its name, so that one more shard only takes stations, never shuffles them. */
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
