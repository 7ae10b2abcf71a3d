import { describe, expect, it, onTestFinished } from 'vitest';
import { type AccessRules, OPEN_ACCESS, type TlsRules } from '../../../src/web/access/rules.ts';
import { type RulesResult, watchRules } from '../../../src/web/access/watch-rules.ts';
import { eventually } from '../eventually.ts';

const TLS: TlsRules = { context: { cert: 'a' }, client: { requested: false, required: false, verified: false } };

/** Watches rules that the test changes; `change` waits until they are loaded again. */
function watch(rules: AccessRules) {
  let result: RulesResult = { ok: true, rules };
  let loads = 0;
  const applied: AccessRules[] = [];
  const reported: string[] = [];
  const results: (readonly string[])[] = [];
  const ending = new AbortController();
  void watchRules({
    rules,
    load: async () => {
      loads += 1;
      return result;
    },
    apply: (next) => applied.push(next),
    report: (problem) => reported.push(problem),
    reloaded: (problems) => {
      if (String(results.at(-1)) !== String(problems)) results.push(problems);
    },
    signal: ending.signal,
    intervalMs: 1,
  });
  onTestFinished(() => ending.abort());
  const change = async (next: RulesResult) => {
    result = next;
    const after = loads + 3;
    await eventually(() => expect(loads).toBeGreaterThan(after));
  };
  return { change, applied, reported, results };
}

describe('watchRules', () => {
  it('applies changed users and certificates once', async () => {
    const { change, applied, reported, results } = watch({ ...OPEN_ACCESS, tls: TLS });
    await change({ ok: true, rules: { ...OPEN_ACCESS, tls: { ...TLS } } });
    expect(applied).toEqual([]);
    const withUser = { ...OPEN_ACCESS, tls: TLS, users: new Map([['alice', 'hash']]) };
    const renewed = { ...withUser, tls: { ...TLS, context: { cert: 'b' } } };
    for (const rules of [withUser, renewed]) await change({ ok: true, rules });
    expect(applied).toEqual([withUser, renewed]);
    expect(reported).toEqual([]);
    expect(results).toEqual([[]]);
  });

  it('keeps the old rules while there are problems, and reports each of them once', async () => {
    const { change, applied, reported, results } = watch(OPEN_ACCESS);
    await change({ ok: false, problems: ['a', 'b'] });
    await change({ ok: false, problems: ['b', 'c'] });
    await change({ ok: true, rules: OPEN_ACCESS });
    await change({ ok: false, problems: ['a'] });
    expect(applied).toEqual([]);
    expect(reported).toEqual(['a', 'b', 'c', 'a']);
    expect(results).toEqual([['a', 'b'], ['b', 'c'], [], ['a']]);
  });

  const USERS = new Map([['alice', 'hash']]);

  it.each<[what: string, before: AccessRules, after: AccessRules, problem: string]>([
    [
      'TLS is switched off',
      { ...OPEN_ACCESS, tls: TLS },
      OPEN_ACCESS,
      'TLS was switched on or off, which requires a restart',
    ],
    [
      'client certificates are requested',
      { ...OPEN_ACCESS, tls: TLS },
      { ...OPEN_ACCESS, tls: { ...TLS, client: { requested: true, required: true, verified: true } } },
      'client certificates were switched on or off, which requires a restart',
    ],
    [
      'the client CA is removed',
      { ...OPEN_ACCESS, tls: { ...TLS, context: { cert: 'a', ca: 'c' } } },
      { ...OPEN_ACCESS, tls: TLS, users: USERS },
      'tls_server_config.client_ca_file: expected a client CA; removing it requires a restart',
    ],
    [
      'the allowed names of client certificates are removed',
      { ...OPEN_ACCESS, tls: { ...TLS, client: { ...TLS.client, allowedSans: ['a'] } } },
      { ...OPEN_ACCESS, tls: TLS },
      'tls_server_config.client_allowed_sans: expected a list; removing it requires a restart',
    ],
    [
      'all users are removed',
      { ...OPEN_ACCESS, users: USERS },
      OPEN_ACCESS,
      'basic_auth_users: expected at least one user; removing every user requires a restart',
    ],
  ])('keeps the old rules when %s', async (_what, before, after, problem) => {
    const { change, applied, reported } = watch(before);
    await change({ ok: true, rules: after });
    expect(applied).toEqual([]);
    expect(reported).toEqual([problem]);
  });
});
