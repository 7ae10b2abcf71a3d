import { isIPv4, isIPv6 } from 'node:net';
import { DAY_MS } from '../model/clock.ts';
import { isSort, SORT_KEYS } from '../query/selection.ts';
import { parseDuration } from '../schema/units.ts';
import type { CommandName } from './commands.ts';

export interface Flag extends FlagRow<unknown> {
  readonly name: string;
}

/** A flag in a table, whose key is its name. */
export interface FlagRow<Value> {
  readonly short?: string;
  readonly type: FlagType<unknown>;
  /** As typed on the command line. */
  readonly default?: string;
  readonly isRepeatable?: true;
  readonly only: readonly CommandName[];
  readonly help: string;
  /** The value of the flag, from those that were parsed. */
  readonly value: (parsed: readonly unknown[]) => Value;
}

export interface FlagType<Value> {
  /** Shown in the help for the value; a boolean flag has none. */
  readonly placeholder?: string;
  readonly expected: string;
  readonly parse: (text: string) => Value | undefined;
}

function flagType<Value>(
  placeholder: string,
  expected: string,
  parse: (text: string) => Value | undefined,
): FlagType<Value> {
  return { placeholder, expected, parse };
}

function within(value: number | undefined, atLeast: number, atMost: number): number | undefined {
  return value !== undefined && value >= atLeast && value <= atMost ? value : undefined;
}

export const file = flagType('<file>', 'a file name', (text) => text || undefined);

export const textFlag = flagType('<text>', 'a string', (given) => given);

export const trueOrFalse: FlagType<boolean> = {
  expected: 'true or false',
  parse: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
};

export function integerFlag(atLeast: number, atMost?: number): FlagType<number> {
  return flagType(
    '<n>',
    atMost === undefined ? `an integer of at least ${atLeast}` : `an integer from ${atLeast} to ${atMost}`,
    (text) => within(/^\d+$/.test(text) ? Number(text) : undefined, atLeast, atMost ?? Number.MAX_SAFE_INTEGER),
  );
}

export const shardOrdinal = flagType('<n>', 'an integer of at least 0, or auto', (text) =>
  text === 'auto' ? text : integerFlag(0).parse(text),
);

/** Milliseconds, limited to a day to stay below the maximum delay of a timer. */
export function durationFlag(atLeastMs: number): FlagType<number> {
  return flagType('<duration>', `a duration such as 1m30s or 0.5s, from ${atLeastMs}ms to 1d`, (text) =>
    within(parseDuration(text), atLeastMs, DAY_MS),
  );
}

/** Milliseconds. */
export const ageFlag = flagType('<duration>', 'a duration such as 7d or 12h', parseDuration);

export function choice<const Words extends readonly string[]>(...words: Words): FlagType<Words[number]> {
  const expected = `one of ${words.join(', ')}`;
  return flagType('<choice>', expected, (text) => words.find((word) => word === text));
}

export const sortOrder: FlagType<string> = flagType(
  '<key>',
  `one of ${SORT_KEYS.join(', ')}, with a leading - for descending order`,
  (text) => (isSort(text) ? text : undefined),
);

export const labelValue = flagType('<name=value>', 'a label and its value, such as team=storage', (given) => {
  const [, label, value] = /^(\w+)=(.*)$/s.exec(given) ?? [];
  return label !== undefined && value !== undefined ? { label, value } : undefined;
});

export const share = flagType('<share>', 'a share from 0 to 1, such as 0.95', (text) =>
  within(/^(?:[01]|[01]?\.\d+)$/.test(text) ? Number(text) : undefined, 0, 1),
);

/** The faults that `simulate` injects; `lab/simulator/faults.ts` has what each does. */
export const FAULT_NAMES = [
  'rate_limited',
  'unauthorized',
  'forbidden',
  'not_found',
  'server_error',
  'unavailable',
  'slow',
  'hang',
  'reset',
  'truncated',
  'html',
  'not_json',
  'cut',
  'null_page',
  'text_numbers',
  'camel_case',
  'omitted_zeros',
  'wrong_total',
  'missing_ids',
  'unknown_state',
] as const;

export type FaultName = (typeof FAULT_NAMES)[number];

/** A fault of the simulated service, and the share of the requests that it affects. */
export interface FaultShare {
  readonly name: FaultName;
  readonly share: number;
}

export const faultShare: FlagType<FaultShare> = flagType(
  '<name[:share]>',
  `a name or name:share with a share from 0 to 1, such as slow:0.1; the names are ${FAULT_NAMES.join(', ')}`,
  (text) => {
    const [, given = '', affected = '1'] = /^(\w+)(?::(.*))?$/.exec(text) ?? [];
    const name = FAULT_NAMES.find((known) => known === given);
    const parsed = share.parse(affected);
    return name !== undefined && parsed !== undefined ? { name, share: parsed } : undefined;
  },
);

export const listenAddress = flagType(
  '<[host]:port>',
  '[host]:port with a port from 0 to 65535 and an IPv6 host in brackets',
  (text) => {
    const [, host, port] = /^(.*):(\d{1,5})$/.exec(text) ?? [];
    if (host === undefined || !isHost(host) || Number(port) > 65_535) return undefined;
    return { ...(host !== '' && { host: host.replace(/^\[|\]$/g, '') }), port: Number(port) };
  },
);

/** `serve` rejects the paths of the other endpoints. */
export const telemetryPath = flagType('<path>', 'a path such as /metrics, of letters, digits and ._~-', (text) => {
  const isPlain = /^(?:\/[\w.~-]+)+$/.test(text) && !/\/\.{1,2}(?:\/|$)/.test(text);
  return isPlain ? text : undefined;
});

export const externalUrl = flagType('<url>', 'an http or https URL without user, query and fragment', (text) => {
  if (!/^https?:\/\/[^?#]+$/i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  return url.username === '' && url.password === '' ? url : undefined;
});

function isHost(host: string): boolean {
  if (host.startsWith('[')) return host.endsWith(']') && isIPv6(host.slice(1, -1));
  if (/^[\d.]+$/.test(host)) return isIPv4(host);
  return /^[\w.-]*$/.test(host);
}
