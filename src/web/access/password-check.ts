import { createHmac, randomBytes } from 'node:crypto';

type PasswordResult = 'valid' | 'invalid' | 'busy';

type Verify = (password: Uint8Array, hash: string) => Promise<boolean>;

/** More than any installation has users. */
const MAX_CACHED = 1000;

/** One or two seconds of work at the usual bcrypt cost. */
const MAX_QUEUED = 16;
const MAX_QUEUED_PER_CLIENT = 4;

/**
 * Verifies passwords off the event loop, one at a time. Valid passwords are cached under a keyed hash, so that the next request
 * costs nothing and a flood of wrong passwords cannot delay it.
 */
export class PasswordCheck {
  readonly #verify: Verify;
  readonly #key = randomBytes(32);
  readonly #queue = new BoundedQueue(MAX_QUEUED, MAX_QUEUED_PER_CLIENT);
  /** Valid passwords and those being verified, oldest first. */
  readonly #cache = new Map<string, Promise<boolean>>();

  constructor(verify: Verify = verifyBcrypt) {
    this.#verify = verify;
  }

  /** `client` is the address that the request came from. */
  async check(users: ReadonlyMap<string, string>, { user, password }: Credentials, client: string): Promise<PasswordResult> {
    const hash = users.get(user) ?? this.#decoyHash(users, user);
    const id = this.#digest(`${hash}${user}:`, password).toString('base64');
    const verification = this.#cache.get(id) ?? this.#queue.add(client, () => this.#verify(password, hash));
    if (verification === undefined) return 'busy';
    this.#store(id, verification);
    let isValid = false;
    try {
      isValid = (await verification) && users.has(user);
    } finally {
      if (!isValid) this.#cache.delete(id);
    }
    return isValid ? 'valid' : 'invalid';
  }

  /** The hash of some user, always the same for the same name, so that the duration does not disclose which users exist. */
  #decoyHash(users: ReadonlyMap<string, string>, user: string): string {
    const hashes = [...users.values()];
    return hashes[this.#digest(user).readUInt32BE() % hashes.length] ?? '';
  }

  #digest(...parts: readonly (string | Uint8Array)[]): Buffer {
    const hmac = createHmac('sha256', this.#key);
    for (const part of parts) hmac.update(part);
    return hmac.digest();
  }

  #store(id: string, verification: Promise<boolean>): void {
    this.#cache.set(id, verification);
    if (this.#cache.size <= MAX_CACHED) return;
    const [oldest = ''] = this.#cache.keys();
    this.#cache.delete(oldest);
  }
}

/** The native library is loaded on first use, so that installations without passwords need no build for their platform. */
const verifyBcrypt: Verify = async (password, hash) => {
  const { verify } = await import('@node-rs/bcrypt');
  return verify(password, hash);
};

/** Runs jobs one after another; the number of queued jobs is limited in total and per client. */
export class BoundedQueue {
  readonly #max: number;
  readonly #maxPerClient: number;
  readonly #queued = new Map<string, number>();
  #total = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(max: number, maxPerClient: number) {
    this.#max = max;
    this.#maxPerClient = maxPerClient;
  }

  /** undefined when the queue is full. */
  add<T>(client: string, job: () => Promise<T>): Promise<T> | undefined {
    const queued = this.#queued.get(client) ?? 0;
    if (this.#total >= this.#max || queued >= this.#maxPerClient) return undefined;
    this.#count(client, 1);
    const result = this.#last.then(job).finally(() => this.#count(client, -1));
    this.#last = result.catch(() => undefined);
    return result;
  }

  #count(client: string, change: 1 | -1): void {
    this.#total += change;
    const queued = (this.#queued.get(client) ?? 0) + change;
    if (queued === 0) this.#queued.delete(client);
    else this.#queued.set(client, queued);
  }
}

/** The password is kept as the bytes received, because the encoding is unknown. */
export interface Credentials {
  readonly user: string;
  readonly password: Uint8Array;
}

/** undefined when the header is missing or not valid basic authentication. */
export function basicCredentials(header: string | undefined): Credentials | undefined {
  const [, encoded] = /^Basic +((?:[A-Z\d+/]{4})*(?:[A-Z\d+/]{2}==|[A-Z\d+/]{3}=)?)$/i.exec(header ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  const colon = bytes.indexOf(':');
  return colon === -1 ? undefined : { user: bytes.toString('utf8', 0, colon), password: bytes.subarray(colon + 1) };
}
