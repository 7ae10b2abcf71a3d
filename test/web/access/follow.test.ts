import { describe, expect, it, onTestFinished } from 'vitest';
import { followRules, type RulesResult } from '../../../src/web/access/follow.ts';
import { type AccessRules, OPEN_ACCESS, type TlsRules } from '../../../src/web/access/rules.ts';
import { eventually } from '../eventually.ts';

const TLS: TlsRules = { context: { cert: 'a' }, client: { requested: false, required: false, verified: false } };

/** Follows a source that the test changes; `rounds` waits until it was looked at again. */
function follow(rules: AccessRules) {
  let result: RulesResult = { ok: true, rules };
  let looked = 0;
  const applied: AccessRules[] = [];
  const complaints: string[] = [];
  const ending = new AbortController();
  const over = followRules({
    rules,
    load: async () => {
      looked += 1;
      return result;
    },
    apply: (next) => applied.push(next),
    complain: (problem) => complaints.push(problem),
    signal: ending.signal,
    intervalMs: 1,
  });
  onTestFinished(() => ending.abort());
  const say = async (next: RulesResult) => {
    result = next;
    const after = looked + 3;
    await eventually(() => expect(looked).toBeGreaterThan(after));
  };
  return { say, applied, complaints, end: () => ending.abort(), over, looked: () => looked };
}

describe('followRules', () => {
  it('puts changed rules in force, once', async () => {
    const { say, applied, complaints } = follow(OPEN_ACCESS);
    await say({ ok: true, rules: { ...OPEN_ACCESS, users: new Map() } });
    expect(applied).toEqual([]);
    const rules = { ...OPEN_ACCESS, users: new Map([['alice', 'hash']]) };
    await say({ ok: true, rules });
    expect(applied).toEqual([rules]);
    expect(complaints).toEqual([]);
  });

  it('keeps the old rules while there are problems, and tells each of them once', async () => {
    const { say, applied, complaints } = follow(OPEN_ACCESS);
    await say({ ok: false, problems: ['a', 'b'] });
    await say({ ok: false, problems: ['b', 'c'] });
    await say({ ok: true, rules: OPEN_ACCESS });
    await say({ ok: false, problems: ['a'] });
    expect(applied).toEqual([]);
    expect(complaints).toEqual(['a', 'b', 'c', 'a']);
  });

  it.each([
    ['TLS is switched on', OPEN_ACCESS, { ...OPEN_ACCESS, tls: TLS }, 'TLS was switched on or off, which needs a restart'],
    ['TLS is switched off', { ...OPEN_ACCESS, tls: TLS }, OPEN_ACCESS, 'TLS was switched on or off, which needs a restart'],
    [
      'clients are asked for certificates',
      { ...OPEN_ACCESS, tls: TLS },
      { ...OPEN_ACCESS, tls: { ...TLS, client: { requested: true, required: true, verified: true } } },
      'client certificates were switched on or off, which needs a restart',
    ],
  ])('keeps the old rules when %s', async (_what, before, after, problem) => {
    const { say, applied, complaints } = follow(before);
    await say({ ok: true, rules: { ...after, users: new Map([['alice', 'hash']]) } });
    expect(applied).toEqual([]);
    expect(complaints).toEqual([problem]);
  });

  it('puts a changed certificate in force', async () => {
    const { say, applied } = follow({ ...OPEN_ACCESS, tls: TLS });
    const rules = { ...OPEN_ACCESS, tls: { ...TLS, context: { cert: 'b' } } };
    await say({ ok: true, rules });
    expect(applied).toEqual([rules]);
  });

  it('ends with the signal', async () => {
    const { end, over, looked } = follow(OPEN_ACCESS);
    end();
    await over;
    expect(looked()).toBe(0);
  });
});
