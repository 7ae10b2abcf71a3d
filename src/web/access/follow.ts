import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { AccessRules } from './rules.ts';

export type RulesResult = { readonly ok: true; readonly rules: AccessRules } | { readonly ok: false; readonly problems: readonly string[] };

interface Following {
  /** The rules that were put in force at the start. */
  readonly rules: AccessRules;
  /** Reads the rules as they are now. */
  readonly load: () => Promise<RulesResult>;
  readonly apply: (rules: AccessRules) => void;
  /** Told once of each problem that keeps the old rules in force. */
  readonly complain: (problem: string) => void;
  readonly signal: AbortSignal;
  readonly intervalMs?: number;
}

/** Looks again and again whether the rules changed, until the signal aborts. */
export async function followRules({ rules, load, apply, complain, signal, intervalMs = 5000 }: Following): Promise<void> {
  let inForce = rules;
  let told: readonly string[] = [];
  while (await passes(intervalMs, signal)) {
    const result = await load();
    const problems = result.ok ? obstacles(inForce, result.rules) : result.problems;
    for (const problem of problems.filter((text) => !told.includes(text))) complain(problem);
    told = problems;
    if (!result.ok || problems.length > 0 || isDeepStrictEqual(result.rules, inForce)) continue;
    inForce = result.rules;
    apply(inForce);
  }
}

/** What a server that listens already cannot change. */
function obstacles({ tls: old }: AccessRules, { tls: next }: AccessRules): readonly string[] {
  if ((old === undefined) !== (next === undefined)) return ['TLS was switched on or off, which needs a restart'];
  const asked = old?.client.requested === next?.client.requested;
  return asked ? [] : ['client certificates were switched on or off, which needs a restart'];
}

async function passes(ms: number, signal: AbortSignal): Promise<boolean> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
  return !signal.aborted;
}
