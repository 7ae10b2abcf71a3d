import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BoundedQueue, basicCredentials, PasswordCheck } from '../../../src/web/access/password-check.ts';
import { LATIN1, OTHER, RIGHT, SLOWER } from '../hashes.ts';

const USERS = new Map([
  ['alice', RIGHT],
  ['bob', OTHER],
]);

function credentials(user: string, password: string | Uint8Array) {
  return { user, password: Buffer.from(password) };
}

/** Records the verified hashes; the hash of a password is the text `hash of PASSWORD`. */
function counted(wait: () => Promise<unknown> = async () => undefined) {
  const verified: string[] = [];
  const passwords = new PasswordCheck(async (password, hash) => {
    verified.push(hash);
    await wait();
    return hash === `hash of ${Buffer.from(password)}`;
  });
  return { passwords, verified };
}

describe('PasswordCheck', () => {
  it('accepts only the password that matches the hash of the user', async () => {
    const passwords = new PasswordCheck();
    const results = [
      await passwords.check(USERS, credentials('alice', 'right'), '::1'),
      await passwords.check(USERS, credentials('bob', 'other'), '::1'),
      await passwords.check(USERS, credentials('alice', 'other'), '::1'),
      await passwords.check(USERS, credentials('alice', ''), '::1'),
      await passwords.check(USERS, credentials('mallory', 'right'), '::1'),
      await passwords.check(USERS, credentials('mallory', 'other'), '::1'),
      await passwords.check(USERS, credentials('__proto__', 'right'), '::1'),
    ];
    expect(results).toEqual(['valid', 'valid', 'invalid', 'invalid', 'invalid', 'invalid', 'invalid']);
  });

  it('compares passwords as bytes', async () => {
    const latin1 = Buffer.from('gr\u00fc\u00df', 'latin1');
    const users = new Map([['alice', LATIN1]]);
    const passwords = new PasswordCheck();
    expect(await passwords.check(users, credentials('alice', latin1), '::1')).toBe('valid');
    expect(await passwords.check(users, credentials('alice', 'gr\u00fc\u00df'), '::1')).toBe('invalid');
  });

  it('verifies a valid password once', async () => {
    const { passwords, verified } = counted();
    const users = new Map([['alice', 'hash of a']]);
    const check = () => passwords.check(users, credentials('alice', 'a'), '::1');
    expect(await Promise.all(Array.from({ length: 50 }, check))).toEqual(Array(50).fill('valid'));
    expect(await check()).toBe('valid');
    expect(verified).toHaveLength(1);
  });

  it('verifies a cached password again when the hash of the user changes', async () => {
    const { passwords, verified } = counted();
    const check = (hash: string, password: string) => passwords.check(new Map([['alice', hash]]), credentials('alice', password), '::1');
    expect(await check('hash of a', 'a')).toBe('valid');
    expect(await check('hash of b', 'a')).toBe('invalid');
    expect(await check('hash of b', 'b')).toBe('valid');
    expect(verified).toHaveLength(3);
    expect(await passwords.check(new Map([['bob', 'hash of a']]), credentials('alice', 'a'), '::1')).toBe('invalid');
  });

  it('verifies a hash for an unknown user as for a wrong password, each time', async () => {
    const { passwords, verified } = counted();
    for (const user of ['alice', 'mallory', 'mallory', 'alice']) {
      expect(await passwords.check(USERS, credentials(user, 'x'), '::1')).toBe('invalid');
    }
    expect(verified).toHaveLength(4);
    expect([RIGHT, OTHER]).toContain(verified[1]);
    expect(verified[1]).toBe(verified[2]);
  });

  it('rejects an unknown user with the password of a known one', async () => {
    const { passwords } = counted();
    const users = new Map([['alice', 'hash of a']]);
    for (const _time of [1, 2]) expect(await passwords.check(users, credentials('mallory', 'a'), '::1')).toBe('invalid');
  });

  it('is busy above its limits, in total and per client, while cached passwords are accepted', async () => {
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
    expect(await passwords.check(users, credentials('alice', 'a'), 'host 0')).toBe('valid');
    release();
    const results = await Promise.all(flood);
    expect(results.filter((result) => result === 'invalid')).toHaveLength(16);
    expect(results.filter((result) => result === 'busy')).toHaveLength(84);
    const single = Array.from({ length: 10 }, (_, index) => passwords.check(users, credentials('alice', `guess ${index}`), 'host 0'));
    expect((await Promise.all(single)).filter((result) => result === 'invalid')).toHaveLength(4);
  });

  it('caches a limited number of passwords, the latest ones', async () => {
    const { passwords, verified } = counted();
    const check = (name: string) => passwords.check(new Map([[name, `hash of ${name}`]]), credentials(name, name), '::1');
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
    const check = () => passwords.check(USERS, credentials('alice', 'right'), '::1');
    await expect(check()).rejects.toThrow('no thread');
    failing = false;
    expect(await check()).toBe('valid');
  });

  it('does not block the event loop', async () => {
    const users = new Map([['alice', SLOWER]]);
    let iterations = 0;
    const count = () => {
      iterations += 1;
      counting = setImmediate(count);
    };
    let counting = setImmediate(count);
    await new PasswordCheck().check(users, credentials('alice', 'wrong'), '::1');
    clearImmediate(counting);
    expect(iterations).toBeGreaterThan(10);
  });
});

