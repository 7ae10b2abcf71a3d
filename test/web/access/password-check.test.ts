import { describe, expect, it } from 'vitest';
import { basicCredentials, PasswordCheck } from '../../../src/web/access/password-check.ts';
import { LATIN1, OTHER, RIGHT } from '../hashes.ts';
import { heldCalls } from '../held-calls.ts';

const USERS = new Map([
  ['alice', RIGHT],
  ['bob', OTHER],
]);

function credentials(user: string, password: string | Uint8Array) {
  return { user, password: Buffer.from(password) };
}

/** Records the verified hashes; the hash of a password is the text `hash of PASSWORD`. */
function counted() {
  const verified: string[] = [];
  const passwords = new PasswordCheck(async (password, hash) => {
    verified.push(hash);
    return hash === `hash of ${Buffer.from(password)}`;
  });
  return { passwords, verified };
}

describe('PasswordCheck', () => {
  it('accepts only the password that matches the hash of the user', async () => {
    const passwords = new PasswordCheck();
    const check = (user: string, password: string) => passwords.check(USERS, credentials(user, password));
    expect([await check('alice', 'right'), await check('bob', 'other')]).toEqual(['valid', 'valid']);
    for (const [user = '', password = ''] of [
      ['alice', 'other'],
      ['alice', ''],
      ['alice', 'right\0'],
      ['alice', RIGHT],
      ['alice', 'right'.repeat(1500)],
      ['Alice', 'right'],
      ['', 'right'],
      ['mallory', 'right'],
      ['__proto__', 'right'],
    ])
      expect(await check(user, password), user).toBe('invalid');
  });

  it('compares passwords as bytes', async () => {
    const latin1 = Buffer.from('gr\u00fc\u00df', 'latin1');
    const users = new Map([['alice', LATIN1]]);
    const passwords = new PasswordCheck();
    expect(await passwords.check(users, credentials('alice', latin1))).toBe('valid');
    expect(await passwords.check(users, credentials('alice', 'gr\u00fc\u00df'))).toBe('invalid');
  });

  it('verifies a valid password once', async () => {
    const { passwords, verified } = counted();
    const users = new Map([['alice', 'hash of a']]);
    const check = () => passwords.check(users, credentials('alice', 'a'));
    expect(await Promise.all(Array.from({ length: 50 }, check))).toEqual(Array(50).fill('valid'));
    expect(await check()).toBe('valid');
    expect(verified).toHaveLength(1);
  });

  it('verifies a hash for an unknown user as for a wrong password, and rejects also its password', async () => {
    const { passwords, verified } = counted();
    for (const user of ['alice', 'mallory', 'mallory'])
      expect(await passwords.check(USERS, credentials(user, 'x'))).toBe('invalid');
    expect(verified).toHaveLength(3);
    // The hash has the cost of the hashes that the exporter toolkit documents.
    expect(verified[1]).toMatch(/^\$2y\$10\$/);
    expect(await new PasswordCheck().check(USERS, credentials('mallory', 'fakepassword'))).toBe('invalid');
  });

  /** A check that verifies nothing before it is released, and the passwords in the order of their verification. */
  function held() {
    const { hold, release } = heldCalls();
    const verified: string[] = [];
    const passwords = new PasswordCheck(async (password) => {
      verified.push(String(password));
      await hold();
      return String(password) === 'right';
    });
    const check = (password: string) => passwords.check(USERS, credentials('alice', password));
    const guesses = (count: number, word: string) => Array.from({ length: count }, (_, at) => check(`${word} ${at}`));
    return { check, guesses, release, verified };
  }

  it('verifies one password at a time, a first login before the wrong ones that arrive after it', async () => {
    const { check, guesses, release, verified } = held();
    const early = guesses(50, 'early');
    const login = check('right');
    const late = guesses(40, 'late');
    await Promise.resolve();
    expect(verified).toEqual(['early 0']);
    release();
    expect(await login).toBe('valid');
    expect(new Set(await Promise.all([...early, ...late]))).toEqual(new Set(['invalid']));
    expect(verified.indexOf('right')).toBe(50);
  });

  it('is busy above 100 passwords, except for one that is verified already', async () => {
    const { check, guesses, release } = held();
    const first = [check('right'), ...guesses(99, 'wrong')];
    expect(await check('another')).toBe('busy');
    const again = check('right');
    release();
    expect(await again).toBe('valid');
    expect(await Promise.all(first)).toEqual(['valid', ...Array(99).fill('invalid')]);
    expect(await check('another')).toBe('invalid');
  });

  it('caches a limited number of passwords, the latest ones', async () => {
    const { passwords, verified } = counted();
    const check = (name: string) => passwords.check(new Map([[name, `hash of ${name}`]]), credentials(name, name));
    for (let index = 0; index <= 1000; index += 1) await check(`user ${index}`);
    await check('user 1000');
    expect(verified).toHaveLength(1001);
    await check('user 0');
    expect(verified).toHaveLength(1002);
  });

  it('verifies again after an error', async () => {
    let failing = true;
    const passwords = new PasswordCheck(async () => {
      if (failing) throw new Error('no thread');
      return true;
    });
    const check = () => passwords.check(USERS, credentials('alice', 'right'));
    await expect(check()).rejects.toThrow('no thread');
    failing = false;
    expect(await check()).toBe('valid');
  });
});

function header(credentials: string | Uint8Array): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

describe('basicCredentials', () => {
  it('reads the user, and the bytes after the first colon as the password', () => {
    const found = basicCredentials(header(Buffer.concat([Buffer.from('grüß:b:'), Buffer.of(0, 255)])));
    expect(found?.user).toBe('grüß');
    expect([...(found?.password ?? [])]).toEqual([...Buffer.from('b:'), 0, 255]);
  });

  it.each(['basic', 'BASIC', 'Basic  '])('accepts the scheme as %s', (scheme) => {
    expect(basicCredentials(header('a:b').replace('Basic', scheme))?.user).toBe('a');
  });

  it.each([
    undefined,
    'Basic',
    'Bearer YTpi',
    'Basic YTpi, Basic YTpi',
    'Basic YTp',
    'Basic YTp$',
    'Basic ====',
    'BasicYTpi',
    header('no colon'),
  ])('is undefined for a header of another form (%#)', (text) => {
    expect(basicCredentials(text)).toBeUndefined();
  });
});
