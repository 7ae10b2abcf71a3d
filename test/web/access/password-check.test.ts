import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { basicCredentials, FairQueue, PasswordCheck } from '../../../src/web/access/password-check.ts';
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
    const check = (hash: string, password: string) =>
      passwords.check(new Map([['alice', hash]]), credentials('alice', password), '::1');
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
    for (const _time of [1, 2])
      expect(await passwords.check(users, credentials('mallory', 'a'), '::1')).toBe('invalid');
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
    const single = Array.from({ length: 10 }, (_, index) =>
      passwords.check(users, credentials('alice', `guess ${index}`), 'host 0'),
    );
    expect((await Promise.all(single)).filter((result) => result === 'invalid')).toHaveLength(4);
  });

  it('verifies a first login next, while many other clients fail', async () => {
    const verified: string[] = [];
    const passwords = new PasswordCheck(async (password) => {
      verified.push(String(password));
      await new Promise((resolve) => setImmediate(resolve));
      return String(password) === 'right';
    });
    const check = (password: string, client: string) => passwords.check(USERS, credentials('alice', password), client);
    for (let client = 0; client < 100; client += 1) await check('wrong', `host ${client}`);
    const flood = Array.from({ length: 300 }, (_, index) => check(`wrong ${index}`, `host ${index % 100}`));
    const before = verified.length;
    expect(await check('right', 'host of alice')).toBe('valid');
    expect(verified[before]).toBe('right');
    expect(new Set(await Promise.all(flood))).toEqual(new Set(['invalid', 'busy']));
  });

  it('forgets the failures of a client when its password is valid', async () => {
    const { promise: released, resolve: release } = deferred();
    const verified: string[] = [];
    const passwords = new PasswordCheck(async (password) => {
      verified.push(String(password));
      if (String(password) === 'held') await released;
      return String(password).startsWith('right');
    });
    const check = (password: string, client: string) => passwords.check(USERS, credentials('alice', password), client);
    await check('wrong', 'host 1');
    await check('right', 'host 1');
    await check('wrong', 'host 2');
    const rest = [check('held', 'host 3'), check('right of host 2', 'host 2'), check('right of host 1', 'host 1')];
    release();
    expect(await Promise.all(rest)).toEqual(['invalid', 'valid', 'valid']);
    expect(verified.slice(-2)).toEqual(['right of host 1', 'right of host 2']);
  });

  it('caches a limited number of passwords, the latest ones', async () => {
    const { passwords, verified } = counted();
    const check = (name: string) =>
      passwords.check(new Map([[name, `hash of ${name}`]]), credentials(name, name), '::1');
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

/** Adds a held job first, so that the others wait. */
async function queueOrder(queue: FairQueue, jobs: readonly (readonly [client: string, penalty: number])[]) {
  const order: string[] = [];
  const held = heldJob();
  const first = queue.add('first', 0, held.job);
  const added = jobs.map(([client, penalty], index) => {
    return queue.add(client, penalty, async () => {
      order.push(`${client}${index}`);
      return client;
    });
  });
  held.end();
  await first;
  const results = await Promise.all(added);
  return { order, results };
}

describe('FairQueue', () => {
  it('runs one job at a time', async () => {
    const queue = new FairQueue(10, 10);
    const [first, second] = [heldJob(), heldJob()];
    const results = [queue.add('a', 0, first.job), queue.add('b', 0, second.job)];
    expect([first.started(), second.started()]).toEqual([true, false]);
    first.end();
    await results[0];
    await Promise.resolve();
    expect(second.started()).toBe(true);
    second.end();
    await results[1];
  });

  it('runs first the jobs of clients with the lowest penalty and the fewest jobs', async () => {
    const jobs = [
      ['a', 1],
      ['b', 0],
      ['b', 0],
      ['b', 0],
      ['c', 0],
      ['a', 1],
    ] as const;
    const { order } = await queueOrder(new FairQueue(10, 10), jobs);
    expect(order).toEqual(['b1', 'c4', 'a0', 'b2', 'b3', 'a5']);
  });

  it('displaces the latest job with the highest rank when it is full', async () => {
    const { order, results } = await queueOrder(new FairQueue(4, 3), [
      ['a', 5],
      ['a', 5],
      ['b', 6],
      ['c', 0],
      ['d', 0],
    ]);
    expect(results).toEqual(['a', undefined, undefined, 'c', 'd']);
    expect(order).toEqual(['c3', 'd4', 'a0']);
  });

  it('rejects jobs above its limits, in total and per client, until one is done', async () => {
    const queue = new FairQueue(3, 2);
    const held = heldJob();
    const first = queue.add('a', 0, held.job);
    const rest = [
      queue.add('a', 0, async () => 1),
      queue.add('a', 0, async () => 2),
      queue.add('b', 1, async () => 3),
      queue.add('c', 1, async () => 4),
    ];
    expect(rest.map((results) => results !== undefined)).toEqual([true, false, true, false]);
    held.end();
    await first;
    expect(await Promise.all(rest)).toEqual([1, undefined, 3, undefined]);
    expect(await queue.add('a', 0, async () => 5)).toBe(5);
  });

  it('continues after a job that rejects', async () => {
    const queue = new FairQueue(1, 1);
    await expect(queue.add('a', 0, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await queue.add('a', 0, async () => 'yes')).toBe('yes');
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
