import { createHmac, randomBytes } from 'node:crypto';

type PasswordResult = 'valid' | 'invalid' | 'busy';

type Verify = (password: Uint8Array, hash: string) => Promise<boolean>;

/** The password is kept as the bytes received, because the encoding is unknown. */
export interface Credentials {
  readonly user: string;
  readonly password: Uint8Array;
}

/** More than any installation has users. */
const MAX_REMEMBERED_LOGINS = 1000;

/** With the usual cost of 60 ms, the last one waits for less than the usual scrape timeout. */
const MAX_PENDING = 100;

/** Verified for unknown users, as by the exporter toolkit, so that the duration does not disclose which users exist. */
const UNKNOWN_USER_HASH = '$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi';

/**
 * Verifies passwords off the event loop, one after another and a limited number of them. Right ones are cached under a keyed hash: the
 * next request costs nothing, and a flood of wrong passwords cannot delay it. A check continues when its client gives up, so that the next
 * attempt of the client finds the password in the cache.
 */
export class PasswordCheck {
  readonly #verify: Verify;
  readonly #key = randomBytes(32);
  /** Keys of right passwords, oldest first. */
  readonly #right = new Set<string>();
  /** The running check and those that wait, by the key of their credentials. */
  readonly #pending = new Map<string, Promise<boolean>>();
  #latest: Promise<unknown> = Promise.resolve();

  constructor(verify: Verify = verifyBcrypt) {
    this.#verify = verify;
  }

  async check(users: ReadonlyMap<string, string>, { user, password }: Credentials): Promise<PasswordResult> {
    const isUser = users.has(user);
    const hash = users.get(user) ?? UNKNOWN_USER_HASH;
    const key = createHmac('sha256', this.#key).update(`${hash}${user}:`).update(password).digest('base64');
    if (this.#right.has(key)) return 'valid';
    if (!this.#pending.has(key) && this.#pending.size >= MAX_PENDING) return 'busy';
    const isRight = await (this.#pending.get(key) ?? this.#add(key, () => this.#verify(password, hash)));
    if (!isUser || !isRight) return 'invalid';
    this.#remember(key);
    return 'valid';
  }

  #add(key: string, verify: () => Promise<boolean>): Promise<boolean> {
    const result = this.#latest.then(verify).finally(() => this.#pending.delete(key));
    this.#pending.set(key, result);
    this.#latest = result.catch(() => undefined);
    return result;
  }

  /** Forgets the oldest one above the limit. */
  #remember(key: string): void {
    this.#right.add(key);
    const [oldest = ''] = this.#right;
    if (this.#right.size > MAX_REMEMBERED_LOGINS) this.#right.delete(oldest);
  }
}

/** The native library is loaded on first use, so that installations without passwords need no build for their platform. */
const verifyBcrypt: Verify = async (password, hash) => {
  const { verify } = await import('@node-rs/bcrypt');
  return verify(password, hash);
};

/** undefined when the header is missing or not valid basic authentication. */
export function basicCredentials(header = ''): Credentials | undefined {
  const [, encoded = ''] = /^Basic +(\S+)$/i.exec(header) ?? [];
  const bytes = Buffer.from(encoded, 'base64');
  const colon = bytes.indexOf(':');
  // Node skips what is not base64.
  if (colon === -1 || bytes.toString('base64') !== encoded) return undefined;
  return { user: bytes.toString('utf8', 0, colon), password: bytes.subarray(colon + 1) };
}
