import { jsonText } from '../text/records.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;

type LogLevel = (typeof LOG_LEVELS)[number];

export type LogFormat = 'logfmt' | 'json';

/** Texts, numbers and booleans, and an error of any type; undefined fields are omitted. */
export type LogFields = Readonly<Record<string, unknown>>;

export type Logger = Readonly<Record<LogLevel, (message: string, fields?: LogFields) => void>>;

interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Receives one line, including its line feed. */
  readonly write: (line: string) => void;
  readonly now?: () => number;
}

/** A logger that writes exactly one line per call and never throws, whatever the texts and errors are. */
export function createLogger({ level: least, format, write, now = Date.now }: LoggerOptions): Logger {
  const log =
    (level: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return;
      const entries = Object.entries({ ts: new Date(now()).toISOString(), level, msg: message, ...fields })
        .filter(([, value]) => value !== undefined)
        .map(([key, value]) => [key, scalarOf(value, least === 'debug')] as const);
      write(`${ENCODERS[format](entries)}\n`);
    };
  return { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
}

type Scalar = string | number | boolean;

const ENCODERS: Readonly<Record<LogFormat, (entries: readonly (readonly [string, Scalar])[]) => string>> = {
  logfmt: (entries) => entries.map(([key, value]) => `${key}=${logfmtValue(String(value))}`).join(' '),
  json: (entries) => jsonText(Object.fromEntries(entries)),
};

function logfmtValue(text: string): string {
  const inQuotes = jsonText(text);
  return /^[^\s=\ufffd]+$/.test(text) && inQuotes === `"${text}"` ? text : inQuotes;
}

const MAX_LOGGED_LENGTH = 2000;

function scalarOf(value: unknown, withStack: boolean): Scalar {
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  const text = typeof value === 'string' ? value : loggedError(value, withStack);
  return (text.length > MAX_LOGGED_LENGTH ? `${text.slice(0, MAX_LOGGED_LENGTH)}...` : text).toWellFormed();
}

/** Any value can be thrown, also an error whose message throws, or that is its own cause. */
function loggedError(error: unknown, withStack: boolean): string {
  try {
    return messagesOf(error) + (withStack && error instanceof Error ? `\n${error.stack}` : '');
  } catch {
    return '<unprintable>';
  }
}

/** The messages of an error and its causes. */
function messagesOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // The AggregateError of a failed connection to several addresses has no message, only a code.
  const text = error.message || ('code' in error && `${error.code}`) || error.name;
  return error.cause === undefined ? text : `${text}: ${messagesOf(error.cause)}`;
}
