import { createHmac, randomBytes } from 'node:crypto';

type PasswordResult = 'valid' | 'invalid' | 'busy';

type Verify = (password: Uint8Array, hash: string) => Promise<boolean>;

/** More than any installation has users. */
const MAX_CACHED = 1000;

/** One or two seconds of work at the usual bcrypt cost. */
const MAX_QUEUED = 16;
const MAX_QUEUED_PER_CLIENT = 4;

/** Clients whose failures are remembered, the latest ones. */
const MAX_FAILING_CLIENTS = 1000;

/** Above it clients are equal, so that one whose wrong password was corrected has its chance. */
const MAX_PENALTY = 10;

/**
 * Verifies passwords off the event loop, one at a time. Valid passwords are cached under a keyed hash, so that the next request
 * costs nothing and a flood of wrong passwords cannot delay it. A first login is verified before those of clients that failed.
 */
export class PasswordCheck {
  readonly #verify: Verify;
  readonly #key = randomBytes(32);
  readonly #queue = new FairQueue(MAX_QUEUED, MAX_QUEUED_PER_CLIENT);
  /** Valid passwords and those being verified, oldest first. */
  readonly #cache = new Map<string, Promise<boolean | undefined>>();
  /** Failed checks of each client since its last successful one, latest last. */
  readonly #failures = new Map<string, number>();

  constructor(verify: Verify = verifyBcrypt) {
    this.#verify = verify;
  }

  /** `client` is the address or network that the request came from. */
  async check(
    users: ReadonlyMap<string, string>,
    { user, password }: Credentials,
    client: string,
  ): Promise<PasswordResult> {
    const hash = users.get(user) ?? this.#decoyHash(users, user);
    const id = this.#digest(`${hash}${user}:`, password).toString('base64');
    const queue = () =>
      this.#queue.add(client, Math.min(this.#failures.get(client) ?? 0, MAX_PENALTY), () =>
        this.#verify(password, hash),
      );
    const verification = this.#cache.get(id) ?? queue();
    if (verification === undefined) return 'busy';
    store(this.#cache, id, verification, MAX_CACHED);
    let isValid = false;
    try {
      const isRight = await verification;
      if (isRight === undefined) return 'busy';
      isValid = isRight && users.has(user);
    } finally {
      if (!isValid) this.#cache.delete(id);
    }
    this.#remember(client, isValid);
    return isValid ? 'valid' : 'invalid';
  }

  #remember(client: string, isValid: boolean): void {
    const failures = this.#failures.get(client) ?? 0;
    this.#failures.delete(client);
    if (!isValid) store(this.#failures, client, failures + 1, MAX_FAILING_CLIENTS);
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

/** Adds an entry; above the limit the oldest one is removed. */
function store<Value>(map: Map<string, Value>, key: string, value: Value, max: number): void {
  map.set(key, value);
  if (map.size <= max) return;
  const [oldest = ''] = map.keys();
  map.delete(oldest);
}

/** The native library is loaded on first use, so that installations without passwords need no build for their platform. */
const verifyBcrypt: Verify = async (password, hash) => {
  const { verify } = await import('@node-rs/bcrypt');
  return verify(password, hash);
};

interface QueuedJob {
  readonly client: string;
  /** Jobs with a lower rank run first, and displace those with a higher one. */
  readonly rank: number;
  /** Resolves to the function that settles the promise of the caller. */
  readonly run: () => Promise<() => void>;
  readonly refuse: () => void;
}

/**
 * Runs jobs one after another; the number of jobs is limited in total and per client. The rank of a job is the penalty of its client
 * and the number of jobs that the client has already: a full queue of others does not keep a client out that has none of both.
 */
export class FairQueue {
  readonly #max: number;
  readonly #maxPerClient: number;
  readonly #waiting: QueuedJob[] = [];
  readonly #perClient = new Map<string, number>();
  #isRunning = false;

  constructor(max: number, maxPerClient: number) {
    this.#max = max;
    this.#maxPerClient = maxPerClient;
  }

  /** undefined when the queue is full; resolves to undefined when the job is displaced before it runs. */
  add<T>(client: string, penalty: number, job: () => Promise<T>): Promise<T | undefined> | undefined {
    const queued = this.#perClient.get(client) ?? 0;
    const rank = penalty + queued;
    if (queued >= this.#maxPerClient || !this.#fits(rank)) return undefined;
    this.#perClient.set(client, queued + 1);
    return new Promise((resolve, reject) => {
      const run = () =>
        job().then(
          (value) => () => resolve(value),
          (error) => () => reject(error),
        );
      this.#waiting.push({ client, rank, run, refuse: () => resolve(undefined) });
      void this.#runNext();
    });
  }

  /** Displaces the job with the highest rank, the latest of several, if that is necessary and higher. */
  #fits(rank: number): boolean {
    if (this.#waiting.length + Number(this.#isRunning) < this.#max) return true;
    const last = this.#waiting.reduce<QueuedJob | undefined>(
      (worst, job) => (worst && worst.rank > job.rank ? worst : job),
      undefined,
    );
    if (last === undefined || last.rank <= rank) return false;
    this.#waiting.splice(this.#waiting.indexOf(last), 1);
    this.#release(last);
    last.refuse();
    return true;
  }

  async #runNext(): Promise<void> {
    const next = this.#first();
    if (this.#isRunning || next === undefined) return;
    this.#isRunning = true;
    this.#waiting.splice(this.#waiting.indexOf(next), 1);
    const settle = await next.run();
    this.#isRunning = false;
    this.#release(next);
    void this.#runNext();
    settle();
  }

  /** The job with the lowest rank, the earliest of several. */
  #first(): QueuedJob | undefined {
    return this.#waiting.reduce<QueuedJob | undefined>(
      (best, job) => (best && best.rank <= job.rank ? best : job),
      undefined,
    );
  }

  #release({ client }: QueuedJob): void {
    const left = (this.#perClient.get(client) ?? 0) - 1;
    if (left > 0) this.#perClient.set(client, left);
    else this.#perClient.delete(client);
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
