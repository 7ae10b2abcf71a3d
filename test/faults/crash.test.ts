import { describe, expect, it } from 'vitest';
import { reportCrash } from '../../src/program.ts';

describe('reportCrash', () => {
  const reported = (argv: readonly string[], error: unknown) => {
    let text = '';
    reportCrash({ argv, printError: (line) => (text += line) }, error, 'uncaughtException');
    return text;
  };

  it('logs one line with the stack, in the configured format', () => {
    const error = new Error('broken', { cause: new Error('because') });
    const { ts, ...line } = JSON.parse(reported(['--log.format=json', '--log.level=error'], error));
    expect(line).toEqual({
      level: 'error',
      msg: 'unhandled exception, exiting',
      origin: 'uncaughtException',
      error: 'broken: because',
      stack: error.stack,
    });
    expect(reported([], error)).toMatch(
      /^ts=\S+ level=error msg="unhandled exception, exiting" origin=\S+ error="broken: because" stack=.*\n$/,
    );
  });

  it('logs a value that is not an Error, even with invalid flags', () => {
    expect(reported(['--no-such-flag'], 'only a text')).toMatch(/ error="only a text"\n$/);
  });
});
