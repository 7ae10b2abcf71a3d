import type { SecureContextOptions } from 'node:tls';

/** Who may ask and what every answer carries: the web configuration file as the server needs it. */
export interface AccessRules {
  /** Left out: connections are plain. */
  readonly tls?: TlsRules;
  /** Set on every answer, in place of the exporter's own of the same name. */
  readonly headers: Readonly<Record<string, string>>;
  /** bcrypt hashes by user name; none: nobody is asked for a password. */
  readonly users: ReadonlyMap<string, string>;
  readonly rate?: RateRules;
}

export interface TlsRules {
  /** The contents of files, never their names: equal options mean that nothing changed. */
  readonly context: SecureContextOptions;
  readonly client: ClientRules;
}

/** What is expected of a client's certificate. */
export interface ClientRules {
  readonly requested: boolean;
  readonly required: boolean;
  /** One that is given must come from a trusted authority. */
  readonly verified: boolean;
  /** One of these names must be in it. */
  readonly allowedSans?: readonly string[];
}

/** One request per interval, and this many at once after a pause. */
export interface RateRules {
  readonly intervalMs: number;
  readonly burst: number;
}

/** Everyone may ask, over plain connections. */
export const OPEN_ACCESS: AccessRules = { headers: {}, users: new Map() };
