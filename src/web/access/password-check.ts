import { createHmac, randomBytes } from 'node:crypto';

type PasswordResult = 'valid' | 'invalid' | 'busy';

type Verify = (password: Uint8Array, hash: string) => Promise<boolean>;

/** The password is kept as the bytes received, because the encoding is unknown. */
export interface Credentials {
  readonly user: string;
  readonly password: Uint8Array;
}

interface Check {
  /** The address or the network of the client. */
  readonly network: string;
  readonly start: () => void;
  readonly result: Promise<boolean>;
}

/** More than any installation has users. */
const MAX_REMEMBERED_LOGINS = 1000;

/** Refusing a check sooner would only invite the next attempt. */
const MAX_PENDING = 1000;
const MAX_PENDING_PER_NETWORK = 4;

/**
 * Verifies passwords off the event loop, one at a time. Right ones are cached under a keyed hash: the next request costs nothing, and a
 * flood of wrong passwords cannot delay it. A check waits only for those that arrived before it from networks that have not failed. It stays
 * in the queue when its client gives up, so that the next attempt of the client finds the password in the cache.
 */
export class PasswordCheck {
  readonly #verify: Verify;
  readonly #key = randomBytes(32);
  /** Keys of right passwords, oldest first. */
  readonly #right = new Set<string>();
  /** Networks whose latest check failed, oldest first. */
  readonly #failed = new Set<string>();
  /** The running check and those that wait, by the key of their credentials, oldest first. */
  readonly #pending = new Map<string, Check>();

  constructor(verify: Verify = verifyBcrypt) {
    this.#verify = verify;
  }

  async check(
    users: ReadonlyMap<string, string>,
    { user, password }: Credentials,
    network: string,
  ): Promise<PasswordResult> {
    const isUser = users.has(user);
    const hash = users.get(user) ?? this.#decoyHash(users, user);
    const key = this.#digest(`${hash}${user}:`, password).toString('base64');
    if (isUser && this.#right.has(key)) return 'valid';
    const pending = this.#pending.get(key) ?? this.#add(key, network, () => this.#verify(password, hash));
    if (pending === undefined) return 'busy';
    const isValid = (await pending.result) && isUser;
    this.#failed.delete(network);
    if (isValid) remember(this.#right, key);
    else remember(this.#failed, network);
    return isValid ? 'valid' : 'invalid';
  }

  /** undefined: too many checks wait. Networks that have failed do not use up the places of others. */
  #add(key: string, network: string, verify: () => Promise<boolean>): Check | undefined {
    const hasFailed = this.#failed.has(network);
    const others = [...this.#pending.values()].filter((check) => this.#failed.has(check.network) === hasFailed);
    const own = others.filter((check) => check.network === network);
    if (others.length >= MAX_PENDING || own.length >= MAX_PENDING_PER_NETWORK) return undefined;
    let start = () => {};
    const result = new Promise<boolean>((resolve) => {
      start = () => resolve(verify());
    });
    const check = { network, start, result };
    this.#pending.set(key, check);
    if (this.#pending.size === 1) void this.#run();
    return check;
  }

  async #run(): Promise<void> {
    for (let next = this.#next(); next; next = this.#next()) {
      const [key, { start, result }] = next;
      start();
      await result.catch(() => undefined);
      this.#pending.delete(key);
    }
  }

  #next(): [string, Check] | undefined {
    const pending = [...this.#pending];
    return pending.find(([, { network }]) => !this.#failed.has(network)) ?? pending[0];
  }

  /** The hash of some user, always the same for the same name, so that the duration does not disclose which users exist. */
  #decoyHash(users: ReadonlyMap<string, string>, user: string): string {
    const hashes = [...users.values()];
    return hashes[this.#digest(user).readUInt32BE() % hashes.length] ?? '';
  }

  #digest(text: string, bytes: Uint8Array = Buffer.of()): Buffer {
    return createHmac('sha256', this.#key).update(text).update(bytes).digest();
  }
}

/** Removes the oldest value above the limit. */
function remember(values: Set<string>, value: string): void {
  values.add(value);
  const [oldest = ''] = values;
  if (values.size > MAX_REMEMBERED_LOGINS) values.delete(oldest);
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
