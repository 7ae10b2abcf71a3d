import { inspect } from 'node:util';

/** Least severe first. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

type LogLevel = (typeof LOG_LEVELS)[number];

export type LogFormat = 'logfmt' | 'json';

/** Undefined fields are omitted. */
export type LogFields = Readonly<Record<string, unknown>>;

export type Logger = Readonly<Record<LogLevel, (message: string, fields?: LogFields) => void>>;

interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Receives one line, including its line feed. */
  readonly write: (line: string) => void;
  readonly now?: () => number;
}

/** A logger that writes exactly one line per call and never throws, whatever the fields are. */
export function createLogger({ level: least, format, write, now = Date.now }: LoggerOptions): Logger {
  const log =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return;
      const entries = new Map<string, Scalar>([
        ['ts', new Date(now()).toISOString()],
        ['level', level],
        ['msg', bounded(message)],
      ]);
      for (const name of Object.keys(fields)) {
        const value = printable(() => fields[name], least === 'debug');
        if (value !== undefined) entries.set(freeKey(name, entries), value);
      }
      write(`${ENCODERS[format](entries)}\n`);
    };
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
}

type Scalar = string | number | boolean;

const MAX_VALUE_LENGTH = 2000;
const MAX_KEY_LENGTH = 100;
const MAX_CAUSES = 8;

const ENCODERS: Readonly<Record<LogFormat, (entries: ReadonlyMap<string, Scalar>) => string>> = {
  logfmt: (entries) => Array.from(entries, ([key, value]) => `${key}=${logfmtValue(String(value))}`).join(' '),
  json: (entries) => escapedJson(Object.fromEntries(entries)),
};

function logfmtValue(text: string): string {
  const inQuotes = escapedJson(text);
  return /^[^\s=\ufffd]+$/.test(text) && inQuotes === `"${text}"` ? text : inQuotes;
}

/** JSON that also escapes every character that could break or reorder a line on a terminal. */
function escapedJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A key that is valid in both formats and unused, so that a field cannot overwrite ts, level or msg. */
function freeKey(name: string, taken: ReadonlyMap<string, unknown>): string {
  let key = name.slice(0, MAX_KEY_LENGTH).replace(/[^\w.-]/g, '_') || '_';
  while (taken.has(key)) key = `_${key}`;
  return key;
}

function printable(read: () => unknown, withStack: boolean): Scalar | undefined {
  try {
    const value = read();
    if (value === undefined || typeof value === 'boolean') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    return bounded(value instanceof Error && withStack ? `${textOf(value)}\n${value.stack}` : textOf(value));
  } catch {
    return '<unprintable>';
  }
}

/** An error is the messages of it and its causes, bounded because causes can be circular. */
function textOf(value: unknown, maxCauses = MAX_CAUSES): string {
  if (typeof value === 'string' || typeof value === 'bigint') return `${value}`;
  if (value instanceof Error) {
    // The AggregateError of a failed connection to several addresses has no message, only a code.
    const text = value.message || ('code' in value && `${value.code}`) || value.name;
    return value.cause === undefined || maxCauses === 1 ? text : `${text}: ${textOf(value.cause, maxCauses - 1)}`;
  }
  return inspect(value, {
    breakLength: Number.POSITIVE_INFINITY,
    compact: true,
    customInspect: false,
    maxStringLength: MAX_VALUE_LENGTH,
  });
}

function bounded(text: string): string {
  const cut = text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}...` : text;
  return cut.toWellFormed();
}
