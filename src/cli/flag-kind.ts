import { isIPv4, isIPv6 } from 'node:net';
import { parseDuration, parseSize } from '../config/units.ts';
import { type Order, parseOrder, SORT_KEYS } from '../inventory/selection.ts';
import { RESOURCE_COLUMNS } from '../model/resource.ts';
import { type Fault, NAMED_FAULTS } from '../simulator/faults.ts';
import type { CommandName } from './commands.ts';

/** The type, parser and documentation of one flag. */
export interface Flag {
  readonly name: string;
  readonly short?: string;
  readonly kind: FlagKind<unknown>;
  /** As typed on the command line; without a default the value may be undefined. */
  readonly default?: string;
  /** The given values replace the default. */
  readonly repeatable?: true;
  /** The commands that accept the flag (default: all). */
  readonly only?: readonly CommandName[];
  readonly help: string;
}

/** Parses the value of a flag. */
export interface FlagKind<Value> {
  /** Shown in the help for the value; a boolean flag has none. */
  readonly placeholder?: string;
  readonly expected: string;
  /** The words a shell completes. */
  readonly values?: readonly string[];
  /** A comma-separated list of the words. */
  readonly isList?: true;
  readonly parse: (text: string) => Value | undefined;
}

export const file: FlagKind<string> = {
  placeholder: '<file>',
  expected: 'a file name',
  parse: (text) => (text === '' ? undefined : text),
};

export const text: FlagKind<string> = { placeholder: '<text>', expected: 'a string', parse: (given) => given };

export const toggle: FlagKind<boolean> = {
  expected: 'true or false',
  parse: (text) => (text === 'true' || text === 'false' ? text === 'true' : undefined),
};

export function integer(atLeast: number, atMost?: number): FlagKind<number> {
  return {
    placeholder: '<n>',
    expected: atMost === undefined ? `an integer of at least ${atLeast}` : `an integer from ${atLeast} to ${atMost}`,
    parse(text) {
      const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
      return value >= atLeast && value <= (atMost ?? Number.MAX_SAFE_INTEGER) ? value : undefined;
    },
  };
}

export const shardOrdinal: FlagKind<number | 'auto'> = {
  placeholder: '<n>',
  expected: 'an integer of at least 0, or auto',
  parse: (text) => (text === 'auto' ? text : integer(0).parse(text)),
};

const DAY_MS = 86_400_000;

/** Milliseconds, limited to a day to stay below the maximum delay of a timer. */
export function duration(atLeastMs: number): FlagKind<number> {
  return {
    placeholder: '<duration>',
    expected: `a duration such as 1m30s or 0.5s, from ${atLeastMs}ms to 1d`,
    parse(text) {
      const value = parseDuration(text);
      return value !== undefined && value >= atLeastMs && value <= DAY_MS ? value : undefined;
    },
  };
}

/** In bytes. */
export const size: FlagKind<number> = {
  placeholder: '<size>',
  expected: 'a size such as 1MiB or 64KB',
  parse: parseSize,
};

export function choice<const Words extends readonly string[]>(...words: Words): FlagKind<Words[number]> {
  return {
    placeholder: '<choice>',
    expected: `one of ${words.join(', ')}`,
    values: words,
    parse: (text) => words.find((word) => word === text),
  };
}

/** The sort keys, under the names of their columns. */
export const SORT_COLUMNS = Object.keys(SORT_KEYS).map(columnName);

export const sortOrder: FlagKind<Order> = {
  placeholder: '<key>',
  expected: `one of ${SORT_COLUMNS.join(', ')}, with a leading - for descending order`,
  values: SORT_COLUMNS.flatMap((name) => [name, `-${name}`]),
  parse: parseOrder,
};

/** `id` and `type` are short for `resource_id` and `resource_type`. */
function columnName(name: string): string {
  return name.replace(/^(?:id|type)$/, 'resource_$&');
}

