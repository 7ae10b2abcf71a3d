import { describe, expect, it } from 'vitest';
import { basicCredentials, PasswordCheck } from '../../../src/web/access/password-check.ts';
import { LATIN1, OTHER, RIGHT } from '../hashes.ts';
import { heldCalls } from '../held-calls.ts';

const USERS = new Map([
  ['alice', RIGHT],
  ['bob', OTHER],
]);

const CLIENT = '::1';

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
    const check = (user: string, password: string) => passwords.check(USERS, credentials(user, password), CLIENT);
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
    expect(await passwords.check(users, credentials('alice', latin1), CLIENT)).toBe('valid');
    expect(await passwords.check(users, credentials('alice', 'gr\u00fc\u00df'), CLIENT)).toBe('invalid');
  });

  it('verifies a valid password once', async () => {
    const { passwords, verified } = counted();
    const users = new Map([['alice', 'hash of a']]);
    const check = () => passwords.check(users, credentials('alice', 'a'), CLIENT);
    expect(await Promise.all(Array.from({ length: 50 }, check))).toEqual(Array(50).fill('valid'));
    expect(await check()).toBe('valid');
    expect(verified).toHaveLength(1);
  });

  it('verifies a hash for an unknown user as for a wrong password, each time', async () => {
    const { passwords, verified } = counted();
    for (const user of ['alice', 'mallory', 'mallory', 'alice']) {
      expect(await passwords.check(USERS, credentials(user, 'x'), CLIENT)).toBe('invalid');
    }
    expect(verified).toHaveLength(4);
    expect([RIGHT, OTHER]).toContain(verified[1]);
    expect(verified[1]).toBe(verified[2]);
  });

  /** A check that verifies nothing before it is released, and the passwords in the order of their verification. */
  function held() {
    const { hold, release } = heldCalls();
    const verified: string[] = [];
    const passwords = new PasswordCheck(async (password) => {
      verified.push(String(password));
      await hold();
      return String(password).startsWith('right');
    });
    const check = (password: string, client = CLIENT) => passwords.check(USERS, credentials('alice', password), client);
    /** Different passwords, each from another network unless there are fewer. */
    const many = (count: number, word: string, networks = count) =>
      Array.from({ length: count }, (_, at) => check(`${word} ${at}`, `host ${at % networks}`));
    return { check, many, release, verified };
  }

  it('verifies a first login before the wrong passwords that arrive after it, from ever new addresses', async () => {
    const { check, release, verified } = held();
    const guesses = (word: string) => Array.from({ length: 100 }, (_, at) => check(`${word} ${at}`, `${word} ${at}`));
    const early = guesses('early');
    const login = check('right', 'login');
    const late = guesses('late');
    release();
    expect(await login).toBe('valid');
    expect(new Set(await Promise.all([...early, ...late]))).toEqual(new Set(['invalid']));
    expect(verified.indexOf('right')).toBe(100);
  });

  it('verifies the passwords of a network that has failed after all others, until one is right', async () => {
    const { check, release, verified } = held();
    release();
    await check('wrong', 'failed');
    await Promise.all([check('running'), check('right 1', 'failed'), check('wrong 2', 'other')]);
    await Promise.all([check('running'), check('right 3', 'failed'), check('right 4', 'other')]);
    expect(verified).toEqual(['wrong', 'running', 'wrong 2', 'right 1', 'running', 'right 3', 'right 4']);
  });

  it('is busy for a fifth password of a network, and for all above 1,000', async () => {
    const { check, many, release } = held();
    const running = check('running', 'first');
    const own = Array.from({ length: 5 }, (_, at) => check(`own ${at}`));
    const others = many(996, 'other');
    expect(await own[4]).toBe('busy');
    expect(await others[995]).toBe('busy');
    release();
    expect(new Set(await Promise.all([running, ...own.slice(0, 4), ...others.slice(0, 995)]))).toEqual(
      new Set(['invalid']),
    );
  });

  it('accepts a first login while 1,000 passwords of networks that have failed wait', async () => {
    const { check, many, release } = held();
    const early = many(251, 'wrong');
    release();
    await Promise.all(early);
    const flood = many(1001, 'again', 251);
    expect(await check('right', 'alice')).toBe('valid');
    const results = await Promise.all(flood);
    expect(results.filter((result) => result === 'busy')).toHaveLength(1);
  });

  it('caches a limited number of passwords, the latest ones', async () => {
    const { passwords, verified } = counted();
    const check = (name: string) =>
      passwords.check(new Map([[name, `hash of ${name}`]]), credentials(name, name), CLIENT);
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
    const check = () => passwords.check(USERS, credentials('alice', 'right'), CLIENT);
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
