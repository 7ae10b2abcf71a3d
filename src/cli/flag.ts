import type { CommandName } from './commands.ts';
import type { FlagKind } from './flag-kind.ts';

/** One flag: this row types its value, parses it and documents it. */
export interface Flag {
  readonly name: string;
  readonly short?: string;
  readonly kind: FlagKind<unknown>;
  /** As it would be typed; a flag without one may be undefined. */
  readonly default?: string;
  /** Given at all, it replaces the default. */
  readonly repeatable?: true;
  /** The commands it belongs to; a flag without any is for all. */
  readonly only?: readonly CommandName[];
  readonly help: string;
}