/** A job that runs until `end` is called. */
function heldJob() {
  const { promise, resolve } = deferred();
  let started = false;
  return {
    job: () => {
      started = true;
      return promise;
    },
    end: resolve,
    started: () => started,
  };
}

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

describe('BoundedQueue', () => {
  it('runs one job at a time, in order', async () => {
    const queue = new BoundedQueue(10, 10);
    const [first, second] = [heldJob(), heldJob()];
    const results = [queue.add('a', first.job), queue.add('b', second.job)];
    await Promise.resolve();
    expect([first.started(), second.started()]).toEqual([true, false]);
    first.end();
    await results[0];
    await Promise.resolve();
    expect(second.started()).toBe(true);
    second.end();
    await results[1];
  });

  it('rejects jobs above its limits, in total and per client, until one is done', async () => {
    const queue = new BoundedQueue(3, 2);
    const held = heldJob();
    const first = queue.add('a', held.job);
    const rest = [
      queue.add('a', async () => 1),
      queue.add('a', async () => 2),
      queue.add('b', async () => 3),
      queue.add('c', async () => 4),
    ];
    expect(rest.map((results) => results !== undefined)).toEqual([true, false, true, false]);
    held.end();
    await first;
    expect(await Promise.all(rest)).toEqual([1, undefined, 3, undefined]);
    expect(await queue.add('a', async () => 5)).toBe(5);
  });

  it('continues after a job that rejects', async () => {
    const queue = new BoundedQueue(1, 1);
    await expect(queue.add('a', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await queue.add('a', async () => 'yes')).toBe('yes');
  });
});

function header(credentials: string | Uint8Array): string {
  return `Basic ${Buffer.from(credentials).toString('base64')}`;
}

describe('basicCredentials', () => {
  it('reads any user and any password bytes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }).filter((user) => !user.includes(':')),
        fc.uint8Array(),
        (user, password) => {
          const found = basicCredentials(header(Buffer.concat([Buffer.from(`${user}:`), password])));
          expect(found?.user).toBe(user);
          expect(Buffer.compare(found?.password ?? Buffer.from('?'), password)).toBe(0);
        },
      ),
    );
  });

  it.each(['basic', 'BASIC', 'Basic  '])('accepts the scheme as %s', (scheme) => {
    expect(basicCredentials(header('a:b').replace('Basic', scheme))?.user).toBe('a');
  });

  it('splits at the first colon', () => {
    expect(String(basicCredentials(header('a:b:c'))?.password)).toBe('b:c');
  });

  it.each([
    undefined,
    '',
    'Basic',
    'Basic ',
    'Bearer YTpi',
    'Basic YTpi, Basic YTpi',
    'Basic YTp',
    'Basic Y',
    'Basic YTp$',
    'Basic YT\npi',
    'Basic =',
    'Basic ====',
    'BasicYTpi',
    header('no colon'),
    header(''),
  ])('is undefined for %s', (text) => {
    expect(basicCredentials(text)).toBeUndefined();
  });

  it('handles arbitrary text without throwing', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), (text) => {
        basicCredentials(text);
        basicCredentials(`Basic ${text}`);
      }),
    );
    expect(basicCredentials(`Basic ${'A'.repeat(100_001)}`)).toBeUndefined();
  });
});
