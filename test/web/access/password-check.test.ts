import { describe, expect, it } from 'vitest';
import { PasswordCheck } from '../../../src/web/access/password-check.ts';
import { LATIN1, OTHER, RIGHT, SLOWER } from '../hashes.ts';

const USERS = new Map([
  ['alice', RIGHT],
  ['bob', OTHER],
]);

function credentials(user: string, password: string | Uint8Array) {
  return { user, password: Buffer.from(password) };
}

/** Tells what was really compared, and compares by the text `hash of password`. */
function counted(wait: () => Promise<unknown> = async () => undefined) {
  const compared: string[] = [];
  const passwords = new PasswordCheck(async (password, hash) => {
    compared.push(hash);
    await wait();
    return hash === `hash of ${Buffer.from(password)}`;
  });
  return { passwords, compared };
}

describe('PasswordCheck', () => {
  it('tells right from wrong by the hash', async () => {
    const passwords = new PasswordCheck();
    const verdicts = [
      await passwords.check(USERS, credentials('alice', 'right'), '::1'),
      await passwords.check(USERS, credentials('bob', 'other'), '::1'),
      await passwords.check(USERS, credentials('alice', 'other'), '::1'),
      await passwords.check(USERS, credentials('alice', ''), '::1'),
      await passwords.check(USERS, credentials('mallory', 'right'), '::1'),
      await passwords.check(USERS, credentials('mallory', 'other'), '::1'),
      await passwords.check(USERS, credentials('__proto__', 'right'), '::1'),
    ];
    expect(verdicts).toEqual(['right', 'right', 'wrong', 'wrong', 'wrong', 'wrong', 'wrong']);
  });

  it('takes a password as bytes, in whichever encoding', async () => {
    const latin1 = Buffer.from('gr\u00fc\u00df', 'latin1');
    const users = new Map([['alice', LATIN1]]);
    const passwords = new PasswordCheck();
    expect(await passwords.check(users, credentials('alice', latin1), '::1')).toBe('right');
    expect(await passwords.check(users, credentials('alice', 'gr\u00fc\u00df'), '::1')).toBe('wrong');
  });

  it('compares a right password once, however often it is sent', async () => {
    const { passwords, compared } = counted();
    const users = new Map([['alice', 'hash of a']]);
    const check = () => passwords.check(users, credentials('alice', 'a'), '::1');
    expect(await Promise.all(Array.from({ length: 50 }, check))).toEqual(Array(50).fill('right'));
    expect(await check()).toBe('right');
    expect(compared).toHaveLength(1);
  });

  it('does not remember a password beyond the hash it was right for', async () => {
    const { passwords, compared } = counted();
    const check = (hash: string, password: string) => passwords.check(new Map([['alice', hash]]), credentials('alice', password), '::1');
    expect(await check('hash of a', 'a')).toBe('right');
    expect(await check('hash of b', 'a')).toBe('wrong');
    expect(await check('hash of b', 'b')).toBe('right');
    expect(compared).toHaveLength(3);
    expect(await passwords.check(new Map([['bob', 'hash of a']]), credentials('alice', 'a'), '::1')).toBe('wrong');
  });

  it('compares as much for an unknown user as for a wrong password, each time', async () => {
    const { passwords, compared } = counted();
    for (const user of ['alice', 'mallory', 'mallory', 'alice']) {
      expect(await passwords.check(USERS, credentials(user, 'x'), '::1')).toBe('wrong');
    }
    expect(compared).toHaveLength(4);
    expect([RIGHT, OTHER]).toContain(compared[1]);
    expect(compared[1]).toBe(compared[2]);
  });

  it('never lets an unknown user in with the password of a known one', async () => {
    const { passwords } = counted();
    const users = new Map([['alice', 'hash of a']]);
    for (const _time of [1, 2]) expect(await passwords.check(users, credentials('mallory', 'a'), '::1')).toBe('wrong');
  });

  it('is busy for a flood, from one client sooner than in all, while known passwords still pass', async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let flooded = false;
    const { passwords } = counted(async () => flooded && (await released));
    const users = new Map([['alice', 'hash of a']]);
    await passwords.check(users, credentials('alice', 'a'), '::1');
    flooded = true;
    const flood = Array.from({ length: 100 }, (_, index) =>
      passwords.check(users, credentials('alice', `guess ${index}`), `host ${index % 5}`),
    );
    expect(await passwords.check(users, credentials('alice', 'a'), 'host 0')).toBe('right');
    release();
    const verdicts = await Promise.all(flood);
    expect(verdicts.filter((verdict) => verdict === 'wrong')).toHaveLength(16);
    expect(verdicts.filter((verdict) => verdict === 'busy')).toHaveLength(84);
    const alone = Array.from({ length: 10 }, (_, index) => passwords.check(users, credentials('alice', `guess ${index}`), 'host 0'));
    expect((await Promise.all(alone)).filter((verdict) => verdict === 'wrong')).toHaveLength(4);
  });

  it('remembers only so many, the latest', async () => {
    const { passwords, compared } = counted();
    const check = (name: string) => passwords.check(new Map([[name, `hash of ${name}`]]), credentials(name, name), '::1');
    for (let index = 0; index <= 1000; index += 1) await check(`user ${index}`);
    await check('user 1000');
    expect(compared).toHaveLength(1001);
    await check('user 0');
    expect(compared).toHaveLength(1002);
  });

  it('tries again after a comparison that failed', async () => {
    let failing = true;
    const passwords = new PasswordCheck(async () => {
      if (failing) throw new Error('no thread');
      return true;
    });
    const check = () => passwords.check(USERS, credentials('alice', 'right'), '::1');
    await expect(check()).rejects.toThrow('no thread');
    failing = false;
    expect(await check()).toBe('right');
  });

  it('leaves the event loop free while it compares', async () => {
    const users = new Map([['alice', SLOWER]]);
    let queue = 0;
    const count = () => {
      queue += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    await new PasswordCheck().check(users, credentials('alice', 'wrong'), '::1');
    clearImmediate(counting);
    expect(queue).toBeGreaterThan(10);
  });
});
