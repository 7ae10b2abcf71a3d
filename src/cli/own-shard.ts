import type { FlagValues } from './flags.ts';

type OwnShard =
  | { readonly ok: true; readonly shard: { readonly ordinal: number; readonly total: number } }
  | { readonly ok: false; readonly problem: string };

/** Which shard this process is; the pods of a StatefulSet are told apart by the number that ends their host name. */
export function ownShard({ shard, 'total-shards': total }: Pick<FlagValues, 'shard' | 'total-shards'>, hostName: string): OwnShard {
  if (shard !== 'auto') return { ok: true, shard: { ordinal: shard, total } };
  // Of a full name only the first part is the pod's.
  const [, number] = /^[^.]*-(\d+)(?:\.|$)/.exec(hostName) ?? [];
  const ordinal = Number(number);
  if (number === undefined) return refusal('a host name that ends in a number, such as exporter-0', hostName);
  if (ordinal >= total) return refusal(`a host name that ends in a number below --total-shards, which is ${total}`, hostName);
  return { ok: true, shard: { ordinal, total } };
}

function refusal(expected: string, hostName: string): OwnShard {
  return { ok: false, problem: `--shard=auto: expected ${expected}, got ${JSON.stringify(hostName)}` };
}
