import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { reportCrash } from '../../src/program.ts';
import { LazyPool } from '../../src/upstream/http/exchange.ts';
import { expectedState, stateOf } from '../e2e/station-metrics.ts';
import { configOf, entriesOf, startReadyExporter, startTestService } from '../e2e/test-bed.ts';

describe('an exception in a refresh', () => {
  it('fails only that station with reason internal, and logs the stack', async () => {
    const { dispatch } = LazyPool.prototype;
    const spy = vi.spyOn(LazyPool.prototype, 'dispatch').mockImplementation(function (
      this: LazyPool,
      options,
      handler,
    ) {
      if (options.path.includes('/telemetryStations/broken/')) throw new TypeError('a bug of ours');
      return Reflect.apply(dispatch, this, [options, handler]);
    });
    onTestFinished(() => spy.mockRestore());
    const service = await startTestService({ source: () => entriesOf(3) });
    const exporter = await startReadyExporter(configOf(service.url, ['broken', 'sound']));
    for (let scrapes = 0; scrapes < 2; scrapes += 1) {
      const families = await exporter.scrape();
      expect(stateOf(families, 'broken')).toEqual(expectedState('internal'));
      expect(stateOf(families, 'sound')).toEqual(expectedState(undefined));
    }
    expect(exporter.log.join('')).toMatch(
      /station=broken reason=internal error="a bug of ours" .*stack="TypeError: a bug of ours\\n {4}at /,
    );
    spy.mockRestore();
    expect(stateOf(await exporter.scrape(), 'broken')).toEqual(expectedState(undefined));
  });
});

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
