import { createHmac, randomBytes } from 'node:crypto';

type Verdict = 'right' | 'wrong' | 'busy';

type Verify = (password: Uint8Array, hash: string) => Promise<boolean>;

/** More than anyone has of users who scrape. */
const MOST_REMEMBERED = 1000;

/** With the usual cost of a hash, a second or two of waiting. */
const MOST_WAITING = 16;
const MOST_WAITING_PER_CLIENT = 4;

/**
 * Checks passwords off the event loop, one at a time. A right one is remembered, not as itself but under a hash whose key only
 * this process knows, so that its next request costs nothing and no flood of wrong ones can delay it.
 */
export class PasswordCheck {
  readonly #verify: Verify;
  readonly #key = randomBytes(32);
  readonly #queue = new BoundedQueue(MOST_WAITING, MOST_WAITING_PER_CLIENT);
  /** Right passwords and those being checked, the oldest first. */
  readonly #known = new Map<string, Promise<boolean>>();

  constructor(verify: Verify = verifyBcrypt) {
    this.#verify = verify;
  }

  /** `client` is where the request came from. */
  async check(users: ReadonlyMap<string, string>, { user, password }: Credentials, client: string): Promise<Verdict> {
    const hash = users.get(user) ?? this.#standIn(users, user);
    const id = this.#digest(`${hash}${user}:`, password).toString('base64');
    const checking = this.#known.get(id) ?? this.#queue.take(client, () => this.#verify(password, hash));
    if (checking === undefined) return 'busy';
    this.#remember(id, checking);
    let right = false;
    try {
      right = (await checking) && users.has(user);
    } finally {
      if (!right) this.#known.delete(id);
    }
    return right ? 'right' : 'wrong';
  }

  /** Some user's hash, always the same for the same name: the time it takes says nothing about which users there are. */
  #standIn(users: ReadonlyMap<string, string>, user: string): string {
    const hashes = [...users.values()];
    return hashes[this.#digest(user).readUInt32BE() % hashes.length] ?? '';
  }

  #digest(...parts: readonly (string | Uint8Array)[]): Buffer {
    const hmac = createHmac('sha256', this.#key);
    for (const part of parts) hmac.update(part);
    return hmac.digest();
  }

  #remember(id: string, checking: Promise<boolean>): void {
    this.#known.set(id, checking);
    if (this.#known.size <= MOST_REMEMBERED) return;
    const [oldest = ''] = this.#known.keys();
    this.#known.delete(oldest);
  }
}

/** The library is native: it is loaded for those who use passwords, so that the others need no build of it for their platform. */
const verifyBcrypt: Verify = async (password, hash) => {
  const { verify } = await import('@node-rs/bcrypt');
  return verify(password, hash);
};

/** Runs jobs one after another and holds only so many: a flood is turned away at the door, and one client cannot fill the buffer. */
export class BoundedQueue {
  readonly #most: number;
  readonly #mostPerClient: number;
  readonly #held = new Map<string, number>();
  #total = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(most: number, mostPerClient: number) {
    this.#most = most;
    this.#mostPerClient = mostPerClient;
  }

  /** undefined when there is no place for the job. */
  take<T>(client: string, job: () => Promise<T>): Promise<T> | undefined {
    const held = this.#held.get(client) ?? 0;
    if (this.#total >= this.#most || held >= this.#mostPerClient) return undefined;
    this.#count(client, 1);
    const result = this.#last.then(job).finally(() => this.#count(client, -1));
    this.#last = result.catch(() => undefined);
    return result;
  }

  #count(client: string, change: 1 | -1): void {
    this.#total += change;
    const held = (this.#held.get(client) ?? 0) + change;
    if (held === 0) this.#held.delete(client);
    else this.#held.set(client, held);
  }
}

/** What a client says of itself; the password stays the bytes it was sent as, in whichever encoding. */
export interface Credentials {
  readonly user: string;
  readonly password: Uint8Array;
}

/** undefined when the header is missing or no basic authentication. */
export function basicCredentials(header: string | undefined): Credentials | undefined {
  const [, encoded] = /^Basic +((?:[A-Z\d+/]{4})*(?:[A-Z\d+/]{2}==|[A-Z\d+/]{3}=)?)$/i.exec(header ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  const colon = bytes.indexOf(':');
  return colon === -1 ? undefined : { user: bytes.toString('utf8', 0, colon), password: bytes.subarray(colon + 1) };
}
