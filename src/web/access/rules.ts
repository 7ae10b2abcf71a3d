import type { SecureContextOptions } from 'node:tls';

/** The web configuration file in the form the server uses. */
export interface AccessRules {
  /** Without it connections are not encrypted. */
  readonly tls?: TlsRules;
  /** Set on every response; they override the exporter's own headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** bcrypt hashes by user name; empty: no authentication. */
  readonly users: ReadonlyMap<string, string>;
  readonly rate?: RateRules;
}

export interface TlsRules {
  /** File contents, not file names, so that equal options mean unchanged certificates. */
  readonly context: SecureContextOptions;
  readonly client: ClientRules;
}

export interface ClientRules {
  readonly requested: boolean;
  readonly required: boolean;
  /** A certificate that is presented must be issued by a trusted authority. */
  readonly verified: boolean;
  /** The certificate must have one of these subject alternative names. */
  readonly allowedSans?: readonly string[];
}

/** One request per interval, with bursts of up to `burst` requests. */
export interface RateRules {
  readonly intervalMs: number;
  readonly burst: number;
}

export const OPEN_ACCESS: AccessRules = { headers: {}, users: new Map() };
