import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { AccessRules } from './rules.ts';

export type RulesResult = { readonly ok: true; readonly rules: AccessRules } | { readonly ok: false; readonly problems: readonly string[] };

interface WatchOptions {
  /** The rules in force at the start. */
  readonly rules: AccessRules;
  readonly load: () => Promise<RulesResult>;
  readonly apply: (rules: AccessRules) => void;
  /** Called once for each problem that keeps the old rules in force. */
  readonly report: (problem: string) => void;
  readonly signal: AbortSignal;
  readonly intervalMs?: number;
}

/** Polls the rules and applies changes until the signal aborts. */
export async function watchRules({ rules, load, apply, report, signal, intervalMs = 5000 }: WatchOptions): Promise<void> {
  let inForce = rules;
  let reported: readonly string[] = [];
  while (await interval(intervalMs, signal)) {
    const result = await load();
    const problems = result.ok ? restartProblems(inForce, result.rules) : result.problems;
    for (const problem of problems.filter((text) => !reported.includes(text))) report(problem);
    reported = problems;
    if (!result.ok || problems.length > 0 || isDeepStrictEqual(result.rules, inForce)) continue;
    inForce = result.rules;
    apply(inForce);
  }
}

/** Changes that a listening server cannot apply. */
function restartProblems({ tls: old }: AccessRules, { tls: next }: AccessRules): readonly string[] {
  if ((old === undefined) !== (next === undefined)) return ['TLS was switched on or off, which requires a restart'];
  const isUnchanged = old?.client.requested === next?.client.requested;
  return isUnchanged ? [] : ['client certificates were switched on or off, which requires a restart'];
}

async function interval(ms: number, signal: AbortSignal): Promise<boolean> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
  return !signal.aborted;
}
