/** Tasks that take less time together share an event-loop iteration: an iteration of its own costs as much as reading a short page. */
const SHARED_TASKS_MS = 1;

/** Runs tasks in order, one per event-loop iteration unless they are short, so that I/O between them waits for little more than one task. */
export class TaskQueue {
  readonly #nowMs: () => number;
  readonly #waiting: (() => void)[] = [];
  #isScheduled = false;
  #latestWork: Promise<unknown> = Promise.resolve();

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  run<T>(task: () => T): Promise<T> {
    const done = new Promise<T>((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(task());
        } catch (error) {
          reject(error);
        }
      });
    });
    this.#schedule();
    return done;
  }

  /**
   * Starts work that takes several tasks when the work before it has ended. Ten pages that were parsed alternately, a slice of each, kept what
   * was parsed of them ten times as long: that took a tenth more CPU time and a seventh more memory.
   */
  runSerially<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#latestWork.then(work);
    this.#latestWork = done.catch(() => undefined);
    return done;
  }

  /** Handles parts one after another, as many in one iteration as have about ROWS_PER_TASK rows together, unless they take long. */
  async forEach<Part extends readonly unknown[]>(
    parts: readonly Part[],
    handle: (part: Part, index: number) => void,
  ): Promise<void> {
    for (let next = 0; next < parts.length; ) {
      next = await this.run(() => {
        const endMs = this.#nowMs() + LONG_MS;
        let at = next;
        for (let rows = 0; rows < ROWS_PER_TASK && at < parts.length && this.#nowMs() < endMs; at += 1) {
          const part = parts[at] as Part;
          handle(part, at);
          rows += part.length;
        }
        return at;
      });
    }
  }

  /** Runs a computation that yields where it may be interrupted: as much of it in one iteration as takes LONG_MS. */
  async runSteps<T>(steps: Iterator<void, T>): Promise<T> {
    const runSome = () => {
      const endMs = this.#nowMs() + LONG_MS;
      let step = steps.next();
      while (!step.done && this.#nowMs() < endMs) step = steps.next();
      return step;
    };
    let step = await this.run(runSome);
    while (!step.done) step = await this.run(runSome);
    return step.value;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return;
    this.#isScheduled = true;
    setImmediate(() => {
      const endMs = this.#nowMs() + SHARED_TASKS_MS;
      do this.#waiting.shift()?.();
      while (this.#waiting.length > 0 && this.#nowMs() < endMs);
      this.#isScheduled = false;
      this.#schedule();
    });
  }
}

const ROWS_PER_TASK = 1000;

const LONG_MS = 5;