/** In the given order; `list` checks the names, which may be labels of resources. */
export const resourceColumns: FlagKind<readonly string[]> = {
  placeholder: '<name,...>',
  expected: 'different names, separated by commas',
  values: Object.keys(RESOURCE_COLUMNS),
  isList: true,
  parse(given) {
    const names = given.split(',').map(columnName);
    return names.includes('') || new Set(names).size < names.length ? undefined : names;
  },
};

export const labelValue: FlagKind<{ readonly label: string; readonly value: string }> = {
  placeholder: '<name=value>',
  expected: 'a label and its value, such as team=storage',
  parse(given) {
    const [, label, value] = /^(\w+)=(.*)$/s.exec(given) ?? [];
    return label !== undefined && value !== undefined ? { label, value } : undefined;
  },
};

export const share: FlagKind<number> = {
  placeholder: '<share>',
  expected: 'a share from 0 to 1, such as 0.95',
  parse(text) {
    const value = /^(?:[01]|[01]?\.\d+)$/.test(text) ? Number(text) : Number.NaN;
    return value <= 1 ? value : undefined;
  },
};

/** A named fault and the share of requests it affects. */
export const faultShare: FlagKind<Fault> = {
  placeholder: '<name[:share]>',
  expected: `a name or name:share with a share from 0 to 1, such as slow:0.1; the names are ${Object.keys(NAMED_FAULTS).join(', ')}`,
  values: Object.keys(NAMED_FAULTS),
  parse(text) {
    const [, name = '', given = '1'] = /^(\w+)(?::(.*))?$/.exec(text) ?? [];
    const affected = share.parse(given);
    return Object.hasOwn(NAMED_FAULTS, name) && affected !== undefined
      ? ({ kind: name, when: { share: affected } } as Fault)
      : undefined;
  },
};

/** Without a host, all interfaces. */
export const listenAddress: FlagKind<{ readonly host?: string; readonly port: number }> = {
  placeholder: '<[host]:port>',
  expected: '[host]:port with a port from 0 to 65535 and an IPv6 host in brackets',
  parse(text) {
    const [, host, port] = /^(.*):(\d{1,5})$/.exec(text) ?? [];
    if (host === undefined || !isHost(host) || Number(port) > 65_535) return undefined;
    return { ...(host !== '' && { host: host.replace(/^\[|\]$/g, '') }), port: Number(port) };
  },
};

/** Without ports. */
export const hostNames: FlagKind<readonly string[]> = {
  placeholder: '<host,...>',
  expected: 'host names such as a.example,b.example without ports',
  parse(text) {
    const names = text === '' ? [] : text.split(',');
    return names.every((name) => /^[\w-]+(?:\.[\w-]+)*$/.test(name)) ? names : undefined;
  },
};

/** Paths of the exporter's other endpoints; `...` matches any suffix. */
const RESERVED_PATHS = [
  '/',
  '/probe',
  '/sd',
  '/search',
  '/config',
  '/reference',
  '/favicon.ico',
  '/stations',
  '/stations/...',
  '/-/...',
] as const;

export const telemetryPath: FlagKind<string> = {
  placeholder: '<path>',
  expected: `a path such as /metrics, of letters, digits and ._~-, other than ${RESERVED_PATHS.join(', ')}`,
  parse(text) {
    const isPlain = /^(?:\/[\w.~-]+)+$/.test(text) && !/\/\.{1,2}(?:\/|$)/.test(text);
    const isReserved = RESERVED_PATHS.some((path) =>
      path.endsWith('...') ? text.startsWith(path.slice(0, -'...'.length)) : text === path,
    );
    return isPlain && !isReserved ? text : undefined;
  },
};

export const externalUrl: FlagKind<URL> = {
  placeholder: '<url>',
  expected: 'an http or https URL without user, query and fragment',
  parse(text) {
    if (!/^https?:\/\/[^?#]+$/i.test(text) || !URL.canParse(text)) return undefined;
    const url = new URL(text);
    return url.username === '' && url.password === '' ? url : undefined;
  },
};

function isHost(host: string): boolean {
  if (host.startsWith('[')) return host.endsWith(']') && isIPv6(host.slice(1, -1));
  if (/^[\d.]+$/.test(host)) return isIPv4(host);
  return /^[\w.-]*$/.test(host);
}
