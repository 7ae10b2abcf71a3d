import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLogger, LOG_LEVELS, type LogFields, type LogFormat } from '../../src/journal/logger.ts';
import { codePoint } from '../code-point.ts';

const NOW = Date.UTC(2024, 1, 29, 12, 34, 56, 789);
const TS = '2024-02-29T12:34:56.789Z';

function lineOf(
  format: LogFormat,
  message: string,
  fields?: LogFields,
  level: (typeof LOG_LEVELS)[number] = 'info',
): string {
  const lines: string[] = [];
  createLogger({ level, format, write: (line) => lines.push(line), now: () => NOW }).error(message, fields);
  expect(lines).toHaveLength(1);
  return lines[0] ?? '';
}

const logfmt = (fields: LogFields, level?: (typeof LOG_LEVELS)[number]) =>
  lineOf('logfmt', 'm', fields, level).slice(`ts=${TS} level=error msg=m `.length, -1);

const anyText = fc.string({ unit: codePoint, maxLength: 300 });
const unusualText = fc.oneof(
  anyText,
  fc.string({ unit: fc.constantFrom(...'\n\r"\\= {}:,\u0000\u001b\u0085\u009b\u2028\u2029\u202e\ud800') }),
);
const fieldName = fc.stringMatching(/^[a-z][a-z0-9_.-]{0,20}$/);
const plainFields = fc.dictionary(fieldName, fc.oneof(unusualText, fc.boolean(), fc.double()));
const anyError = fc
  .tuple(fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true }), unusualText, fc.boolean())
  .map(([thrown, message, isCause]) => (isCause ? new Error(message, { cause: thrown }) : thrown));
const anyFormat = fc.constantFrom('logfmt' as const, 'json' as const);

/** Characters that end a line for some reader or move the cursor of a terminal. */
const CONTROL = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

describe('createLogger', () => {
  it('writes time, level and message, then the fields in order', () => {
    const fields = { station: 'prod', attempt: 2, ok: false, ratio: 0.5 };
    expect(lineOf('logfmt', 'refresh failed', fields)).toBe(
      `ts=${TS} level=error msg="refresh failed" station=prod attempt=2 ok=false ratio=0.5\n`,
    );
    expect(lineOf('json', 'refresh failed', fields)).toBe(
      `{"ts":"${TS}","level":"error","msg":"refresh failed","station":"prod","attempt":2,"ok":false,"ratio":0.5}\n`,
    );
  });

  it.each(LOG_LEVELS)('writes messages of level %s and above', (level) => {
    const lines: string[] = [];
    const logger = createLogger({ level, format: 'json', write: (line) => lines.push(line) });
    for (const each of LOG_LEVELS) logger[each](each);
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(LOG_LEVELS.slice(LOG_LEVELS.indexOf(level)));
  });

  it('writes exactly one line for any message, text and error', () => {
    fc.assert(
      fc.property(anyFormat, unusualText, plainFields, anyError, (format, message, fields, error) => {
        const line = lineOf(format, message, { ...fields, error });
        expect(line.endsWith('\n')).toBe(true);
        expect(line.slice(0, -1)).not.toMatch(CONTROL);
      }),
    );
  });

  const circular = new Error('round');
  circular.cause = circular;

  it.each<readonly [what: string, value: unknown, text: string]>([
    ['quotes around what is no bare word', 'a=b "c"\\\n', String.raw`"a=b \"c\"\\\n"`],
    ['an empty text', '', '""'],
    ['a lone surrogate', '\ud800', '"\ufffd"'],
    ['a long text', 'v'.repeat(5000), `${'v'.repeat(2000)}...`],
    ['a thrown symbol', Symbol('s'), 'Symbol(s)'],
    [
      'the messages of an error and its causes, without the stack',
      new Error('refresh failed', { cause: new Error('request failed', { cause: 'socket closed' }) }),
      '"refresh failed: request failed: socket closed"',
    ],
    [
      'the code of an error without a message',
      Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }),
      'ECONNREFUSED',
    ],
    ['the class of an error without a code', new TypeError(), 'TypeError'],
    ['a circular cause', circular, '<unprintable>'],
    [
      'a placeholder for an error that throws',
      Object.defineProperty(new Error(), 'message', {
        get: () => {
          throw new Error('m');
        },
      }),
      '<unprintable>',
    ],
  ])('writes %s in logfmt', (_, value, text) => {
    expect(logfmt({ k: value })).toBe(`k=${text}`);
  });

  it('omits undefined fields', () => {
    expect(logfmt({ a: undefined, b: 1 })).toBe('b=1');
  });

  it('writes the stack at level debug', () => {
    const error = new Error('broken', { cause: new Error('why') });
    error.stack = 'Error: broken\n    at here';
    expect(logfmt({ error }, 'debug')).toBe(String.raw`error="broken: why\nError: broken\n    at here"`);
  });
});
