import type { Filters } from './call.ts';
import type { Reply } from './reply.ts';

/** What is about to be listed. */
export interface Asked {
  readonly filters: Filters;
  readonly offset: number;
  readonly size: number;
}

/** The whole filtered list, and how long the service says it is. */
export interface Rows {
  readonly records: readonly unknown[];
  readonly total: number;
}

export interface Envelope {
  readonly resources: readonly unknown[] | null;
  readonly page?: Readonly<Record<string, unknown>> | null;
}

/** What a fault changes, stage by stage; every stage is pure. `asked` is what the client asked for. */
export interface Effect {
  readonly onAsked?: (asked: Asked) => Asked;
  readonly onRows?: (rows: Rows, asked: Asked) => Rows;
  readonly onEnvelope?: (envelope: Envelope, asked: Asked) => Envelope;
  readonly onReply?: (reply: Reply) => Reply;
}
