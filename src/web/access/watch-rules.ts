import { isDeepStrictEqual } from 'node:util';
import { hasElapsed } from '../../tasks/until-aborted.ts';
import type { AccessRules } from './rules.ts';

export type RulesResult =
  | { readonly ok: true; readonly rules: AccessRules }
  | { readonly ok: false; readonly problems: readonly string[] };

interface WatchOptions {
  /** The rules in force at the start. */
  readonly rules: AccessRules;
  readonly load: () => Promise<RulesResult>;
  readonly apply: (rules: AccessRules) => void;
  /** Called once for each problem that keeps the old rules in force. */
  readonly report: (problem: string) => void;
  /** Called when the rules were rejected, with the problems, and with none when they changed or are valid again. */
  readonly reloaded: (problems: readonly string[]) => void;
  readonly signal: AbortSignal;
  readonly intervalMs?: number;
}

/** Polls the rules and applies changes until the signal aborts. */
export async function watchRules({
  rules,
  load,
  apply,
  report,
  reloaded,
  signal,
  intervalMs = 5000,
}: WatchOptions): Promise<void> {
  let inForce = rules;
  let reported: readonly string[] = [];
  while (await hasElapsed(intervalMs, signal)) {
    const result = await load();
    const problems = result.ok ? [...changeProblems(inForce, result.rules)] : result.problems;
    for (const problem of problems.filter((text) => !reported.includes(text))) report(problem);
    const wasRejected = reported.length > 0;
    reported = problems;
    if (!result.ok || problems.length > 0) {
      reloaded(problems);
      continue;
    }
    const isChanged = !isDeepStrictEqual(result.rules, inForce);
    if (isChanged) {
      inForce = result.rules;
      apply(inForce);
    }
    if (isChanged || wasRejected) reloaded([]);
  }
}

/** Changes that a listening server cannot apply, and those that a truncated file would make: access must not become weaker by them. */
function* changeProblems({ tls: old, users: oldUsers }: AccessRules, { tls, users }: AccessRules): Iterable<string> {
  if (!old !== !tls) yield 'TLS was switched on or off, which requires a restart';
  else if (old?.client.requested !== tls?.client.requested)
    yield 'client certificates were switched on or off, which requires a restart';
  else {
    if (old?.context.ca && !tls?.context.ca)
      yield 'tls_server_config.client_ca_file: expected a client CA; removing it requires a restart';
    if (old?.client.allowedSans && !tls?.client.allowedSans)
      yield 'tls_server_config.client_allowed_sans: expected a list; removing it requires a restart';
  }
  if (oldUsers.size > 0 && users.size === 0)
    yield 'basic_auth_users: expected at least one user; removing every user requires a restart';
}
