/** Runs jobs one after another and holds only so many: a flood is turned away at the door, and one client cannot fill the room. */
export class Turns {
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
