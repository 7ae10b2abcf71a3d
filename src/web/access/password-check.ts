import { createHmac, randomBytes } from 'node:crypto';

type PasswordResult = 'valid' | 'invalid' | 'busy';

type Verify = (password: Uint8Array, hash: string) => Promise<boolean>;

/** The password is kept as the bytes received, because the encoding is unknown. */
export interface Credentials {
  readonly user: string;
  readonly password: Uint8Array;
}

/** Who waits for a check. */
interface Client {
  /** An address or a network. */
  readonly network: string;
  readonly request: { readonly destroyed: boolean };
}

interface Check {
  /** Identifies the credentials. */
  readonly key: string;
  readonly network: string;
  /** All that have these credentials. */
  readonly requests: Client['request'][];
  readonly verify: () => Promise<boolean>;
  /** undefined: refused, not verified. */
  readonly result: Promise<boolean | undefined>;
  readonly settle: (result: Promise<boolean> | undefined) => void;
}

/** More than any installation has users. */
const MAX_CACHED = 1000;

/** A waiting check costs its connection, which has limits of its own; refusing it sooner would only invite the next attempt. */
const MAX_WAITING = 1000;
const MAX_WAITING_PER_NETWORK = 4;

/** Networks that are known to have failed, the latest ones. */
const MAX_FAILED = 1000;

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
  /** Oldest first. */
  readonly #waiting: Check[] = [];
  #running: Check | undefined;

  constructor(verify: Verify = verifyBcrypt) {
    this.#verify = verify;
  }

  async check(
    users: ReadonlyMap<string, string>,
    { user, password }: Credentials,
    { network, request }: Client,
  ): Promise<PasswordResult> {
    const isUser = users.has(user);
    const hash = users.get(user) ?? this.#decoyHash(users, user);
    const key = this.#digest(`${hash}${user}:`, password).toString('base64');
    if (isUser && this.#right.has(key)) return 'valid';
    const pending = [this.#running, ...this.#waiting].find((check) => check?.key === key);
    const check = pending ?? this.#add(key, network, () => this.#verify(password, hash));
    check?.requests.push(request);
    if (!this.#running) void this.#run();
    const isRight = await check?.result;
    if (isRight === undefined) return 'busy';
    const isValid = isRight && isUser;
    this.#failed.delete(network);
    if (!isValid) addLimited(this.#failed, network, MAX_FAILED);
    return isValid ? 'valid' : 'invalid';
  }

  /** undefined when too many wait. */
  #add(key: string, network: string, verify: Check['verify']): Check | undefined {
    if (this.#waiting.filter((check) => check.network === network).length >= MAX_WAITING_PER_NETWORK) return undefined;
    if (this.#waiting.length >= MAX_WAITING && !this.#makeWay(network)) return undefined;
    let settle: Check['settle'] = () => undefined;
    const result = new Promise<boolean | undefined>((resolve) => {
      settle = resolve;
    });
    const check = { key, network, requests: [], verify, result, settle };
    this.#waiting.push(check);
    return check;
  }

  /** Refuses the latest check whose clients have all given up, or that comes from a network that has failed if this one has not. */
  #makeWay(network: string): boolean {
    const refused = this.#waiting.findLast(
      (check) =>
        check.requests.every(({ destroyed }) => destroyed) ||
        (this.#failed.has(check.network) && !this.#failed.has(network)),
    );
    if (refused) this.#waiting.splice(this.#waiting.indexOf(refused), 1);
    refused?.settle(undefined);
    return refused !== undefined;
  }

  async #run(): Promise<void> {
    for (let check = this.#next(); check; check = this.#next()) {
      this.#running = check;
      const result = check.verify();
      check.settle(result);
      if (await result.catch(() => false)) addLimited(this.#right, check.key, MAX_CACHED);
      this.#running = undefined;
    }
  }

  #next(): Check | undefined {
    const fresh = this.#waiting.findIndex(({ network }) => !this.#failed.has(network));
    return this.#waiting.splice(Math.max(fresh, 0), 1)[0];
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
}

/** Above the limit the oldest one is removed. */
function addLimited(set: Set<string>, value: string, limit: number): void {
  set.add(value);
  const [oldest = ''] = set;
  if (set.size > limit) set.delete(oldest);
}

/** The native library is loaded on first use, so that installations without passwords need no build for their platform. */
const verifyBcrypt: Verify = async (password, hash) => {
  const { verify } = await import('@node-rs/bcrypt');
  return verify(password, hash);
};

/** undefined when the header is missing or not valid basic authentication. */
export function basicCredentials(header: string | undefined): Credentials | undefined {
  const [, encoded] = /^Basic +((?:[A-Z\d+/]{4})*(?:[A-Z\d+/]{2}==|[A-Z\d+/]{3}=)?)$/i.exec(header ?? '') ?? [];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  const colon = bytes.indexOf(':');
  return colon === -1 ? undefined : { user: bytes.toString('utf8', 0, colon), password: bytes.subarray(colon + 1) };
}
