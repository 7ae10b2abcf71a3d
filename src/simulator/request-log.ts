import { type Call, type Message, type Refusal, splitTarget } from './call.ts';

/** A request as the service saw it. */
export interface SeenRequest extends Message {
  readonly atMs: number;
  readonly path: string;
  readonly query: URLSearchParams;
  /** The telemetry station's name; undefined: the request asked for none. */
  readonly station: string | undefined;
  readonly offset: number | undefined;
  readonly size: number | undefined;
}

/** The latest requests in the order of arrival, and how many were ever in flight at once. */
export class RequestLog {
  readonly #limit: number;
  readonly #seen: SeenRequest[] = [];
  readonly #inFlight = new Map<string, number>();
  readonly #most = new Map<string, number>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get seen(): readonly SeenRequest[] {
    return this.#seen;
  }

  /** Of one station, or of all together. */
  maxInFlight(station = ALL): number {
    return this.#most.get(station) ?? 0;
  }

  /** Forgets requests and maxima, not what is in flight. */
  clear(): void {
    this.#seen.length = 0;
    this.#most.clear();
  }

  /** Takes the request down; the result is to be called when it is over, and calling it again changes nothing. */
  begin(message: Message, call: Call | Refusal, atMs: number): () => void {
    const request = seenRequest(message, call, atMs);
    this.#seen.push(request);
    if (this.#seen.length > this.#limit) this.#seen.shift();
    const meters = request.station === undefined ? [ALL] : [ALL, request.station];
    for (const meter of meters) this.#count(meter, 1);
    let over = false;
    return () => {
      if (over) return;
      over = true;
      for (const meter of meters) this.#count(meter, -1);
    };
  }

  #count(meter: string, change: 1 | -1): void {
    const inFlight = (this.#inFlight.get(meter) ?? 0) + change;
    this.#inFlight.set(meter, inFlight);
    this.#most.set(meter, Math.max(inFlight, this.maxInFlight(meter)));
  }
}

const ALL = '*';

function seenRequest(message: Message, call: Call | Refusal, atMs: number): SeenRequest {
  const understood = 'path' in call ? call : undefined;
  return {
    ...message,
    atMs,
    ...splitTarget(message.target),
    station: understood?.path.telemetryStation,
    offset: understood?.offset,
    size: understood?.size,
  };
}
